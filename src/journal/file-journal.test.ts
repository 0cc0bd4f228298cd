import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { Entry, Event } from "../contracts/event.ts";
import { InvariantBroken } from "../kit/invariant.ts";
import { faultyDisk } from "./faulty-disk.test-support.ts";
import { openJournal } from "./file-journal.ts";
import { lineBytesMax } from "./line.ts";
import { findOwner } from "./owner.ts";
import {
  readBytes,
  entryEvents,
  failureFrom,
  freshFolder,
  grouped,
  putBytes,
  skipped,
  still,
  surveyed,
  sweep,
} from "./scene.test-support.ts";

afterAll(sweep);

async function written(...events: Event[]): Promise<{ dir: string; entries: readonly Entry[] }> {
  const dir = freshFolder();
  const { journal } = await openJournal(dir, still);
  const entries = journal.appendSync(events);
  await journal.close();

  return { dir, entries };
}

describe("a journal", () => {
  test("gives back after reopening what it acknowledged, under a new epoch", async () => {
    const { dir, entries } = await written(skipped(1), surveyed("a", "b"));
    const again = await openJournal(dir, still);
    expect(again.entries).toStrictEqual(entries);
    expect(again).toMatchObject({ snapshot: null, repaired: null });
    const [third] = await again.journal.append([skipped(3)]);
    expect(third).toMatchObject({ seq: 3, epoch: 2 });
    expect(again.journal.position).toMatchObject({ seq: 3, byte: readBytes(dir).length });
    await again.journal.close();
  });

  test("keeps its files to their owner", async () => {
    const { dir } = await written(skipped(1));
    const { journal } = await openJournal(dir, still);
    const hash = await journal.putBlob("x");
    await journal.snapshot({ seq: 1 });
    await journal.close();
    const mode = (...path: string[]) => statSync(join(dir, ...path)).mode & 0o777;
    expect([
      mode("journal.jsonl"),
      mode("journal.lock"),
      mode("snapshot.json"),
      mode("blobs", hash.slice(0, 2), hash),
    ]).toEqual([0o600, 0o600, 0o600, 0o600]);

    expect([mode(), mode("blobs"), mode("blobs", hash.slice(0, 2))]).toEqual([0o700, 0o700, 0o700]);
  });

  test("hands a long tail to a callback and gathers nothing", async () => {
    const { dir, entries } = await written(skipped(1), skipped(2));
    const seen: Entry[] = [];
    const opened = await openJournal(dir, { ...still, onEntry: (entry) => seen.push(entry) });
    expect([seen, opened.entries]).toEqual([entries, []]);
    await opened.journal.close();
  });

  test("counts active time on from where it was, and never back", async () => {
    const dir = freshFolder();
    let clock = 1000;
    const options = { ...still, activeMs: () => clock };
    const first = await openJournal(dir, options);
    clock = 1250.9;
    expect(first.journal.appendSync([skipped(1)])).toMatchObject([{ active_ms: 250 }]);
    clock = 900;
    expect(first.journal.appendSync([skipped(2)])).toMatchObject([{ active_ms: 250 }]);
    await first.journal.close();
    clock = 5;
    const second = await openJournal(dir, options);
    clock = 15;
    expect(second.journal.appendSync([skipped(3)])).toMatchObject([{ active_ms: 260 }]);
    await second.journal.close();
  });

  test("has one owner at a time, and says who", async () => {
    const { dir } = await written(skipped(1));
    const { journal } = await openJournal(dir, still);
    expect(await failureFrom(openJournal(dir, still))).toMatchObject({
      kind: "run_locked",
      trouble: { pid: process.pid },
    });

    expect(findOwner(dir)).toMatchObject({ pid: process.pid });
    await journal.close();
    await journal.close();
    expect(findOwner(dir)).toBeNull();
    await (await openJournal(dir, still)).journal.close();
  });

  test("takes nothing after it was closed", async () => {
    const { journal } = await openJournal(freshFolder(), grouped);
    await journal.close();
    await expect(journal.append([skipped(1)])).rejects.toThrow(InvariantBroken);
  });

  test("refuses an event that belongs in a blob, and goes on", async () => {
    const { journal } = await openJournal(freshFolder(), grouped);
    const large = { ...skipped(1), step: "x".repeat(lineBytesMax) } as Event;
    expect(await failureFrom(journal.append([skipped(1), large]))).toMatchObject({
      kind: "event_too_large",
    });

    expect(await journal.append([skipped(1)])).toMatchObject([{ seq: 1 }]);
    await journal.close();
  });

  test("is closed after it refused events, though nothing was written since", async () => {
    const { journal } = await openJournal(freshFolder(), grouped);
    const half = { ...skipped(1), step: "x".repeat(lineBytesMax / 2) } as Event;
    expect(await failureFrom(journal.append([half, half, half, half]))).toMatchObject({
      kind: "event_too_large",
    });

    await journal.close();
  });
});

describe("a commit", () => {
  test("is one write and one sync, however many events", async () => {
    const disk = faultyDisk(null);
    const { journal } = await openJournal(freshFolder(), { ...still, disk });
    disk.calls.length = 0;
    await journal.append([skipped(1), skipped(2), skipped(3)]);
    await journal.append([]);
    expect(disk.calls).toEqual(["write", "fdatasync"]);
    await journal.close();
  });

  test("is shared by everything that was appended while the disk was busy", async () => {
    const disk = faultyDisk(null);
    const dir = freshFolder();
    const { journal } = await openJournal(dir, { ...grouped, disk });
    disk.calls.length = 0;
    const acknowledged: number[] = [];
    const note = (entries: readonly Entry[]) => acknowledged.push(...entries.map(({ seq }) => seq));
    const first = [1, 2, 3].map((n) => journal.append([skipped(n)]).then(note));
    await Promise.resolve().then(() => undefined);
    const second = [4, 5].map((n) => journal.append([skipped(n)]).then(note));
    await Promise.all([...first, ...second]);
    expect(acknowledged).toEqual([1, 2, 3, 4, 5]);
    expect(disk.calls).toEqual(["write", "fdatasync", "write", "fdatasync"]);
    expect(() => journal.appendSync([skipped(6)])).toThrow(InvariantBroken);
    await journal.close();
  });

  test("still under way is waited for by close", async () => {
    const dir = freshFolder();
    const { journal } = await openJournal(dir, grouped);
    const appended = journal.append([skipped(1)]);
    await journal.close();
    expect(await appended).toHaveLength(1);
  });

  test("splits what would be too much for one write", async () => {
    const dir = freshFolder();
    const { journal } = await openJournal(dir, grouped);
    const large = { ...skipped(1), step: "x".repeat(lineBytesMax - 1000) } as Event;
    const appended = await Promise.all([1, 2, 3, 4, 5, 6].map(() => journal.append([large])));
    expect(appended.flat().map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6]);
    await journal.close();
    const again = await openJournal(dir, still);
    expect(again.entries).toHaveLength(6);
    await again.journal.close();
  });
});

describe("a failing disk", () => {
  test.each([still, grouped])(
    "that fails to sync ends the journal for good ($commit)",
    async (options) => {
      const dir = freshFolder();
      const disk = faultyDisk({ nth: 3, code: "EIO", lasts: "once", only: ["fdatasync"] });
      const { journal } = await openJournal(dir, { ...options, disk });
      const [kept] = await journal.append([skipped(1)]);
      const failure = await failureFrom(journal.append([skipped(2)]));
      expect(disk.failed).toEqual(["fdatasync"]);
      expect(failure).toMatchObject({ kind: "journal_unwritable" });
      disk.calls.length = 0;
      expect(await failureFrom(journal.append([skipped(3)]))).toBe(failure);
      expect(disk.calls).toEqual([]);
      await journal.close();
      const again = await openJournal(dir, still);
      expect(again.entries).toEqual([kept]);
      await again.journal.close();
    },
  );

  test.each([still, grouped])(
    "that is full loses nothing acknowledged ($commit)",
    async (options) => {
      const dir = freshFolder();
      // The first write is the owner's name in the lock file.
      const disk = faultyDisk({ nth: 3, code: "ENOSPC", lasts: "once", only: ["write"] });
      const { journal } = await openJournal(dir, { ...options, disk });
      const [kept] = await journal.append([skipped(1)]);
      const sizeBefore = readBytes(dir).length;
      expect(await failureFrom(journal.append([skipped(2)]))).toMatchObject({ kind: "disk_full" });
      expect(disk.failed).toEqual(["write"]);
      expect(readBytes(dir).length).toBe(sizeBefore);
      await journal.close();
      const again = await openJournal(dir, still);
      expect(again).toMatchObject({ entries: [kept], repaired: null });
      await again.journal.close();
    },
  );

  test("that takes a write in pieces is written to until all is there", async () => {
    const dir = freshFolder();
    const whole = faultyDisk(null);

    const disk = {
      ...whole,
      write: (
        fd: number,
        bytes: Uint8Array,
        offset: number,
        length: number,
        position: number | null,
      ) => whole.write(fd, bytes, offset, Math.min(length, 7), position),
    };

    const { journal } = await openJournal(dir, { ...still, disk });
    const entries = journal.appendSync([skipped(1), skipped(2)]);
    expect(whole.calls.filter((call) => call === "write").length).toBeGreaterThan(60);
    await journal.close();
    const again = await openJournal(dir, still);
    expect(again.entries).toEqual(entries);
    await again.journal.close();
  });
});

describe("opening", () => {
  test("cuts a torn last line, says so, and goes on", async () => {
    const { dir, entries } = await written(skipped(1), skipped(2));
    const sound = readBytes(dir);
    putBytes(dir, Buffer.concat([sound, Buffer.from('{"seq":3,"ep')]));
    const again = await openJournal(dir, still);
    expect(again.repaired).toEqual({ cut_bytes: 12, at_byte: sound.length });
    expect(again.entries.slice(0, 2)).toEqual(entries);
    expect(entryEvents(again.entries.slice(2))).toEqual([
      {
        event: "journal_repaired",
        actor: "system",
        reason_code: "journal_repaired",
        cut_bytes: 12,
        at_byte: sound.length,
      },
    ]);

    await again.journal.close();
    const third = await openJournal(dir, still);
    expect(third).toMatchObject({ repaired: null, entries: again.entries });
    await third.journal.close();
  });

  test("begins anew where nothing was ever acknowledged", async () => {
    const { dir } = await written(skipped(1));
    putBytes(dir, readBytes(dir).subarray(0, 50));
    const again = await openJournal(dir, still);
    expect(again).toMatchObject({ repaired: { cut_bytes: 50, at_byte: 0 }, entries: [] });
    expect(again.journal.appendSync([skipped(1)])).toMatchObject([{ seq: 1 }]);
    await again.journal.close();
  });

  test("refuses damage in the middle with line and byte, and changes nothing", async () => {
    const { dir } = await written(skipped(1), skipped(2), skipped(3));
    const bytes = readBytes(dir);
    const secondAt = bytes.indexOf(10) + 1;
    bytes[secondAt + 40] = 88;
    putBytes(dir, bytes);
    expect(await failureFrom(openJournal(dir, still))).toMatchObject({
      kind: "journal_damaged",
      trouble: { line: 2, byte: secondAt },
    });

    expect(readBytes(dir)).toEqual(bytes);
  });

  test("refuses a chain that was fixed by somebody who knew the checksum", async () => {
    const { dir } = await written(skipped(1), skipped(2), skipped(3));
    const lines = readBytes(dir).toString().split("\n");
    putBytes(dir, [lines[0], lines[2], ""].join("\n"));
    expect(await failureFrom(openJournal(dir, still))).toMatchObject({
      trouble: { line: 2, detail: "it does not continue the line before" },
    });
  });

  test("refuses a newer format by its version", async () => {
    const { dir } = await written(skipped(1));
    const newer = '{"seq":1,"journal":2,"something":"else"}\n';
    putBytes(dir, newer);
    expect(await failureFrom(openJournal(dir, still))).toMatchObject({
      kind: "journal_newer",
      trouble: { version: 2 },
    });

    expect(readBytes(dir).toString()).toBe(newer);
  });

  test("refuses a link or a folder in the file's place", async () => {
    const linked = freshFolder();
    mkdirSync(linked);
    writeFileSync(join(linked, "elsewhere"), "secret");
    symlinkSync(join(linked, "elsewhere"), join(linked, "journal.jsonl"));
    expect(await failureFrom(openJournal(linked, still))).toMatchObject({
      kind: "journal_damaged",
      trouble: { line: 1, byte: 0 },
    });

    expect(readFileSync(join(linked, "elsewhere"), "utf8")).toBe("secret");
    const folder = freshFolder();
    mkdirSync(join(folder, "journal.jsonl"), { recursive: true });
    expect(await failureFrom(openJournal(folder, still))).toMatchObject({
      kind: "journal_damaged",
      trouble: { line: 1, byte: 0 },
    });
  });

  test("gives the lock back when it fails", async () => {
    const { dir } = await written(skipped(1), skipped(2));
    const sound = readBytes(dir);
    const bad = Buffer.from(sound);
    bad[10] = 0;
    putBytes(dir, bad);
    expect(await failureFrom(openJournal(dir, still))).toMatchObject({ kind: "journal_damaged" });
    putBytes(dir, sound);
    await (await openJournal(dir, still)).journal.close();
  });
});
