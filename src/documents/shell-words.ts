// shell-words: parses a command line just far enough to analyse it: simple commands and the operators between them. It isn't a shell: what
// is not understood is marked as such, and no conclusion is drawn from it.

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
export function parseCommands(line: string): readonly SimpleCommand[] | null {
  const commands: SimpleCommand[] = [];
  let words: ShellWord[] = [];
  let position = 0;
  const end = (joint: Joint): void => {
    if (words.length > 0) commands.push({ words, joint });
    words = [];
  };
  while (position < line.length) {
    const rest = line.slice(position, position + 3);
    if (/^[ \t]/.test(rest)) position += 1;
    else if (/^(\r?\n)/.test(rest)) {
      end(";");
      position += 1;
    } else if (rest.startsWith("#")) {
      const newline = line.indexOf("\n", position);
      position = newline < 0 ? line.length : newline;
    } else if (/^(&&|\|\|)/.test(rest)) {
      end(rest.slice(0, 2) as Joint);
      position += 2;
    } else if (rest.startsWith("|&")) {
      end("|");
      position += 2;
    } else if (rest.startsWith("&>")) position = afterRedirection(line, position);
    else if (/^[;|&]/.test(rest)) {
      end(rest.charAt(0) as Joint);
      position += 1;
    } else if (/^[()]/.test(rest) || /^<<(?!<)/.test(rest)) return null;
    else if (/^\d*[<>]/.test(line.slice(position, position + 12))) position = afterRedirection(line, position);
    else {
      const word = wordAt(line, position);
      if (word === null || word.end <= position) return null;
      words.push(word.word);
      position = word.end;
    }
  }
  end("");
  return commands;
}

/** `2>&1`, `> file`, `<<< text`: a redirection says nothing about whether the command can fail. */
function afterRedirection(line: string, position: number): number {
  const sign = /^(?:\d*(?:>>|>&|<<<|<>|>\||<&|[<>])|&>>?)[ \t]*/.exec(line.slice(position, position + 40))?.[0] ?? " ";
  const target = wordAt(line, position + sign.length);
  return target === null ? line.length : Math.max(target.end, position + sign.length);
}

function wordAt(line: string, from: number): { readonly word: ShellWord; readonly end: number } | null {
  let text = "";
  let holds: ShellWord["holds"] = "nothing";
  let isQuoted = false;
  let quote: '"' | "'" | null = null;
  let position = from;
  const hold = (what: "status" | "something"): void => {
    if (holds !== "something") holds = what;
  };
  for (; position < line.length; position += 1) {
    const letter = line.charAt(position);
    if (quote === "'") {
      if (letter === "'") quote = null;
      else text += letter;
    } else if (letter === "\\") {
      position += 1;
      text += line.charAt(position);
    } else if (letter === '"') {
      quote = quote === null ? '"' : null;
      isQuoted = true;
    } else if (letter === "'" && quote === null) {
      quote = "'";
      isQuoted = true;
    } else if (letter === "`" || letter === "$") {
      const isStatus = line.startsWith("$?", position);
      const skipped =
        letter === "`"
          ? line.indexOf("`", position + 1)
          : isStatus
            ? position + 1
            : line.charAt(position + 1) === "("
              ? findClosing(line, position + 1)
              : position;
      if (skipped < 0) return null;
      hold(isStatus ? "status" : "something");
      text += line.slice(position, skipped + 1);
      position = skipped;
    } else if (quote === null && (/[ \t\n;|&<>()]/.test(letter) || line.startsWith("\r\n", position))) break; // other blanks are letters to a shell
    else {
      if (quote === null && (/[*?]/.test(letter) || (letter === "[" && text !== ""))) hold("something");
      text += letter;
    }
  }
  return quote === null ? { word: { text, holds, isQuoted }, end: position } : null;
}

function findClosing(line: string, position: number): number {
  let depth = 0;
  for (let n = position; n < line.length; n += 1) {
    if (line.charAt(n) === "(") depth += 1;
    if (line.charAt(n) === ")") depth -= 1;
    if (depth === 0) return n;
  }
  return -1;
}
