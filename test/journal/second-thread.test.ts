// A long journal is parsed on one thread and checked on another: whatever is wrong with it is
// found, and at its line.

import { hash } from "node:crypto";
import { closeSync, openSync, writeSync } from "node:fs";
import { join, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { crc32 } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Entry, Event } from "../../src/contracts/event.ts";
import { replayFrom } from "../../src/journal/replay.ts";
import { isSound } from "../../src/journal/chain-check.ts";
import { JournalFailure } from "../../src/journal/journal-failure.ts";
import { openJournal } from "../../src/journal/file-journal.ts";
import { journalFile } from "../../src/journal/journal.ts";
import { batchBytesMax, genesis } from "../../src/journal/line.ts";
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
import { aFew } from "../support/sampled.ts";
import { checkInThread, type SecondThread } from "../../src/journal/second-thread.ts";

const program = resolve(import.meta.dirname, "../../dist/chain-worker.cjs");
const dir = freshFolder();
let sound: Buffer;
let entries: readonly Entry[];
/** After which byte each line is whole, and how many lines the second thread checks. */
let ends: number[];
let besideLines = 0;

beforeAll(async () => {
  const { journal } = await openJournal(dir, still);
  const beginning = [
    skipped(1),
    surveyed("ü", "b"),
    ...Array.from({ length: 60 }, (_, n) => skipped(n + 3)),
  ];

  const long = Array.from({ length: 6 }, (_, n) => ({
    ...skipped(n),
    step: "x".repeat(batchBytesMax / 5),
  }));
  entries = [
    beginning,
    long.slice(0, 1),
    long.slice(1, 3),
    long.slice(3, 5),
    long.slice(5),
  ].flatMap((events) => journal.appendSync(events));

  await journal.close();
  sound = readBytes(dir);
  ends = [...sound.entries()].filter(([, byte]) => byte === 10).map(([at]) => at + 1);
  besideLines = ends.filter((end) => end <= sound.length - batchBytesMax).length;
});
afterAll(sweep);

function long(n: number): Event {
  return {
    event: "step_skipped",
    actor: "system",
    reason_code: "ok",
    walk: String(n),
    step: "x".repeat(batchBytesMax / 5),
  };
}

type Reported = {
  entries: Entry[];
  asked: number;
  line: number | null;
  detail: string | null;
  end: number;
};

/** Walks the journal with the real second thread, or with another one that stands for it. */
function walk(
  second: (real: SecondThread | null) => SecondThread | null = (real) => real,
  onEntry?: (entry: Entry) => void,
): Reported {
  const reported: Reported = { entries: [], asked: 0, line: null, detail: null, end: 0 };
  const fd = openSync(join(dir, journalFile), "r");

  try {
    const check = (stretch: Parameters<typeof checkInThread>[0]) => {
      const real = second(checkInThread(stretch, program));
      return real === null
        ? null
        : {
            ...real,
            waitForVerdict: () => (reported.asked++, real.waitForVerdict()),
            cancel: () => (reported.asked++, real.cancel()),
          };
    };

    const walked = replayFrom(
      fd,
      genesis,
      onEntry ?? ((entry) => void reported.entries.push(entry)),
      { bytesMin: 0, check },
    );

    return { ...reported, end: walked.end.seq };
  } catch (error) {
    if (!(error instanceof JournalFailure) || error.trouble.kind !== "journal_damaged") throw error;
    return { ...reported, line: error.trouble.line, detail: error.trouble.detail };
  } finally {
    closeSync(fd);
  }
}

/** Without the entries, which are megabytes: only whether they are those that were written. */
function shown({
  entries: read,
  ...reported
}: Reported): Omit<Reported, "entries"> & { isWhole: boolean } {
  return { ...reported, isWhole: isDeepStrictEqual(read, entries) };
}

describe("the second thread", () => {
  test("checks all but the last lines, and what is read is what was written", () => {
    putBytes(dir, sound);
    expect(besideLines).toBe(63);
    expect(shown(walk())).toEqual({
      isWhole: true,
      asked: 1,
      line: null,
      detail: null,
      end: entries.length,
    });
  });

  test.each([
    ["that cannot be had", () => null, 0],
    [
      "whose answer never comes",
      () => ({ waitForVerdict: () => null, cancel: () => undefined }),
      1,
    ],
  ])("%s costs nothing but time", (_, second, asked) => {
    putBytes(dir, sound);
    expect(shown(walk(second))).toEqual({
      isWhole: true,
      asked,
      line: null,
      detail: null,
      end: entries.length,
    });
  });

  test("tells any flipped bit of its lines", () => {
    const fd = openSync(join(dir, journalFile), "r+");
    const endByte = ends[1] ?? 0;
    let missed = 0;

    for (let bit = 0; bit < endByte * 8; bit++) {
      const at = bit >> 3;
      writeSync(fd, Buffer.of((sound[at] ?? 0) ^ (1 << (bit & 7))), 0, 1, at);
      if (isSound({ fd, startByte: 0, endByte, previousHash: genesis.prev }, () => true) !== false)
        missed++;
      writeSync(fd, sound, at, 1, at);
    }

    expect(missed).toBe(0);
    expect(isSound({ fd, startByte: 0, endByte, previousHash: genesis.prev }, () => true)).toBe(
      true,
    );
    closeSync(fd);
  });
});

/** A line as somebody would forge it who knows the checksum and the chain. */
function forged(body: string | Buffer, prev: string): Buffer {
  const head = Buffer.concat([Buffer.from(body), Buffer.from(`,"prev":"${prev}"`)]);
  return Buffer.concat([
    head,
    Buffer.from(`,"crc":"${crc32(head).toString(16).padStart(8, "0")}"}\n`),
  ]);
}

describe("damage in front of the last lines", () => {
  /** Puts something in the place of one line and walks. */
  function withLine(line: number, content: Buffer | string): Reported {
    putBytes(
      dir,
      Buffer.concat([
        sound.subarray(0, ends[line - 2] ?? 0),
        Buffer.from(content),
        sound.subarray(ends[line - 1]),
      ]),
    );

    return walk();
  }

  const lineAt = (line: number): Buffer =>
    Buffer.from(sound.subarray(ends[line - 2] ?? 0, ends[line - 1]));
  const headAt = (line: number): string =>
    lineAt(line)
      .toString()
      .replace(/,"prev":.*\n$/, "");

  const prevAt = (line: number): string => hash("sha256", lineAt(line - 1).subarray(0, -1));
  const flipped = (line: number, text: string): Buffer => {
    const bytes = lineAt(line);
    const at = bytes.indexOf(text);
    expect(at).toBeGreaterThan(-1);
    bytes[at] = (bytes[at] ?? 0) ^ 1;

    return bytes;
  };

  aFew(5).each<readonly [string, () => Buffer | string, number, string]>([
    ["a letter of a value", () => flipped(40, "step-40"), 40, "its checksum does not match"],
    ["a letter of a name", () => flipped(40, "walk"), 40, "its checksum does not match"],
    ["a digit of its number", () => flipped(40, "40,"), 40, "its checksum does not match"],
    ["a letter of the hash", () => flipped(40, prevAt(40)), 40, "its checksum does not match"],
    ["a brace", () => flipped(40, '"}'), 40, "not an entry"],
    ["its newline", () => flipped(40, "\n"), 40, "its checksum does not match"],
    ["all of it", () => Buffer.alloc(300, "\n"), 40, "not an entry"],
    ["zeros instead", () => Buffer.alloc(300), 40, "not an entry"],
    ["nothing instead", () => "", 40, "it does not continue the line before"],
    [
      "twice",
      () => Buffer.concat([lineAt(40), lineAt(40)]),
      41,
      "it does not continue the line before",
    ],
    [
      "forged, and the next line does not follow",
      () => forged(headAt(40), prevAt(40)).toString().replace("step-40", "step-41"),
      40,
      "its checksum does not match",
    ],
    [
      "forged with its own checksum",
      () => forged(headAt(40).replace("step-40", "other"), prevAt(40)),
      41,
      "it does not continue the line before",
    ],
    [
      "another number",
      () => forged(headAt(40).replace('"seq":40', '"seq":41'), prevAt(40)),
      40,
      "its number is 41, not 40",
    ],
    [
      "an older epoch",
      () => forged(headAt(40).replace('"epoch":1', '"epoch":0'), prevAt(40)),
      40,
      "its epoch is older than the line before",
    ],
    [
      "no JSON",
      () => forged(headAt(40).slice(0, -1), prevAt(40)),
      40,
      "its number is undefined, not 40",
    ],
    [
      "no text",
      () => forged(Buffer.concat([Buffer.from(headAt(40)), Buffer.from([44, 0xff])]), prevAt(40)),
      40,
      "not UTF-8",
    ],
    [
      "a line beyond the limit",
      () => Buffer.concat([Buffer.alloc(2 ** 20 + 9, "x"), Buffer.from("\n")]),
      40,
      "longer than 1048576 bytes",
    ],
  ])("is found at its line: %s", (_, content, line, detail) => {
    expect(shown(withLine(40, content()))).toMatchObject({ line, detail, asked: 1 });
  });

  aFew(2).each([1, 2, 63, 62])(
    "is found in line %i, the first and the last that it checks among them",
    (line) => {
      expect(shown(withLine(line, flipped(line, '"ok"')))).toMatchObject({ line, asked: 1 });
    },
  );

  test("comes before what a reader makes of a damaged line", () => {
    putBytes(
      dir,
      Buffer.concat([
        sound.subarray(0, ends[38]),
        flipped(40, "step-40"),
        sound.subarray(ends[39]),
      ]),
    );

    const refuse = ({ seq }: Entry): void => {
      if (seq === 40) throw new Error("the reader cannot make sense of it");
    };
    expect(shown(walk(undefined, refuse))).toMatchObject({ line: 40 });
    putBytes(dir, sound);
    expect(() => walk(undefined, refuse)).toThrow("the reader cannot make sense of it");
  });
});

test("a cut tail behind checked lines is torn as ever, and a journal of seventeen megabytes is verified by both threads", async () => {
  putBytes(dir, sound.subarray(0, sound.length - 1));
  expect(shown(walk())).toMatchObject({ end: entries.length - 1, line: null });

  const large = freshFolder();
  const { journal } = await openJournal(large, still);
  for (let n = 0; n < 21; n++) journal.appendSync([long(n)]);
  await journal.close();
  expect(verifyJournal(large)).toMatchObject({ ok: true, events: 21 });
  const bytes = readBytes(large);
  bytes[bytes.length / 2] = 0;
  putBytes(large, bytes);
  expect(verifyJournal(large)).toMatchObject({ ok: false, events: 10, damaged_line: 11 });
});
