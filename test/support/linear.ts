// linear: that what reads a text takes as long as the text is, not as long as its square. It is
// told by the processor time of two texts, one eight times as long as the other, in one run: a busy
// machine makes both slower, and a text that a patient machine would read in the end is found at a
// length at which it costs nothing yet.

import { expect } from "vitest";

const times = 8;
/** Between 8, which is linear, and 64, which is quadratic. */
const ratioMax = 24;
/** Collecting garbage or compiling may fall into one measurement, and hardly into all. */
const measurements = 8;
/** Less than this is noise: what takes a multiple of it harms nobody. */
const noiseMicroseconds = 1_000;

/** Takes `read` for texts made of `most / 8` and of `most` pieces. */
export async function expectLinear(
  most: number,
  read: (pieces: number) => unknown,
  what = "",
): Promise<void> {
  const spentFor = async (pieces: number): Promise<number> => {
    const before = process.cpuUsage();
    await read(pieces);
    const { user } = process.cpuUsage(before);
    return user;
  };

  await read(Math.ceil(most / times / times)); // compiled by then
  let ratio = Infinity;
  for (let measured = 0; measured < measurements && ratio > ratioMax; measured += 1) {
    const short = await spentFor(Math.ceil(most / times));
    const long = await spentFor(most);
    ratio = Math.min(ratio, long / Math.max(short, noiseMicroseconds));
  }

  expect(ratio, `${what}: ${times} times the text takes ${ratio.toFixed(0)} times as long`).toBeLessThanOrEqual(ratioMax); // prettier-ignore
}
