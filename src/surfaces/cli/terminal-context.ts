// terminal-context: creates the context of a command on a terminal. Progress and questions go to
// stderr, so that stdout has nothing but the response.
//
// Besides lines that stay, two things are drawn over and cleared at the end: the live line (what an
// agent does at the moment) and the board (several rows at the bottom, such as one for each running
// task of a portfolio).

import type { CommandContext } from "../../project/command-context.ts";
import { oneLine } from "../../views/wording.ts";
import { countColumns, cutToColumns } from "../../kit/columns.ts";
import { visible } from "../../kit/visible.ts";
import type { CommandIo } from "./io.ts";
import { formatProgressLines, type TerminalFormat } from "./render.ts";

const answersMax = 3;
const clearLine = "\r\u001b[2K";
const clearBelow = "\u001b[0J";
/** The board leaves rows for what is above it, but keeps a few in a very small window. */
const boardRowsMax = 40;
const boardRowsMin = 3;
const rowsAboveBoard = 2;
/** What is drawn over is cut to the terminal's width, but not to less than this. */
const columnsMin = 10;

export type TerminalSettings = {
  readonly cwd: string;
  readonly mayAsk: boolean;
  readonly hasColour: boolean;
  readonly interrupted: AbortSignal;
  readonly hurried?: AbortSignal;
};

/**
 * `settle` clears what is drawn and not final; `hasShown` says whether a progress line was printed
 * before.
 */
export type TerminalContext = CommandContext & {
  readonly settle: () => void;
  readonly hasShown: (line: string) => boolean;
};

export function openTerminalContext(
  io: CommandIo,
  { cwd, mayAsk, hasColour, interrupted, hurried }: TerminalSettings,
): TerminalContext {
  const shownLines = new Set<string>();
  let hasLiveLine = false;
  let board: readonly string[] = [];
  const terminal = (): TerminalFormat => ({
    hasColour,
    ...(io.isTerminal.err ? { columns: io.columns() } : {}),
  });

  /** Clears the live line or the board, so that what follows begins on a clean line. */
  const settle = (): void => {
    if (hasLiveLine) io.write("err", clearLine);
    if (board.length > 0) io.write("err", eraseBoard(board, io.columns()));
    hasLiveLine = false;
    board = [];
  };

  const show = (line: string): void => {
    const drawnBoard = board;
    settle();
    shownLines.add(line.trim());
    io.write("err", `${formatProgressLines(line, terminal()).join("\n")}\n`);
    if (drawnBoard.length > 0) drawBoard(drawnBoard);
  };

  /** The last column stays empty: a terminal may wrap a line that fills it. */
  const fitLine = (line: string): string =>
    cutToColumns(line, Math.max(columnsMin, io.columns() - 1));
  /** The cursor stays at the end of the last line, so that the board never scrolls by itself. */
  const drawBoard = (lines: readonly string[]): void => {
    const eraseCodes = board.length === 0 ? "" : eraseBoard(board, io.columns());
    io.write(
      "err",
      `${eraseCodes}${lines.flatMap((line) => formatProgressLines(line, { hasColour })).join("\n")}`,
    );

    board = lines;
  };

  return {
    cwd,
    env: io.env,
    user: io.user,
    isTerminal: mayAsk,
    interrupted,
    ...(hurried === undefined ? {} : { hurried }),
    settle,
    hasShown: (line) => shownLines.has(line.trim()),
    show,
    live: (line) => {
      if (!io.isTerminal.err) return;
      const fitted = fitLine(oneLine(line, Math.max(columnsMin, io.columns() - 1)));
      io.write("err", `${clearLine}${fitted}`);
      hasLiveLine = fitted !== "";
    },
    ...(io.isTerminal.err
      ? {
          board: {
            rows: () => Math.min(boardRowsMax, Math.max(boardRowsMin, io.rows() - rowsAboveBoard)),
            draw: (lines: readonly string[]) => {
              // A line must not wrap, or the board would be erased wrongly: control characters are
              // escaped, then the line is cut.
              const fitted = lines.map((line) => fitLine(visible(line)));
              if (fitted.join("\n") !== board.join("\n")) drawBoard(fitted);
            },
          },
        }
      : {}),
    ask: (question, choices, withdrawn) => {
      const cancel =
        withdrawn === undefined ? interrupted : AbortSignal.any([interrupted, withdrawn]);
      return mayAsk ? ask({ io, cancel, settle }, question, choices) : Promise.resolve(null);
    },
  };
}

/**
 * From the end of a board back to its first line, clearing everything below. A terminal made
 * narrower has wrapped its lines.
 */
function eraseBoard(board: readonly string[], columns: number): string {
  const lines = board.reduce(
    (sum, line) => sum + Math.max(1, Math.ceil(countColumns(line) / Math.max(1, columns))),
    0,
  );

  return `\r${lines > 1 ? `\u001b[${lines - 1}A` : ""}${clearBelow}`;
}

/**
 * Asks for one of the choices, in full or by its first letters, or for any text if there are none.
 * Null if the person gives none: the input ends, the question is cancelled, the text is empty, or
 * none of three answers is a choice.
 */
async function ask(
  {
    io,
    cancel,
    settle,
  }: { readonly io: CommandIo; readonly cancel: AbortSignal; readonly settle: () => void },
  question: string,
  choices: readonly string[],
): Promise<string | null> {
  for (let attempts = 0; attempts < answersMax; attempts += 1) {
    settle();
    io.write(
      "err",
      `${visible(question)}${choices.length === 0 ? "" : ` [${choices.map(visible).join("/")}]`} `,
    );

    const line = await io.readLine(cancel);
    if (line === null) {
      io.write("err", "\n");
      return null;
    }

    const word = line.trim();
    if (choices.length === 0) return word === "" ? null : word;
    const chosen = matchChoice(word.toLowerCase(), choices);
    if (chosen !== null) return chosen;
  }

  return null;
}

function matchChoice(word: string, choices: readonly string[]): string | null {
  if (word === "") return null;
  const exact = choices.find((choice) => choice.toLowerCase() === word);
  if (exact !== undefined) return exact;

  // "yes" for `y` is as good as `y` for "yes".
  const matches = choices.filter(
    (choice) =>
      choice.toLowerCase().startsWith(word) ||
      (choice.length === 1 && word.startsWith(choice.toLowerCase())),
  );
  return matches.length === 1 ? (matches[0] ?? null) : null;
}
