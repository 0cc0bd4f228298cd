// failing-lines: of all that a command prints, the lines that tell of a failure, so that they're shown wherever they stand. Pure.
//
// Invariant:
//   L1. Bounded: so many lines of so many characters, one look at each.

/** How test runners, compilers and linters begin or end the line of a failure. */
const failing =
  /^\s{0,80}(?:(?:FAIL(?:ED|URE)?|ERROR|FATAL|PANIC)\b|not ok \d|[✗✖×✕❌●] |\d{1,6}\) |--- FAIL:|E {3,}|error(?:\[\w+\])?:|fatal:|panic:|AssertionError|Assertion failed|(?:Uncaught )?\w{0,40}(?:Error|Exception)(?: \[\w+\])?:|thread '.{1,200}' panicked)|\.\.\. FAILED$| FAILED(?: {1,80}\[ {0,2}\d{1,3}%\])?$|: error[: ]|\*\*\*Failed\b|: no required module provides package |\bModuleNotFoundError: /;
/** Sums without a failure read much like one. */
const harmless = /\b0 (?:failed|failures|errors|failing)\b|^\s*\d{1,6}\) .{0,200}(?:ok|passed)$/i;

const linesMax = 20;
const lineCharsMax = 300;

export type FailingLines = { readonly line: (line: string) => void; readonly last: () => string; readonly take: () => readonly string[] };

export function openFailingLines(): FailingLines {
  const found = new Set<string>();
  let last = "";
  return {
    line(line) {
      last = line;
      if (found.size < linesMax && failing.test(line) && !harmless.test(line)) found.add(line.slice(0, lineCharsMax)); // L1
    },
    last: () => last.slice(0, lineCharsMax),
    take: () => [...found],
  };
}
