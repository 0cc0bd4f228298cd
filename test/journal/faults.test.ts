// The disk refuses at every place, once or for ever: nothing acknowledged is lost, and the failure
// says what it is.

import { afterAll, describe, expect } from "vitest";
import type { Entry } from "../../src/contracts/event.ts";
import { JournalFailure } from "../../src/journal/journal-failure.ts";
import type { Fault, FaultyDisk } from "../../src/journal/faulty-disk.test-support.ts";
import { faultyDisk } from "../../src/journal/faulty-disk.test-support.ts";
import { openJournal } from "../../src/journal/file-journal.ts";
import type { JournalOptions } from "../../src/journal/journal.ts";
import { verifyJournal } from "../../src/journal/read.ts";
import { aFew } from "../support/sampled.ts";
import {
  readBytes,
  freshFolder,
  grouped,
  putBytes,
  skipped,
  still,
  surveyed,
  sweep,
} from "../../src/journal/scene.test-support.ts";

afterAll(sweep);

type Reported = {
  readonly acknowledged: Entry[];
  readonly failures: unknown[];
  isClosing: boolean;
};

/** A whole life of a run: begun, torn by a crash, taken up again. */
async function live(dir: string, options: JournalOptions): Promise<Reported> {
  const reported: Reported = { acknowledged: [], failures: [], isClosing: false };
  const keep = (entries: readonly Entry[]) => void reported.acknowledged.push(...entries);

  try {
    for (const isTorn of [true, false]) {
      reported.isClosing = false;
      const opened = await openJournal(dir, options);
      reported.acknowledged.length = 0;
      keep(opened.entries);
      const { journal } = opened;

      try {
        keep(await journal.append([skipped(1), surveyed("a")]));
        await journal.putBlob(`content ${String(isTorn)}`);
        const both = await Promise.allSettled([
          journal.append([skipped(2)]),
          journal.append([skipped(3)]),
        ]);
        for (const promiseSettledResult of both) {
          if (promiseSettledResult.status === "fulfilled") keep(promiseSettledResult.value);
          else throw promiseSettledResult.reason;
        }

        if (!isTorn) await journal.snapshot({ seq: journal.position.seq });
        keep(await journal.append([skipped(4)]));
      } finally {
        reported.isClosing = true;
        await journal.close();
      }

      if (isTorn) putBytes(dir, Buffer.concat([readBytes(dir), Buffer.from('{"seq":')]));
    }
  } catch (failure) {
    reported.failures.push(failure);
  }

  return reported;
}

async function suffer(fault: Fault, options: JournalOptions): Promise<FaultyDisk> {
  const dir = freshFolder();
  const disk = faultyDisk(fault);
  const reported = await live(dir, { ...options, disk });

  if (disk.failed.length > 0) {
    // Giving a run free is the one thing that may fail in silence: the kernel frees it anyway.
    if (!reported.isClosing || reported.failures.length > 0) {
      expect(reported.failures, `at ${disk.failed.join()}`).toHaveLength(1);
      expect(reported.failures[0]).toBeInstanceOf(JournalFailure);
      expect(reported.failures[0]).toMatchObject({
        kind: fault.code === "EIO" ? "journal_unwritable" : "disk_full",
      });
    }
  } else {
    expect(reported.failures).toEqual([]);
  }

  const again = await openJournal(dir, { ...still, onSnapshot: () => false });
  expect(again.entries.slice(0, reported.acknowledged.length)).toEqual(reported.acknowledged);
  expect(again.journal.appendSync([skipped(99)])).toHaveLength(1);
  await again.journal.close();
  expect(verifyJournal(dir)).toMatchObject({ ok: true, events: again.entries.length + 1 });

  return disk;
}

describe.each([still, grouped])("with commit $commit", (options) => {
  aFew(2).each<readonly ["ENOSPC" | "EDQUOT" | "EIO", "once" | "for ever"]>([
    ["ENOSPC", "once"],
    ["ENOSPC", "for ever"],
    ["EIO", "for ever"],
    ["EIO", "once"],
    ["EDQUOT", "once"],
  ])("%s at every n-th change of the disk, %s", async (code, lasts) => {
    const met = new Set<string>();
    let nth = 1;
    for (; ; nth++) {
      const disk = await suffer({ nth, code, lasts }, options);
      if (disk.failed.length === 0) break;
      met.add(disk.failed[0] ?? "");
    }

    // The faults did fire, and in every kind of call.
    expect([...met].sort()).toEqual([
      "fdatasync",
      "fsync",
      "ftruncate",
      "mkdir",
      "open",
      "rename",
      "write",
    ]);

    expect(nth).toBeGreaterThan(60);
  });
});
