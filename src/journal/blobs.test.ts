import { hash } from "node:crypto";
import { existsSync, readdirSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { readBlob } from "./blobs.ts";
import { faultyDisk } from "./faulty-disk.test-support.ts";
import { openJournal } from "./file-journal.ts";
import { failureFrom, freshFolder, skipped, still, sweep } from "./scene.test-support.ts";

afterAll(sweep);

async function stored(content: string | Uint8Array) {
  const dir = freshFolder();
  const { journal } = await openJournal(dir, still);
  const name = await journal.putBlob(content);

  return { dir, journal, name, path: join(dir, "blobs", name.slice(0, 2), name) };
}

test("a blob is named by its hash and comes back as it was", async () => {
  const { dir, journal, name } = await stored("grüezi");
  expect(name).toBe(hash("sha256", "grüezi"));
  expect((await journal.readBlob(name)).toString()).toBe("grüezi");
  expect(await journal.putBlob(Buffer.from("grüezi"))).toBe(name);
  expect(readBlob(dir, await journal.putBlob(new Uint8Array(0)))).toHaveLength(0);
  await journal.close();
});

test("a blob that was changed or is gone is damage, and writing it again fixes it", async () => {
  const { dir, journal, name, path } = await stored("true");
  writeFileSync(path, "lies");
  expect(await failureFrom(journal.readBlob(name))).toMatchObject({ kind: "journal_damaged" });
  await journal.putBlob("true");
  expect(readBlob(dir, name).toString()).toBe("true");
  unlinkSync(path);
  expect(await failureFrom(journal.readBlob(name))).toMatchObject({ kind: "journal_damaged" });
  symlinkSync("/etc/hostname", path);
  expect(await failureFrom(journal.readBlob(name))).toMatchObject({ kind: "journal_damaged" });
  expect(await failureFrom(journal.readBlob("../../etc/passwd"))).toMatchObject({
    kind: "journal_damaged",
  });

  await journal.close();
});

test("a blob that the disk refused leaves nothing behind, and the journal goes no further", async () => {
  const dir = freshFolder();
  const disk = faultyDisk({ nth: 1, code: "ENOSPC", lasts: "once", only: ["rename"] });
  const { journal } = await openJournal(dir, { ...still, disk });
  const failure = await failureFrom(journal.putBlob("x"));
  expect(disk.failed).toEqual(["rename"]);
  expect(failure).toMatchObject({ kind: "disk_full" });
  expect(await failureFrom(journal.append([skipped(1)]))).toBe(failure);
  expect(
    existsSync(join(dir, "blobs")) &&
      readdirSync(join(dir, "blobs"), { recursive: true, withFileTypes: true }).filter((dirent) =>
        dirent.isFile(),
      ),
  ).toEqual([]);

  await journal.close();
});
