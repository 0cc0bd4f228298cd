// Pull the plug after any byte, flip any bit: what was acknowledged stays, and nothing false is
// ever read.

import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Entry } from "../../src/contracts/event.ts";
import { JournalFailure } from "../../src/journal/journal-failure.ts";
import { openJournal } from "../../src/journal/file-journal.ts";
import { journalFile } from "../../src/journal/journal.ts";
import { readJournal } from "../../src/journal/read.ts";
import { isLong } from "../support/sampled.ts";
import {
  readBytes,
  freshFolder,
  putBytes,
  skipped,
  still,
  surveyed,
  sweep,
} from "../../src/journal/scene.test-support.ts";

/**
 * Every bit and byte in a long run, else every third: of each byte some bits, and of three bytes
 * all.
 */
const step = isLong ? 1 : 3;
const dir = freshFolder();
let sound: Buffer;
let entries: readonly Entry[];
/** After which byte each line is whole. */
let ends: number[];

beforeAll(async () => {
  const { journal } = await openJournal(dir, still);
  entries = journal.appendSync([skipped(1), surveyed("ü", "b"), skipped(3)]);
  await journal.close();
  sound = readBytes(dir);
  ends = [...sound.entries()].filter(([, byte]) => byte === 10).map(([at]) => at + 1);
});
afterAll(sweep);

test("cut after any byte, it reopens with every whole line and takes more", async () => {
  for (let size = 0; size < sound.length; size += step) {
    putBytes(dir, sound.subarray(0, size));
    const whole = ends.filter((end) => end <= size).length;
    const isTorn = size > (ends[whole - 1] ?? 0);
    const { journal, entries: read, repaired } = await openJournal(dir, still);
    expect(read.slice(0, whole)).toEqual(entries.slice(0, whole));
    expect(read.slice(whole).map(({ event }) => event)).toEqual(
      isTorn && whole > 0 ? ["journal_repaired"] : [],
    );

    expect(repaired !== null).toBe(isTorn);
    expect(journal.appendSync([skipped(9)])).toMatchObject([{ seq: read.length + 1 }]);
    await journal.close();
  }
});

test("with any bit flipped, nobody is told anything that was not written, and only the last line can be taken for torn", () => {
  putBytes(dir, sound);
  const fd = openSync(join(dir, journalFile), "r+");
  const counts = { refused: 0, torn: 0, accepted: 0, misplaced: 0 };

  for (let bit = 0; bit < sound.length * 8; bit += step) {
    const at = bit >> 3;
    const line = ends.filter((end) => end <= at).length;
    writeSync(fd, Buffer.of((sound[at] ?? 0) ^ (1 << (bit & 7))), 0, 1, at);
    const answer = readFlipped();
    writeSync(fd, sound, at, 1, at);
    counts[answer.how]++;
    if (answer.entries > line || (answer.how === "torn" && line < 2)) counts.accepted++;
    if (answer.line !== null && answer.line !== line + 1) counts.misplaced++;
  }

  closeSync(fd);
  expect(counts).toMatchObject({ accepted: 0, misplaced: 0 });
  expect(counts.refused + counts.torn).toBe(Math.ceil((sound.length * 8) / step));
  expect(counts.refused).toBeGreaterThan(counts.torn);
});

test("a snapshot with any bit flipped is ignored, and the journal is read from its start", async () => {
  putBytes(dir, sound);
  const { journal } = await openJournal(dir, still);
  const state = { seq: 3, text: 'ü "state": }', nested: { deep: [1, null, "state"] } };
  await journal.snapshot(state);
  await journal.close();
  const snapshot = readFileSync(join(dir, "snapshot.json"));
  let entriesRead = 0;
  const read = () => readJournal(dir, { onEntry: () => void entriesRead++ }).snapshot;
  expect([read(), entriesRead]).toMatchObject([{ seq: 3 }, 0]);
  let believed = 0;

  for (let bit = 0; bit < snapshot.length * 8; bit += step) {
    const bytes = Buffer.from(snapshot);
    bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    putBytes(dir, bytes, "snapshot.json");
    if (read() !== null) believed++;
  }

  expect({ believed, entriesRead }).toEqual({
    believed: 0,
    entriesRead: Math.ceil((snapshot.length * 8) / step) * 3,
  });
});

function readFlipped(): {
  how: "refused" | "torn" | "accepted";
  entries: number;
  line: number | null;
} {
  let read = 0;
  try {
    const { torn } = readJournal(dir, { startAt: "start", onEntry: () => void read++ });
    return { how: torn === null ? "accepted" : "torn", entries: read, line: null };
  } catch (error) {
    if (!(error instanceof JournalFailure)) throw error;
    return {
      how: "refused",
      entries: read,
      line: error.trouble.kind === "journal_damaged" ? error.trouble.line : null,
    };
  }
}
