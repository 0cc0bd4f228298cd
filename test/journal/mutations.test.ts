// Mutated lines and rearranged journals, a million and thousands in a long run: none is accepted.

import { hash } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openJournal } from "../../src/journal/file-journal.ts";
import { findLineFault } from "../../src/journal/line.ts";
import { verifyJournal } from "../../src/journal/read.ts";
import {
  readBytes,
  freshFolder,
  putBytes,
  skipped,
  still,
  surveyed,
  sweep,
} from "../../src/journal/scene.test-support.ts";
import { isLong } from "../support/sampled.ts";

const dir = freshFolder();
let lines: Buffer[];

beforeAll(async () => {
  const { journal } = await openJournal(dir, still);
  for (let n = 1; n <= 25; n++) {
    journal.appendSync([skipped(n), surveyed(`file-${n}`, "ü", '{"seq":1,"prev":"')]);
  }

  await journal.close();
  const text = readBytes(dir);
  lines = [];

  for (let start = 0; start < text.length; start = text.indexOf(10, start) + 1) {
    lines.push(text.subarray(start, text.indexOf(10, start)));
  }
});
afterAll(sweep);

/** A small generator with a seed, so that a failure can be seen again. */
function dice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);

    return ((mixed ^ (mixed >>> 14)) >>> 0) % sides;
  };
}

const scratch = Buffer.alloc(4096);

/** One to three small changes; returns the mutant's length in `scratch`. */
function mutate(line: Buffer, roll: (sides: number) => number): number {
  let length = line.copy(scratch);
  for (let times = roll(3); times >= 0; times--) {
    const at = roll(length);
    const other = roll(length);

    switch (roll(7)) {
      case 0:
        scratch[at] = (scratch[at] ?? 0) ^ (1 << roll(8));
        break;
      case 1:
        scratch[at] = roll(256);
        break;
      case 2:
        scratch.copyWithin(at, at + 1, length);
        length--;
        break;
      case 3:
        scratch.copyWithin(at + 1, at, length);
        length++;
        break;
      case 4:
        [scratch[at], scratch[other]] = [scratch[other] ?? 0, scratch[at] ?? 0];
        break;
      case 5:
        scratch.copyWithin(at, other, Math.min(other + roll(32), length));
        break;
      default:
        length = Math.max(1, length - roll(20));
    }
  }

  return length;
}

test("of hundreds of thousands of mutated lines none is accepted, of a million in a long run", () => {
  const all = isLong ? 1_000_000 : 250_000;
  const roll = dice(1);
  let mutants = 0;
  let accepted = 0;
  let passedChecksum = 0;

  while (mutants < all) {
    const place = roll(lines.length);
    const line = lines[place] ?? Buffer.alloc(0);
    const length = mutate(line, roll);
    if (length === line.length && scratch.compare(line, 0, length, 0, length) === 0) continue;
    mutants++;
    if (findLineFault(scratch, 0, length) !== null) continue;
    // Four thousand million checksums are not enough for ever: what passes one must still break the
    // chain.
    passedChecksum++;
    if (hash("sha256", scratch.subarray(0, length)) === hash("sha256", line)) accepted++;
  }

  expect({ mutants, accepted }).toEqual({ mutants: all, accepted: 0 });
  expect(passedChecksum).toBeLessThan(10);
  // The control: what was not changed is accepted.
  expect(lines.filter((line) => findLineFault(line, 0, line.length) === null)).toHaveLength(50);
});

test("of a thousand journals with lines moved, doubled, dropped or exchanged none is accepted", () => {
  const roll = dice(2);
  const tries = isLong ? 3000 : 1000;
  let refused = 0;

  for (let n = 0; n < tries; n++) {
    const changed = [...lines];
    // The last line stays out of it: losing the end is not to be seen from what is left.
    const from = roll(lines.length - 1);
    const to = (from + 1 + roll(lines.length - 2)) % (lines.length - 1);
    const line = changed[from] ?? Buffer.alloc(0);
    const kind = n % 4;
    if (kind === 0) changed.splice(from, 1);
    if (kind === 1) changed.splice(to, 0, line);
    if (kind === 2) [changed[from], changed[to]] = [changed[to] ?? line, line];
    if (kind === 3) changed[from] = changed[to] ?? line;
    putBytes(dir, Buffer.concat(changed.flatMap((one) => [one, Buffer.of(10)])));
    const { ok, damaged_line } = verifyJournal(dir);
    if (!ok && damaged_line !== null) refused++;
  }

  expect(refused).toBe(tries);
});
