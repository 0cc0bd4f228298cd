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
  readonly interruptedAgain?: AbortSignal;
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
  { cwd, mayAsk, hasColour, interrupted, interruptedAgain }: TerminalSettings,
): TerminalContext {
  const shownLines = new Set<string>();
  const drawing = openDrawing(io, hasColour);
  const terminal = (): TerminalFormat => ({
    hasColour,
    ...(io.isTerminal.err ? { columns: io.columns() } : {}),
  });

  const show = (line: string): void => {
    shownLines.add(line.trim());
    const progressLines = formatProgressLines(line, terminal());
    drawing.writeAbove(`${progressLines.join("\n")}\n`);
  };

  return {
    cwd,
    env: io.env,
    user: io.user,
    isTerminal: mayAsk,
    interrupted,
    ...(interruptedAgain === undefined ? {} : { interruptedAgain }),
    settle: drawing.settle,
    hasShown: (line) => shownLines.has(line.trim()),
    show,
    showLive: (line) => {
      if (io.isTerminal.err) drawing.drawLiveLine(line);
    },
    ...(io.isTerminal.err ? { board: drawing.board } : {}),
    ask: (question, choices, withdrawn) => {
      if (!mayAsk) return Promise.resolve(null);
      const cancel =
        withdrawn === undefined ? interrupted : AbortSignal.any([interrupted, withdrawn]);
      return ask({ io, cancel, settle: drawing.settle }, question, choices);
    },
  };
}

/** The live line and the board: what is drawn over. Only one of them is there at a time. */
function openDrawing(io: CommandIo, hasColour: boolean) {
  let hasLiveLine = false;
  let drawnBoard: readonly string[] = [];

  /** Clears the live line or the board, so that what follows begins on a clean line. */
  const settle = (): void => {
    if (hasLiveLine) io.write("err", clearLine);
    if (drawnBoard.length > 0) io.write("err", eraseBoard(drawnBoard, io.columns()));
    hasLiveLine = false;
    drawnBoard = [];
  };

  /** The last column stays empty: a terminal may wrap a line that fills it. */
  const columnsMax = (): number => Math.max(columnsMin, io.columns() - 1);

  /** The cursor stays at the end of the last line, so that the board never scrolls by itself. */
  const drawBoard = (lines: readonly string[]): void => {
    const eraseCodes = drawnBoard.length === 0 ? "" : eraseBoard(drawnBoard, io.columns());
    const progressLines = lines.flatMap((line) => formatProgressLines(line, { hasColour }));
    io.write("err", `${eraseCodes}${progressLines.join("\n")}`);
    drawnBoard = lines;
  };

  /** Writes lines that stay; a board is drawn anew below them. */
  const writeAbove = (text: string): void => {
    const boardBefore = drawnBoard;
    settle();
    io.write("err", text);
    if (boardBefore.length > 0) drawBoard(boardBefore);
  };

  const drawLiveLine = (line: string): void => {
    const fitted = cutToColumns(oneLine(line, columnsMax()), columnsMax());
    io.write("err", `${clearLine}${fitted}`);
    hasLiveLine = fitted !== "";
  };

  const board = {
    rowsMax: () => Math.min(boardRowsMax, Math.max(boardRowsMin, io.rows() - rowsAboveBoard)),
    draw: (lines: readonly string[]) => {
      // A line must not wrap, or the board would be erased wrongly: control characters are escaped,
      // then the line is cut.
      const fitted = lines.map((line) => cutToColumns(visible(line), columnsMax()));
      if (fitted.join("\n") !== drawnBoard.join("\n")) drawBoard(fitted);
    },
  };

  return { settle, writeAbove, drawLiveLine, board };
}

/**
 * From the end of a board back to its first line, clearing everything below. A terminal made
 * narrower has wrapped its lines.
 */
function eraseBoard(board: readonly string[], columns: number): string {
  let rowCount = 0;
  for (const line of board) {
    rowCount += Math.max(1, Math.ceil(countColumns(line) / Math.max(1, columns)));
  }

  const moveUp = rowCount > 1 ? `\u001b[${rowCount - 1}A` : "";
  return `\r${moveUp}${clearBelow}`;
}

type Asking = {
  readonly io: CommandIo;
  readonly cancel: AbortSignal;
  readonly settle: () => void;
};

/**
 * Asks for one of the choices, in full or by its first letters, or for any text if there are none.
 * Null if the person gives none: the input ends, the question is cancelled, the text is empty, or
 * none of three answers is a choice.
 */
async function ask(
  { io, cancel, settle }: Asking,
  question: string,
  choices: readonly string[],
): Promise<string | null> {
  const choicesText = choices.length === 0 ? "" : ` [${choices.map(visible).join("/")}]`;

  for (let attempts = 0; attempts < answersMax; attempts += 1) {
    settle();
    io.write("err", `${visible(question)}${choicesText} `);
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
  const matches = choices.filter((choice) => {
    const lowerCase = choice.toLowerCase();
    return lowerCase.startsWith(word) || (choice.length === 1 && word.startsWith(lowerCase));
  });
  return matches.length === 1 ? (matches[0] ?? null) : null;
}
