// shell-text: reads a shell script as code: without comments, documents within it and strings that
// nothing is expanded in; and finds its assignments and functions. Pure.

/** Whether a file is a shell script, by its name or its first line. */
export const isShellScript = (path: string, text: string): boolean =>
  /\.(?:sh|bash|ksh|zsh|dash)$/.test(path) || /^#!.*\b(?:ba|da|k|z|a)?sh\b/.test(text);

const blank = (text: string): string => text.replaceAll(/[^\n]/g, " ");

/** The script with blanks in place of comments, of `'…'`, and of documents (`<<END`). */
export function maskShell(text: string): string {
  const chunks: string[] = [];
  /** What the position is inside of: `"` or `(`, or "`". */
  const inside: string[] = [];
  let endings: string[] = [];
  let at = 0;
  const take = (length: number, isKept: boolean): void => {
    const part = text.slice(at, at + length);
    chunks.push(isKept ? part : blank(part));
    at += part.length;
  };

  while (at < text.length) {
    const letter = text[at] ?? "";
    const isQuoted = inside.at(-1) === '"';
    const ahead = text.slice(at, at + 80);
    const document = isQuoted ? null : /^<<-?[ \t]*\\?(["']?)([\w.]+)\1/.exec(ahead);
    if (letter === "\\") {
      take(2, true);
    } else if (letter === "\n" && endings.length > 0) {
      take(1, true);
      const [ending = ""] = endings;
      const end = new RegExp(String.raw`^\t*${ending.replaceAll(".", "[.]")}$`, "m").exec(
        text.slice(at),
      );
      take(end === null ? text.length : end.index + end[0].length, false);
      endings = endings.slice(1);
    } else if (letter === '"') {
      if (isQuoted) inside.pop();
      else inside.push('"');
      take(1, true);
    } else if (text.startsWith("$(", at)) {
      inside.push("(");
      take(2, true);
    } else if (letter === ")" && inside.at(-1) === "(") {
      inside.pop();
      take(1, true);
    } else if (letter === "(" && !isQuoted && inside.length > 0) {
      inside.push("(");
      take(1, true);
    } else if (letter === "'" && !isQuoted) {
      const end = text.indexOf("'", at + 1);
      take(1, true);
      if (end !== -1) {
        take(end - at, false);
        take(1, true);
      }
    } else if (letter === "#" && !isQuoted && /[\s;&|(]|^$/.test(text[at - 1] ?? "")) {
      take(/[^\n]*/.exec(text.slice(at))?.[0].length ?? 1, false);
    } else if (document !== null && text[at - 1] !== "<") {
      endings.push(document[2] ?? "");
      take(document[0].length, true);
    } else {
      take(1, true);
    }
  }

  return chunks.join("");
}

/** Where a word ends: strings and commands inside it belong to it. */
export function findWordEnd(code: string, from: number): number {
  const inside: string[] = [];
  let at = from;
  for (; at < code.length; at += 1) {
    const letter = code[at] ?? "";
    const innermost = inside.at(-1);
    if (letter === "\\") at += 1;
    else if (letter === innermost) inside.pop();
    else if (letter === '"' || letter === "`") inside.push(letter);
    else if (letter === "$" && "({".includes(code[at + 1] ?? " ")) {
      inside.push(code[at + 1] === "(" ? ")" : "}");
      at += 1;
    } else if (letter === "(" && innermost !== '"') inside.push(")");
    else if (innermost === undefined && /[\s;&|)]/.test(letter)) break;
  }

  return at;
}

export type Assignment = { readonly name: string; readonly value: string };

const declared =
  /(?:^|[\s;&|(])(?:(?:local|declare|typeset|readonly|export|read|mapfile|readarray)((?:[ \t]+-[a-zA-Z]+)*(?:[ \t]+[A-Za-z_]\w*\b(?![=:/.-]))+)|(?:for|select)[ \t]+([A-Za-z_]\w*)|getopts[ \t]+\S+[ \t]+([A-Za-z_]\w*)|printf[ \t]+-v[ \t]+([A-Za-z_]\w*))/gm;

/** What a script gives its variables; an empty value for what can't be followed. */
export function findAssignments(code: string): readonly Assignment[] {
  const assignments: Assignment[] = [];
  for (const [declaration, list, looped, option, printed] of code.matchAll(declared)) {
    if (/^\W*export\b/.test(declaration)) continue; // it had its value before
    for (const name of list?.match(/(?<![\w-])[A-Za-z_]\w*/g) ?? [
      looped ?? option ?? printed ?? "",
    ])
      assignments.push({ name, value: "" });
  }

  for (const { 0: head, 1: name = "", index } of code.matchAll(
    /(?<=^|[\s;&|("`])([A-Za-z_]\w*)(?:\[[^\]\n]*\])?\+?=(?![=~])/gm,
  )) {
    const from = index + head.length;
    assignments.push({ name, value: code.slice(from, findWordEnd(code, from)) });
  }

  for (const [, name = "", value = ""] of code.matchAll(
    /\bread\b[^;|&\n<]*?\b([A-Za-z_]\w*)[ \t]*<(?:<<|[ \t]*<)([^;|\n]*)/g,
  ))
    assignments.push({ name, value }); // read -r here < <(pwd)

  return assignments;
}

export type ShellFunction = { readonly name: string; readonly body: string };

export function findFunctions(code: string): readonly ShellFunction[] {
  return [
    ...code.matchAll(
      /^([ \t]*)(?:function[ \t]+)?([A-Za-z_][\w-]*)[ \t]*(?:\(\)[ \t]*\n?[ \t]*)?\{(?=\s)/gm,
    ),
  ].map(({ 0: head, 1: indent = "", 2: name = "", index }) => {
    const afterHead = code.slice(index + head.length);
    const [firstLine = ""] = afterHead.split("\n", 1);
    const isShort = /\}[ \t;]*$/.test(firstLine);
    const end = isShort
      ? firstLine.length
      : afterHead.search(new RegExp(String.raw`^${indent}\}`, "m"));
    return { name, body: end === -1 ? afterHead : afterHead.slice(0, end) };
  });
}
