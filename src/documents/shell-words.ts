// shell-words: parses a command line into simple commands and the operators between them, for
// analysis only. Words that the shell would expand are marked, and a line with other syntax is
// refused.

/** Empty at the end of the line. */
export type Operator = "&&" | "||" | ";" | "|" | "&" | "";

/** One simple command, and the operator behind it. */
export type SimpleCommand = { readonly words: readonly ShellWord[]; readonly operator: Operator };

type Expansion = "nothing" | "status" | "something";

export type ShellWord = {
  /** Without its quotes. */
  readonly text: string;
  /**
   * Whether the shell puts something into it: `$x`, `$(…)`, backticks, a glob. `$?` alone counts as
   * `status`.
   */
  readonly expansion: Expansion;
  readonly isQuoted: boolean;
};

/**
 * Null if the line is not a plain list of commands: an open quote, a group, a here-document. Words
 * such as `for` and `do` are not understood.
 */
export function parseCommands(line: string): readonly SimpleCommand[] | null {
  const commands: SimpleCommand[] = [];
  let words: ShellWord[] = [];
  const endCommand = (operator: Operator): void => {
    if (words.length > 0) commands.push({ words, operator });
    words = [];
  };

  let position = 0;
  while (position < line.length) {
    const token = readToken(line, position);
    if (token === null || token.end <= position) return null;
    if (token.kind === "word") words.push(token.word);
    if (token.kind === "operator") endCommand(token.operator);
    position = token.end;
  }

  endCommand("");
  return commands;
}

/** `nothing`: white space, a comment or a redirection. */
type Token = { readonly end: number } & (
  | { readonly kind: "nothing" }
  | { readonly kind: "operator"; readonly operator: Operator }
  | { readonly kind: "word"; readonly word: ShellWord }
);

/** The token that begins here; null if it is not understood. */
function readToken(line: string, position: number): Token | null {
  const upcoming = line.slice(position, position + 3);
  const nothing = (end: number): Token => ({ kind: "nothing", end });
  const operator = (name: Operator, length: number): Token => ({
    kind: "operator",
    operator: name,
    end: position + length,
  });

  if (/^[ \t]/.test(upcoming)) return nothing(position + 1);
  if (upcoming.startsWith("#")) return nothing(findLineEnd(line, position));
  if (/^\r?\n/.test(upcoming)) return operator(";", 1);
  if (upcoming.startsWith("&&")) return operator("&&", 2);
  if (upcoming.startsWith("||")) return operator("||", 2);
  if (upcoming.startsWith("|&")) return operator("|", 2);
  if (upcoming.startsWith("&>")) return nothing(skipRedirection(line, position));
  if (/^[;|&]/.test(upcoming)) return operator(upcoming.charAt(0) as Operator, 1);

  const isGroupOrHereDocument = /^[()]/.test(upcoming) || /^<<(?!<)/.test(upcoming);
  if (isGroupOrHereDocument) return null;
  const isRedirection = /^\d*[<>]/.test(line.slice(position, position + 12));
  if (isRedirection) return nothing(skipRedirection(line, position));

  const parsed = parseWord(line, position);
  return parsed === null ? null : { kind: "word", ...parsed };
}

function findLineEnd(line: string, position: number): number {
  const newline = line.indexOf("\n", position);
  return newline < 0 ? line.length : newline;
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
  let expansion: Expansion = "nothing";
  let isQuoted = false;
  let isInDoubleQuotes = false;
  let position = from;

  while (position < line.length) {
    const letter = line.charAt(position);
    if (letter === '"') {
      isInDoubleQuotes = !isInDoubleQuotes;
      isQuoted = true;
      position += 1;
      continue;
    }

    if (!isInDoubleQuotes && endsWord(line, position)) break;
    const piece = isInDoubleQuotes
      ? readQuotedPiece(line, position)
      : readPlainPiece(line, position, text === "");
    if (piece === null) return null;

    text += piece.text;
    if (expansion !== "something") expansion = piece.expansion ?? expansion;
    isQuoted ||= !isInDoubleQuotes && letter === "'";
    position = piece.end;
  }

  return isInDoubleQuotes ? null : { word: { text, expansion, isQuoted }, end: position };
}

/** Only these end a word in a shell: other white space doesn't. */
const endsWord = (line: string, position: number): boolean =>
  /[ \t\n;|&<>()]/.test(line.charAt(position)) || line.startsWith("\r\n", position);

/** Of a word: one character, an expansion, or a text in single quotes. */
type Piece = {
  readonly text: string;
  readonly end: number;
  readonly expansion?: Exclude<Expansion, "nothing">;
};

/** A piece between double quotes; null if an expansion is not closed. */
function readQuotedPiece(line: string, position: number): Piece | null {
  const letter = line.charAt(position);
  if (letter === "\\") return { text: line.charAt(position + 1), end: position + 2 };
  if (letter === "`" || letter === "$") return readExpansion(line, position);
  return { text: letter, end: position + 1 };
}

/** A piece outside of double quotes; null if a quote or an expansion is not closed. */
function readPlainPiece(line: string, position: number, isFirst: boolean): Piece | null {
  const letter = line.charAt(position);
  if (letter === "'") {
    const closing = line.indexOf("'", position + 1);
    return closing < 0 ? null : { text: line.slice(position + 1, closing), end: closing + 1 };
  }

  const isGlob = /[*?]/.test(letter) || (letter === "[" && !isFirst);
  return isGlob
    ? { text: letter, end: position + 1, expansion: "something" }
    : readQuotedPiece(line, position);
}

function readExpansion(line: string, position: number): Piece | null {
  const last = findExpansionEnd(line, position);
  if (last < 0) return null;
  return {
    text: line.slice(position, last + 1),
    end: last + 1,
    expansion: line.startsWith("$?", position) ? "status" : "something",
  };
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
