import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import type { Entry } from "../contracts/event.ts";
import { nodeDisk } from "./disk.ts";
import { faultyDisk } from "./faulty-disk.test-support.ts";
import { openJournal } from "./file-journal.ts";
import {
  readBytes,
  failureFrom,
  freshFolder,
  putBytes,
  skipped,
  still,
  sweep,
} from "./scene.test-support.ts";
import { writeSnapshot } from "./snapshot.ts";

afterAll(sweep);

let dir: string;
let path: string;
let entries: readonly Entry[];
const state = { seq: 2, text: 'ü "state": }', nested: { deep: [1, null, "state"] } };

beforeEach(async () => {
  dir = freshFolder();
  path = join(dir, "snapshot.json");
  const { journal } = await openJournal(dir, still);
  const before = journal.appendSync([skipped(1), skipped(2)]);
  expect(await journal.snapshot(state)).toBe(true);
  entries = [...before, ...journal.appendSync([skipped(3)])];
  await journal.close();
});

async function reopened() {
  const opened = await openJournal(dir, still);
  await opened.journal.close();
  return opened;
}

describe("a snapshot", () => {
  test("spares what came before it", async () => {
    const { snapshot, entries: read, journal } = await reopened();
    expect(snapshot).toEqual(state);
    expect(read).toEqual(entries.slice(2));
    expect(journal.position.seq).toBe(3);
    expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({ snapshot: 1, seq: 2, state });
  });

  test("of the very end leaves nothing to read, and the next line continues the chain", async () => {
    const first = await openJournal(dir, still);
    await first.journal.snapshot({ seq: 3 });
    await first.journal.close();
    const second = await openJournal(dir, still);
    expect(second).toMatchObject({ snapshot: { seq: 3 }, entries: [] });
    expect(second.journal.appendSync([skipped(4)])).toMatchObject([{ seq: 4, epoch: 2 }]);
    await second.journal.close();
    rmSync(path);
    expect((await reopened()).entries).toHaveLength(4);
  });

  test("is not taken of a state that lags behind", async () => {
    const { journal } = await openJournal(dir, still);
    expect(await journal.snapshot({ seq: 2 })).toBe(false);
    await journal.close();
  });

  test("is not written if it would be too large to be read, and the one before is kept", async () => {
    const { position } = (await reopened()).journal;
    const wasWritten = writeSnapshot(nodeDisk, dir, position, { text: "x".repeat(1000) }, 1000);
    expect(wasWritten).toBe(false);
    expect((await reopened()).snapshot).toEqual(state);
  });

  test("may be refused by whoever can no longer read it, and all is replayed", async () => {
    const { journal, ...opened } = await openJournal(dir, { ...still, onSnapshot: () => false });
    await journal.close();
    expect(opened).toMatchObject({ snapshot: null, entries });
  });

  test("that fails to be written does no harm", async () => {
    const disk = faultyDisk({ nth: 1, code: "ENOSPC", lasts: "once", only: ["rename"] });
    const { journal } = await openJournal(dir, { ...still, disk });
    expect(await failureFrom(journal.snapshot({ seq: 3 }))).toMatchObject({ kind: "disk_full" });
    expect(disk.failed).toEqual(["rename"]);
    expect(await journal.append([skipped(4)])).toHaveLength(1);
    await journal.close();
    expect(await reopened()).toMatchObject({ snapshot: state });
  });

  test.each([
    ["is empty", ""],
    ["is of another format", '{"snapshot":2,"state":{}}\n'],
    ["is no JSON", "\0\0\0\0"],
  ])("is ignored if it %s", async (_, content) => {
    writeFileSync(path, content);
    expect(await reopened()).toMatchObject({ snapshot: null, entries });
  });

  test("is ignored beside a journal it was not taken of", async () => {
    const bytes = readBytes(dir);
    const other = freshFolder();
    const { journal } = await openJournal(other, {
      ...still,
      now: () => "2026-01-02T03:04:05.679Z",
    });
    const foreign = journal.appendSync([skipped(1), skipped(2), skipped(3)]);
    await journal.close();
    expect(readBytes(other).length).toBe(bytes.length);
    putBytes(dir, readBytes(other));
    expect(await reopened()).toMatchObject({ snapshot: null, entries: foreign });
  });

  test("does not hide damage after it", async () => {
    const bytes = readBytes(dir);
    const { journal } = await openJournal(dir, still);
    journal.appendSync([skipped(4)]);
    await journal.close();
    const damaged = readBytes(dir);
    damaged[bytes.length - 120] = 0;
    putBytes(dir, damaged);
    expect(await failureFrom(openJournal(dir, still))).toMatchObject({
      kind: "journal_damaged",
      trouble: { line: 3 },
    });
  });
});
