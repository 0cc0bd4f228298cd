import { execFileSync } from "node:child_process";
import { closeSync, ftruncateSync, mkdirSync, openSync, writeSync } from "node:fs";
import { hash } from "node:crypto";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { afterAll, describe, expect, test } from "vitest";
import type { Entry, Event } from "../contracts/event.ts";
import { openJournal } from "./file-journal.ts";
import { readJournal, verifyJournal } from "./read.ts";
import {
  readBytes,
  failureFrom,
  freshFolder,
  putBytes,
  skipped,
  still,
  sweep,
} from "./scene.test-support.ts";

afterAll(sweep);

async function written(count: number): Promise<string> {
  const dir = freshFolder();
  const { journal } = await openJournal(dir, still);
  journal.appendSync(Array.from({ length: count }, (_, n) => skipped(n + 1)));
  await journal.close();

  return dir;
}

describe("a reader", () => {
  test("needs no lock, overlooks a line under way, and reads on from where it was", async () => {
    const dir = freshFolder();
    const { journal } = await openJournal(dir, still);
    journal.appendSync([skipped(1)]);
    const sound = readBytes(dir);
    putBytes(dir, Buffer.concat([sound, Buffer.from('{"seq":2,')]));
    const seen: number[] = [];
    const onEntry = ({ seq }: Entry) => void seen.push(seq);
    const first = readJournal(dir, { startAt: "start", onEntry });
    expect(first).toMatchObject({ torn: { bytes: 9 }, end: { seq: 1, byte: sound.length } });
    putBytes(dir, sound);
    journal.appendSync([skipped(2), skipped(3)]);
    const second = readJournal(dir, { startAt: first.end, onEntry });
    expect(seen).toEqual([1, 2, 3]);
    expect(second.torn).toBeNull();
    expect(readJournal(dir, { startAt: second.end, onEntry }).end).toEqual(second.end);
    await journal.close();
  });

  test("finds no entries where no journal is yet", () => {
    expect(readJournal(freshFolder(), {})).toMatchObject({
      end: { seq: 0 },
      torn: null,
      snapshot: null,
    });
  });

  test("crosses the edges of what it reads at once", async () => {
    const dir = freshFolder();
    const { journal } = await openJournal(dir, still);
    const lengths = [1_048_000, 10, 1_047_000, 3, 500_000, 900_000, 1];
    for (const length of lengths) {
      journal.appendSync([{ ...skipped(1), step: "ü".repeat(length / 2) } as Event]);
    }

    await journal.close();
    const read: number[] = [];
    readJournal(dir, { onEntry: (entry) => read.push((entry as { step: string }).step.length) });
    expect(read).toEqual(lengths.map((length) => Math.floor(length / 2)));
  });
});

describe("verifying", () => {
  test("counts what is sound and names what is not", async () => {
    const dir = await written(3);
    const sound = readBytes(dir);
    expect(verifyJournal(dir)).toEqual({
      ok: true,
      events: 3,
      damaged_line: null,
      damaged_byte: null,
      reason: null,
      torn_bytes: 0,
    });

    putBytes(dir, sound.subarray(0, sound.length - 1));
    expect(verifyJournal(dir)).toMatchObject({ ok: true, events: 2 });
    sound[5] = 0;
    putBytes(dir, sound);
    expect(verifyJournal(dir)).toMatchObject({
      ok: false,
      events: 0,
      damaged_line: 1,
      damaged_byte: 0,
      reason: "its checksum does not match",
    });

    expect(verifyJournal(freshFolder())).toMatchObject({
      ok: false,
      reason: "there is no journal here",
    });
  });

  test("does not believe a snapshot", async () => {
    const dir = await written(2);
    const { journal } = await openJournal(dir, still);
    await journal.snapshot({ seq: 2 });
    await journal.close();
    const bytes = readBytes(dir);
    bytes[100] = 0;
    putBytes(dir, bytes);
    expect(verifyJournal(dir)).toMatchObject({ ok: false, damaged_line: 1 });
  });
});

/** A line as somebody would forge it who knows the checksum and the chain. */
function forged(body: string | Buffer, prev = "0".repeat(64)): Buffer {
  const head = Buffer.concat([Buffer.from(body), Buffer.from(`,"prev":"${prev}"`)]);
  return Buffer.concat([
    head,
    Buffer.from(`,"crc":"${crc32(head).toString(16).padStart(8, "0")}"}\n`),
  ]);
}

describe("a hostile journal", () => {
  const good =
    '{"seq":1,"journal":1,"epoch":1,"ts":"t","active_ms":0,"event":"step_skipped","actor":"system","reason_code":"ok"';

  test.each([
    ["no JSON", '{"seq":1,"journal":1,'],
    ["nested without end", `${good},"x":${"[".repeat(100_000)}`],
    [
      "bytes that are no text",
      Buffer.concat([Buffer.from(`${good},"x":"`), Buffer.from([0xff, 0xfe]), Buffer.from('"')]),
    ],
    ["an envelope only in __proto__", `{"__proto__":${good}}`],
    ["no version", good.replace('"journal":1,', "")],
    ["a version of another kind", good.replace('"journal":1', '"journal":"1"')],
    ["a number that is none", good.replace('"seq":1', '"seq":1e400')],
    ["another number", good.replace('"seq":1', '"seq":2')],
    ["no epoch", good.replace('"epoch":1', '"epoch":0')],
    ["time that runs back", good.replace('"active_ms":0', '"active_ms":-1')],
    ["no event", good.replace('"event":"step_skipped"', '"event":null')],
    ["no actor", good.replace('"actor":"system"', '"actor":{}')],
  ])("is refused at its place: %s", async (_, body) => {
    const dir = await written(0);
    putBytes(dir, forged(body));
    expect(verifyJournal(dir)).toMatchObject({ ok: false, damaged_line: 1, damaged_byte: 0 });
    expect(await failureFrom(openJournal(dir, still))).toMatchObject({ kind: "journal_damaged" });
  });

  test("with a key named __proto__ changes nobody's prototype", async () => {
    const dir = await written(0);
    const first = forged(`${good},"__proto__":{"polluted":true}`);
    const second = forged(
      '{"seq":2,"epoch":1,"ts":"t","active_ms":0,"event":"step_skipped","actor":"system","reason_code":"ok"',
      hash("sha256", first.subarray(0, -1)),
    );
    putBytes(dir, Buffer.concat([first, second]));
    const { entries, journal } = await openJournal(dir, still);
    await journal.close();
    expect(entries).toHaveLength(2);
    expect(Object.getPrototypeOf(entries[0])).toBe(Object.prototype);
    expect("polluted" in {}).toBe(false);
  });

  test("with a line of a gigabyte is refused at its place without reading it", async () => {
    const dir = await written(2);
    const size = readBytes(dir).length;
    const fd = openSync(join(dir, "journal.jsonl"), "r+");
    writeSync(fd, '{"seq":3', size);
    ftruncateSync(fd, 1024 ** 3);
    closeSync(fd);
    const before = process.memoryUsage().arrayBuffers;
    expect(verifyJournal(dir)).toMatchObject({
      ok: false,
      events: 2,
      damaged_line: 3,
      damaged_byte: size,
    });

    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(16 * 1024 ** 2);
    expect(await failureFrom(openJournal(dir, still))).toMatchObject({
      trouble: { line: 3, byte: size },
    });
  });

  test("with many bad lines and nothing sound after them is too much for a torn tail", async () => {
    const dir = await written(1);
    const sound = readBytes(dir);
    putBytes(dir, Buffer.concat([sound, Buffer.alloc(5 * 1024 ** 2, "\n")]));
    expect(await failureFrom(openJournal(dir, still))).toMatchObject({
      trouble: { line: 2, byte: sound.length },
    });
  });

  test("that ends in zeros, as some disks leave it after a power cut, is repaired", async () => {
    const dir = await written(1);
    putBytes(dir, Buffer.concat([readBytes(dir), Buffer.alloc(5000)]));
    const { repaired, journal } = await openJournal(dir, still);
    await journal.close();
    expect(repaired).toMatchObject({ cut_bytes: 5000 });
  });

  test.skipIf(process.platform === "win32")(
    "that is a pipe is refused, and nobody waits at it (Windows has no such pipes)",
    async () => {
      const dir = freshFolder();
      mkdirSync(dir);
      execFileSync("mkfifo", [join(dir, "journal.jsonl")]);
      expect(verifyJournal(dir)).toMatchObject({ ok: false, damaged_line: 1 });
      expect(await failureFrom(openJournal(dir, still))).toMatchObject({ kind: "journal_damaged" });
    },
  );
});
