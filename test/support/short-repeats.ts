// short-repeats: programs that call tests again and again without their runner, with a tenth of
// their time for it. Half a second of computing for each program is most of what a story with
// experiments costs, and what goes by the number of calls shows itself in a few.

import { repeatMs } from "../../src/verify/experiments/without-runner/plain-program.ts";

const written: readonly (readonly [long: string, short: string])[] = [
  [`used(first).system > ${repeatMs * 1000} `, `used(first).system > ${repeatMs * 100} `], // plain calls in JavaScript and in Python
  [`_used() - _first < ${repeatMs / 1000} `, `_used() - _first < ${repeatMs / 10_000} `],
  [`while (usedMs() < ${repeatMs} `, `while (usedMs() < ${repeatMs / 10} `], // tests in JavaScript and in Python
  [`while used() - first < ${repeatMs / 1000} `, `while used() - first < ${repeatMs / 10_000} `],
];

export const shortenRepeats = (program: string): string =>
  written.reduce((text, [long, short]) => text.replaceAll(long, short), program);

/** For what must have repeats: fails if they are no longer written as they are known here. */
export function shortenedRepeats(program: string): string {
  const short = shortenRepeats(program);
  if (short === program) throw new Error(`nothing is repeated in\n${program}`);
  return short;
}
