// shell-words: parses a command line into simple commands and the operators between them, for
// analysis only. Words that the shell would expand are marked, and a line with other syntax is
// refused.

/** Empty at the end of the line. */
export type Operator = "&&" | "||" | ";" | "|" | "&" | "";

/** One simple command, and the operator behind it. */
export type SimpleCommand = { readonly words: readonly ShellWord[]; readonly operator: Operator };

export type ShellWord = {
  /** Without its quotes. */
  readonly text: string;
  /**
   * Whether the shell puts something into it: `$x`, `$(…)`, backticks, a glob. `$?` alone counts as
   * `status`.
   */
  readonly expansion: "nothing" | "status" | "something";
  readonly isQuoted: boolean;
};

/**
 * Null if the line is not a plain list of commands: an open quote, a group, a here-document. Words
 * such as `for` and `do` are not understood.
 */
export function parseCommands(line: string): readonly SimpleCommand[] | null {
  const commands: SimpleCommand[] = [];
  let words: ShellWord[] = [];
  let position = 0;
  const endCommand = (operator: Operator): void => {
    if (words.length > 0) commands.push({ words, operator });
    words = [];
  };

  while (position < line.length) {
    const upcoming = line.slice(position, position + 3);
    if (/^[ \t]/.test(upcoming)) {
      position += 1;
    } else if (/^(\r?\n)/.test(upcoming)) {
      endCommand(";");
      position += 1;
    } else if (upcoming.startsWith("#")) {
      const newline = line.indexOf("\n", position);
      position = newline < 0 ? line.length : newline;
    } else if (/^(&&|\|\|)/.test(upcoming)) {
      endCommand(upcoming.slice(0, 2) as Operator);
      position += 2;
    } else if (upcoming.startsWith("|&")) {
      endCommand("|");
      position += 2;
    } else if (upcoming.startsWith("&>")) {
      position = skipRedirection(line, position);
    } else if (/^[;|&]/.test(upcoming)) {
      endCommand(upcoming.charAt(0) as Operator);
      position += 1;
    } else if (/^[()]/.test(upcoming) || /^<<(?!<)/.test(upcoming)) {
      return null;
    } else if (/^\d*[<>]/.test(line.slice(position, position + 12))) {
      position = skipRedirection(line, position);
    } else {
      const word = parseWord(line, position);
      if (word === null || word.end <= position) return null;
      words.push(word.word);
      position = word.end;
    }
  }

  endCommand("");
  return commands;
}

/** `2>&1`, `> file`, `<<< text`: a redirection says nothing about whether the command can fail. */
function skipRedirection(line: string, position: number): number {
  const redirection =
    /^(?:\d*(?:>>|>&|<<<|<>|>\||<&|[<>])|&>>?)[ \t]*/.exec(
      line.slice(position, position + 40),
    )?.[0] ?? " ";
  const target = parseWord(line, position + redirection.length);
  return target === null ? line.length : Math.max(target.end, position + redirection.length);
}

function parseWord(
  line: string,
  from: number,
): { readonly word: ShellWord; readonly end: number } | null {
  let text = "";
  let expansion: ShellWord["expansion"] = "nothing";
  let isQuoted = false;
  let quote: '"' | "'" | null = null;
  let position = from;
  const markExpansion = (kind: "status" | "something"): void => {
    if (expansion !== "something") expansion = kind;
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
      const expansionEnd = findExpansionEnd(line, position);
      if (expansionEnd < 0) return null;
      markExpansion(line.startsWith("$?", position) ? "status" : "something");
      text += line.slice(position, expansionEnd + 1);
      position = expansionEnd;
    } else if (
      quote === null &&
      (/[ \t\n;|&<>()]/.test(letter) || line.startsWith("\r\n", position))
    ) {
      break; // other white space doesn't end a word in a shell
    } else {
      if (quote === null && (/[*?]/.test(letter) || (letter === "[" && text !== ""))) {
        markExpansion("something");
      }

      text += letter;
    }
  }

  return quote === null ? { word: { text, expansion, isQuoted }, end: position } : null;
}

/** The last character of an expansion that begins with ` or $; -1 if it isn't closed. */
function findExpansionEnd(line: string, position: number): number {
  if (line.charAt(position) === "`") return line.indexOf("`", position + 1);
  if (line.startsWith("$?", position)) return position + 1;
  return line.startsWith("$(", position) ? findClosing(line, position + 1) : position;
}

function findClosing(line: string, from: number): number {
  let depth = 0;
  for (let position = from; position < line.length; position += 1) {
    if (line.charAt(position) === "(") depth += 1;
    if (line.charAt(position) === ")") depth -= 1;
    if (depth === 0) return position;
  }

  return -1;
}
