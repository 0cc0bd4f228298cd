// failing-lines: the lines of a command's output that report a failure, so that they're shown wherever they are. Pure.
//
// Invariant:
//   L1. Bounded: so many lines of so many characters, one pass.

import { reportsFailure } from "../kit/failing-line.ts";

const linesMax = 20;
const lineCharsMax = 300;

export type FailingLines = {
  readonly addLine: (line: string) => void;
  readonly last: () => string;
  readonly take: () => readonly string[];
};

export function openFailingLines(): FailingLines {
  const failures = new Set<string>();
  let last = "";
  return {
    addLine(line) {
      last = line;
      if (failures.size < linesMax && reportsFailure(line)) failures.add(line.slice(0, lineCharsMax)); // L1
    },
    last: () => last.slice(0, lineCharsMax),
    take: () => [...failures],
  };
}
