// shell-words: a command line taken apart just far enough to ask what it comes to: simple commands and the signs between them.
// It isn't a shell: where something is not understood the words say so, and nobody draws a conclusion.

export type Joint = "&&" | "||" | ";" | "|" | "&" | "";

/** One simple command; `joint` is behind it. */
export type SimpleCommand = { readonly words: readonly ShellWord[]; readonly joint: Joint };

export type ShellWord = {
  /** Without its quotes. */
  readonly text: string;
  /** Whether the shell puts something into it: `$x`, `$(…)`, backticks, a glob. `$?` alone counts as `status`. */
  readonly holds: "nothing" | "status" | "something";
  readonly isQuoted: boolean;
};

/** Null if the line is not a plain list of commands: an open quote, a group, a loop. */
export function commandsOf(line: string): readonly SimpleCommand[] | null {
  const commands: SimpleCommand[] = [];
  let words: ShellWord[] = [];
  let at = 0;
  const end = (joint: Joint): void => {
    if (words.length > 0) commands.push({ words, joint });
    words = [];
  };
  while (at < line.length) {
    const rest = line.slice(at, at + 3);
    if (/^[ \t]/.test(rest)) at += 1;
    else if (/^(\r?\n)/.test(rest)) {
      end(";");
      at += 1;
    } else if (rest.startsWith("#")) {
      const newline = line.indexOf("\n", at);
      at = newline < 0 ? line.length : newline;
    } else if (/^(&&|\|\|)/.test(rest)) {
      end(rest.slice(0, 2) as Joint);
      at += 2;
    } else if (rest.startsWith("|&")) {
      end("|");
      at += 2;
    } else if (rest.startsWith("&>")) at = afterRedirection(line, at);
    else if (/^[;|&]/.test(rest)) {
      end(rest.charAt(0) as Joint);
      at += 1;
    } else if (/^[()]/.test(rest) || /^<<(?!<)/.test(rest)) return null;
    else if (/^\d*[<>]/.test(line.slice(at, at + 12))) at = afterRedirection(line, at);
    else {
      const word = wordAt(line, at);
      if (word === null || word.end <= at) return null;
      words.push(word.word);
      at = word.end;
    }
  }
  end("");
  return commands;
}

/** `2>&1`, `> file`, `<<< text`: where it goes says nothing about whether the command can fail. */
function afterRedirection(line: string, at: number): number {
  const sign = /^(?:\d*(?:>>|>&|<<<|<>|>\||<&|[<>])|&>>?)[ \t]*/.exec(line.slice(at, at + 40))?.[0] ?? " ";
  const target = wordAt(line, at + sign.length);
  return target === null ? line.length : Math.max(target.end, at + sign.length);
}

function wordAt(line: string, from: number): { readonly word: ShellWord; readonly end: number } | null {
  let text = "";
  let holds: ShellWord["holds"] = "nothing";
  let isQuoted = false;
  let quote: '"' | "'" | null = null;
  let at = from;
  const hold = (what: "status" | "something"): void => {
    if (holds !== "something") holds = what;
  };
  for (; at < line.length; at += 1) {
    const letter = line.charAt(at);
    if (quote === "'") {
      if (letter === "'") quote = null;
      else text += letter;
    } else if (letter === "\\") {
      at += 1;
      text += line.charAt(at);
    } else if (letter === '"') {
      quote = quote === null ? '"' : null;
      isQuoted = true;
    } else if (letter === "'" && quote === null) {
      quote = "'";
      isQuoted = true;
    } else if (letter === "`" || letter === "$") {
      const isStatus = line.startsWith("$?", at);
      const skipped =
        letter === "`" ? line.indexOf("`", at + 1) : isStatus ? at + 1 : line.charAt(at + 1) === "(" ? closingOf(line, at + 1) : at;
      if (skipped < 0) return null;
      hold(isStatus ? "status" : "something");
      text += line.slice(at, skipped + 1);
      at = skipped;
    } else if (quote === null && (/[ \t\n;|&<>()]/.test(letter) || line.startsWith("\r\n", at))) break; // other blanks are letters to a shell
    else {
      if (quote === null && (/[*?]/.test(letter) || (letter === "[" && text !== ""))) hold("something");
      text += letter;
    }
  }
  return quote === null ? { word: { text, holds, isQuoted }, end: at } : null;
}

function closingOf(line: string, at: number): number {
  let depth = 0;
  for (let n = at; n < line.length; n += 1) {
    if (line.charAt(n) === "(") depth += 1;
    if (line.charAt(n) === ")") depth -= 1;
    if (depth === 0) return n;
  }
  return -1;
}
