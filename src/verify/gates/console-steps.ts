// console-steps: finds commands in the code blocks of a document, each with the output that is
// quoted below it. Pure.

import { readCodeBlocks, readProseLines } from "./citations.ts";

/**
 * `command`: with the lines behind its first that a backslash or an open quote continues. `output`:
 * its lines up to the next command or the end of the block; none if nothing is quoted.
 */
export type ConsoleStep = { readonly command: string; readonly output: readonly string[] };

/** `$ node bench.mjs`, also behind the name of a machine or a folder. */
const promptLine = /^\s*(?:[\w.-]*[@~:/][\w.@~:/-]*\s?)?\$\s+(\S.*)$/;
const stepsMax = 200;

/**
 * All of them in their order, those in fenced blocks first: a later command may need what an
 * earlier one did.
 */
export function findConsoleSteps(text: string): readonly ConsoleStep[] {
  const blocks = [
    ...readCodeBlocks(text).map(({ lines }) => lines),
    ...findIndentedBlocks(readProseLines(text)),
  ];
  return blocks.flatMap(parseBlock).slice(0, stepsMax);
}

function parseBlock(lines: readonly string[]): readonly ConsoleStep[] {
  const steps: { command: string; output: string[] }[] = [];
  let isContinued = false;
  let quotedTo = -1;

  for (const [index, line] of lines.entries()) {
    if (index <= quotedTo) continue;
    const command = promptLine.exec(line)?.[1];
    const last = steps.at(-1);
    if (isContinued && last !== undefined) {
      last.command = `${last.command.slice(0, -1)} ${line.replace(/^\s*>\s/, "").trim()}`;
    } else if (command !== undefined) {
      quotedTo = findQuoteEnd(lines, index, command);
      steps.push({
        command: [command, ...lines.slice(index + 1, quotedTo + 1)].join("\n").trim(),
        output: [],
      });
    } else {
      last?.output.push(line);
    }

    isContinued =
      steps.at(-1)?.command.endsWith("\\") === true && (isContinued || command !== undefined);
  }

  return steps;
}

/**
 * The last line of a command whose quotes are still open at the end of its first; that line itself
 * if they are not, or are never closed.
 */
function findQuoteEnd(lines: readonly string[], from: number, command: string): number {
  let text = command;
  for (let index = from; isQuoteOpen(text); index += 1) {
    const next = lines[index + 1];
    if (next === undefined || promptLine.test(next)) return from;
    text += `\n${next}`;
    if (!isQuoteOpen(text)) return index + 1;
  }

  return from;
}

const isQuoteOpen = (command: string): boolean =>
  /["']/.test(command.replaceAll(/'[^']*'|"(?:[^"\\]|\\[^])*"|\\[^]|(?:^|\s)#.*/g, ""));

/**
 * Blocks by indent, as Markdown and reStructuredText have them: they begin behind an empty line or
 * a line that ends with a colon.
 */
function findIndentedBlocks(prose: readonly string[]): readonly (readonly string[])[] {
  const blocks: string[][] = [];
  let block: string[] | null = null;

  for (const [index, line] of prose.entries()) {
    const isIndented = /^(?: {3,}|\t)\S/.test(line);
    const before = prose[index - 1]?.trim() ?? "";
    if (isIndented && block === null && (before === "" || before.endsWith(":"))) {
      blocks.push((block = []));
    }

    if (isIndented || line.trim() === "") block?.push(line);
    else block = null;
  }

  return blocks;
}
