// collect-failing-lines: collects the lines of a command's output that report a failure, wherever
// in the output they are. Pure.
//
// Invariant:
//   L1. Memory is bounded: the first `linesMax` failing lines, `lineCharsMax` characters of each.

import { reportsFailure } from "../kit/failure-patterns.ts";

const linesMax = 20;
const lineCharsMax = 300;

export type FailingLines = {
  readonly addLine: (line: string) => void;
  /** The last line of the output, whether it reports a failure or not. */
  readonly last: () => string;
  readonly take: () => readonly string[];
};

export function openFailingLines(): FailingLines {
  const failures = new Set<string>();
  let lastLine = "";
  return {
    addLine(line) {
      lastLine = line;
      if (failures.size < linesMax && reportsFailure(line)) {
        failures.add(line.slice(0, lineCharsMax));
      } // L1
    },
    last: () => lastLine.slice(0, lineCharsMax),
    take: () => [...failures],
  };
}
