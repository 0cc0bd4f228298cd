// flip: an expectation of a test that is made wrong to see whether the test notices, and how it is
// put into the text. Pure.

import { listSome } from "../../../kit/list-some.ts";

/**
 * An expectation of a test that is made wrong: the line as it was, and with another literal or
 * assertion.
 */
export type Flip = {
  readonly path: string;
  /** From 1. */
  readonly line: number;
  /** The whole line, or lines, before and after: the same number. */
  readonly was: string;
  readonly broken: string;
  /**
   * How likely it is an expectation: 4 an assertion with another expectation, 3 beside an
   * assertion, 2 a recorded answer next to one, 1 near one.
   */
  readonly score: number;
  /** For a line of data: the script that reads it. */
  readonly readBy?: string;
};

/** The text with these flips; null if the line of one is missing, or moved and not unique. */
export function applyFlips(
  text: string,
  flips: readonly Pick<Flip, "line" | "was" | "broken">[],
): string | null {
  const lines = text.split("\n");
  for (const flip of flips) {
    const position = findFlipLine(lines, flip);
    if (position === -1) return null;
    lines.splice(position, flip.was.split("\n").length, ...flip.broken.split("\n"));
  }

  return lines.join("\n");
}

/** The line a flip begins in, from 0, though it may have moved. */
export function findFlipLine(
  lines: readonly string[],
  { line, was }: Pick<Flip, "line" | "was">,
): number {
  const wanted = was.split("\n");
  const isAt = (position: number): boolean =>
    wanted.every((text, offset) => lines[position + offset] === text);
  return isAt(line - 1) ? line - 1 : findOnlyIndex(lines, isAt);
}

function findOnlyIndex(lines: readonly string[], isAt: (position: number) => boolean): number {
  const first = lines.findIndex((_line, index) => isAt(index));
  return first !== -1 && lines.findIndex((_line, index) => index > first && isAt(index)) === -1
    ? first
    : -1;
}

export const formatPositions = (flips: readonly Pick<Flip, "path" | "line">[]): string =>
  listSome(flips.map(({ path, line }) => `${path}:${line}`));
