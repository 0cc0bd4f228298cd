import { afterAll, expect, test } from "vitest";
import { openJournal } from "./file-journal.ts";
import { MemoryStore, openMemoryJournal } from "./memory-journal.test-support.ts";
import {
  readBytes,
  failureFrom,
  freshFolder,
  skipped,
  still,
  surveyed,
  sweep,
} from "./scene.test-support.ts";

afterAll(sweep);

test("memory and file hold the same bytes, hand back the same entries and stand at the same place", async () => {
  const dir = freshFolder();
  const store = new MemoryStore();

  for (const batches of [[[skipped(1)], [surveyed("ü"), skipped(2)]], [[]], [[skipped(3)]]]) {
    const file = await openJournal(dir, still);
    const memory = await openMemoryJournal(store, still);
    expect(memory.entries).toStrictEqual(file.entries);

    for (const batch of batches) {
      expect(await memory.journal.append(batch)).toStrictEqual(await file.journal.append(batch));
    }

    expect(memory.journal.position).toEqual(file.journal.position);
    expect(await memory.journal.putBlob("x")).toBe(await file.journal.putBlob("x"));
    await file.journal.close();
    await memory.journal.close();
  }

  expect(`${store.lines.join("\n")}\n`).toBe(readBytes(dir).toString());
});

test("memory has one owner, and one that was killed can write no more", async () => {
  const store = new MemoryStore();
  const { journal } = await openMemoryJournal(store, still);
  await journal.append([skipped(1)]);
  expect(await failureFrom(openMemoryJournal(store, still))).toMatchObject({
    kind: "run_locked",
    trouble: { pid: process.pid },
  });

  store.crash();
  const next = await openMemoryJournal(store, still);
  expect(next.entries).toHaveLength(1);
  expect(await failureFrom(journal.append([skipped(2)]))).toMatchObject({ kind: "run_locked" });
  await journal.close();
  expect(await next.journal.append([skipped(2)])).toMatchObject([{ seq: 2, epoch: 2 }]);
});

test("memory takes snapshots and blobs as a file does", async () => {
  const store = new MemoryStore();
  const { journal } = await openMemoryJournal(store, still);
  await journal.append([skipped(1)]);
  expect([await journal.snapshot({ seq: 0 }), await journal.snapshot({ seq: 1 })]).toEqual([
    false,
    true,
  ]);

  await journal.append([skipped(2)]);
  const name = await journal.putBlob("x");
  await journal.close();
  expect(await openMemoryJournal(store, { ...still, onSnapshot: () => false })).toMatchObject({
    snapshot: null,
    entries: [{ seq: 1 }, { seq: 2 }],
  });

  store.crash();
  const again = await openMemoryJournal(store, still);
  expect(again).toMatchObject({ snapshot: { seq: 1 }, entries: [{ seq: 2 }] });
  expect((await again.journal.readBlob(name)).toString()).toBe("x");
  expect(await failureFrom(again.journal.readBlob("0".repeat(64)))).toMatchObject({
    kind: "journal_damaged",
  });
});
