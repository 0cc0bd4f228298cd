// flip: an expectation of a test that is made wrong to see whether the test notices, and how it is
// put into the text. Pure.

import { listSome } from "../../../kit/list-some.ts";
import type { Span } from "../source-text/brackets.ts";

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

/**
 * The text with these flips; null if the line of one is missing, or moved and not unique, or is in
 * the lines of another.
 */
export function applyFlips(
  text: string,
  flips: readonly Pick<Flip, "line" | "was" | "broken">[],
): string | null {
  const lines = text.split("\n");
  const flippedLines = [...lines];
  const taken = new Set<number>();

  for (const { line, was, broken } of mergeFlips(flips)) {
    const position = findFlipLine(lines, { line, was }); // what another flip wrote may be what this one looks for
    if (position === -1) return null;
    for (const [offset, newLine] of broken.split("\n").entries()) {
      if (taken.has(position + offset)) return null;
      taken.add(position + offset);
      flippedLines[position + offset] = newLine;
    }
  }

  return flippedLines.join("\n");
}

type LineChange = Pick<Flip, "line" | "was" | "broken">;

/** Flips of the same lines as one, unless they change the same words. */
function mergeFlips(flips: readonly LineChange[]): readonly LineChange[] {
  const merged: LineChange[] = [];
  for (const flip of flips) {
    const index = merged.findIndex(({ line, was }) => line === flip.line && was === flip.was);
    const other = merged[index];
    const both = other === undefined ? null : mergeFlip(other, flip);
    if (both === null) merged.push(flip);
    else merged[index] = both;
  }

  return merged;
}

/** `merged` changes one or more parts of its lines; `flip` one that is before or behind those. */
function mergeFlip(merged: LineChange, flip: LineChange): LineChange | null {
  const [first, second] = [findChange(merged), findChange(flip)];
  const { was } = flip;
  if (second.to <= first.from) {
    return {
      ...flip,
      broken:
        flip.broken.slice(0, flip.broken.length - (was.length - second.to)) +
        merged.broken.slice(second.to),
    };
  }

  if (first.to > second.from) return null;
  const head = merged.broken.slice(0, merged.broken.length - (was.length - second.from));
  return { ...flip, broken: head + flip.broken.slice(second.from) };
}

/** Where in its lines a flip changes something. */
export function findChange({ was, broken }: Pick<Flip, "was" | "broken">): Span {
  let from = 0;
  while (from < was.length && was[from] === broken[from]) from += 1;
  let end = 0;
  const most = Math.min(was.length, broken.length) - from;
  while (end < most && was.at(-1 - end) === broken.at(-1 - end)) end += 1;

  return { from, to: was.length - end };
}

/** Whether a flip of these lines is in a test, of several in one line. */
export function isInTestOfLine(flip: Pick<Flip, "was" | "broken">, testText: string): boolean {
  const from = flip.was.indexOf(testText);
  if (from === -1) return true; // the test is more than these lines
  const change = findChange(flip);

  return from <= change.from && change.to <= from + testText.length;
}

/** The line a flip begins in, from 0, though it may have moved. */
export function findFlipLine(
  lines: readonly string[],
  { line, was }: Pick<Flip, "line" | "was">,
): number {
  return isFlipLine(lines, was, line - 1) ? line - 1 : findOnlyFlipLine(lines, { was });
}

const isFlipLine = (lines: readonly string[], was: string, position: number): boolean =>
  was.split("\n").every((text, offset) => lines[position + offset] === text);

/** The only line that a flip can begin in; -1 if there are more, or none. */
export function findOnlyFlipLine(lines: readonly string[], { was }: Pick<Flip, "was">): number {
  const isAt = (position: number): boolean => isFlipLine(lines, was, position);
  const first = lines.findIndex((_line, index) => isAt(index));
  return first !== -1 && lines.findIndex((_line, index) => index > first && isAt(index)) === -1
    ? first
    : -1;
}

export const formatPositions = (flips: readonly Pick<Flip, "path" | "line">[]): string =>
  listSome(flips.map(({ path, line }) => `${path}:${line}`));
