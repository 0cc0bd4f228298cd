// failing-excerpt: chooses what is shown of a failed check's output: its failing lines
// (collect-failing-lines.ts) and its end.

import { type Output, readLastLines } from "./bounded-output.ts";

type ExcerptLimits = { readonly linesMax: number; readonly bytesMax: number };

/**
 * Failing lines that are not at the end of the output, then that end. They take at most a third of
 * the bytes and half of the lines.
 */
export function buildFailingExcerpt(
  output: Output,
  failing: readonly string[],
  { linesMax, bytesMax }: ExcerptLimits,
): string {
  const end = readLastLines(output, linesMax, bytesMax);
  const lines: string[] = [];

  for (const line of failing.filter((failure) => !end.includes(failure))) {
    if (
      Buffer.byteLength([...lines, line].join("\n")) > bytesMax / 3 ||
      lines.length >= linesMax / 2
    ) {
      break;
    }

    lines.push(line);
  }

  if (lines.length === 0) return end;
  const failingPart = `${lines.join("\n")}\n[autopilot: the failing lines are above, the end of the output is below]\n`;
  return (
    failingPart +
    readLastLines(output, linesMax - lines.length - 1, bytesMax - Buffer.byteLength(failingPart))
  );
}
