import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { Entry } from "../contracts/event.ts";
import type { Disk } from "./disk.ts";
import { nodeDisk } from "./disk.ts";
import { type Fault, faultyDisk } from "./faulty-disk.test-support.ts";
import { openJournal } from "./file-journal.ts";
import { type Group, openGroup } from "./group.ts";
import type { Journal } from "./journal.ts";
import {
  entryEvents,
  failureFrom,
  freshFolder,
  grouped,
  skipped,
  still,
  sweep,
} from "./scene.test-support.ts";

afterEach(sweep);

type Scene = {
  readonly root: string;
  readonly group: Group;
  readonly journals: readonly Journal[];
};
const folderOf = (root: string, run: number): string => join(root, "runs", String(run));

async function scene(runs: number, disk: Disk = nodeDisk, logBytesMax?: number): Promise<Scene> {
  const root = freshFolder();
  const commitGroup = await openGroup(join(root, "commit"), {
    disk,
    ...(logBytesMax === undefined ? {} : { logBytesMax }),
  });

  const journals: Journal[] = [];
  for (let run = 0; run < runs; run++) {
    journals.push(
      (await openJournal(folderOf(root, run), { ...grouped, commitGroup, disk })).journal,
    );
  }

  return { root, group: commitGroup, journals };
}

async function closeAll({ group, journals }: Scene): Promise<void> {
  for (const journal of journals) await journal.close();
  group.close();
}

async function read(root: string, run: number): Promise<readonly Entry[]> {
  const { journal, entries } = await openJournal(folderOf(root, run), still);
  await journal.close();
  return entries;
}

test("appends of several runs share one sync, and each run's own journal has its lines at once", async () => {
  const disk = faultyDisk(null);
  const { root, group, journals } = await scene(8, disk);
  disk.calls.length = 0;
  await Promise.all(journals.map((journal, run) => journal.append([skipped(run)])));
  expect(disk.calls.filter((call) => call === "fdatasync")).toHaveLength(1);

  for (let run = 0; run < 8; run++) {
    expect(readFileSync(join(folderOf(root, run), "journal.jsonl"), "utf8")).toContain(
      `"step-${run}"`,
    );
  }

  await closeAll({ root, group, journals });
  for (let run = 0; run < 8; run++) {
    expect(entryEvents(await read(root, run))).toEqual([skipped(run)]);
  }
});

test("a run that is alone syncs its own file and writes no log", async () => {
  const { root, group, journals } = await scene(1);
  for (let n = 1; n <= 3; n++) await journals[0]?.append([skipped(n)]);
  expect(logsIn(root).map((log) => readFileSync(log, "utf8"))).toEqual([""]);
  await closeAll({ root, group, journals });
});

test("a disk without room for the zeros ahead of the log takes every line all the same", async () => {
  let refused = 0;
  const full: Disk = {
    ...nodeDisk,
    write(fd, bytes, offset, length, position) {
      if (length < 100_000) return nodeDisk.write(fd, bytes, offset, length, position);
      refused++;
      throw Object.assign(new Error("ENOSPC: no space left on device, write"), {
        code: "ENOSPC",
        syscall: "write",
      });
    },
  };
  const made = await scene(2, full);

  for (let n = 1; n <= 3; n++) {
    await Promise.all(made.journals.map((journal) => journal.append([skipped(n)])));
  }

  expect(refused).toBe(1);
  const [log = ""] = logsIn(made.root).map((path) => readFileSync(path, "utf8"));
  expect(log.match(/"step-\d"/g)).toEqual(
    ["step-1", "step-1", "step-2", "step-2", "step-3", "step-3"].map((step) => `"${step}"`),
  );

  expect(log).not.toContain("\0");
  await closeAll(made);
  for (const run of [0, 1]) expect(await read(made.root, run)).toHaveLength(3);
});

test("after all are closed neither a log nor a note is left", async () => {
  const made = await scene(3);
  await Promise.all(made.journals.map((journal) => journal.append([skipped(1)])));
  expect(logsIn(made.root)).toHaveLength(1);
  await closeAll(made);
  expect(logsIn(made.root)).toEqual([]);
  expect(
    [0, 1, 2].filter((run) => existsSync(join(folderOf(made.root, run), "commit.json"))),
  ).toEqual([]);
});

test("another group leaves the log of a living process alone", async () => {
  const made = await scene(2);
  await Promise.all(made.journals.map((journal) => journal.append([skipped(1)])));
  const other = await openGroup(join(made.root, "commit"));
  expect(logsIn(made.root)).toHaveLength(2);
  other.close();
  expect(logsIn(made.root)).toHaveLength(1);
  await closeAll(made);
});

test("whichever write or sync of the disk fails, everything acknowledged is there when the runs are opened anew", async () => {
  const onlyThen = ["write", "fdatasync", "ftruncate"] as const;
  let fired = 0;

  for (let nth = 1; nth <= 26; nth++) {
    const fault: Fault = { nth, code: "EIO", lasts: "once", only: onlyThen };
    const disk = faultyDisk(fault);
    const acknowledged = [0, 0, 0];
    const made = await scene(3, disk).catch(() => null);
    if (made === null) continue;
    for (let n = 1; n <= 3; n++) {
      const appended = made.journals.map((journal, run) =>
        journal.append([skipped(n)]).then(() => (acknowledged[run] = n)),
      );
      await Promise.allSettled(appended);
    }

    await Promise.allSettled(made.journals.map((journal) => journal.close()));
    made.group.close();
    fired += disk.failed.length;

    for (let run = 0; run < 3; run++) {
      const steps = (await read(made.root, run)).filter(({ event }) => event === "step_skipped");
      expect(steps.length, `fault ${nth}, run ${run}`).toBeGreaterThanOrEqual(
        acknowledged[run] ?? 0,
      );

      expect(entryEvents(steps)).toEqual(steps.map((_, index) => skipped(index + 1)));
    }
  }

  expect(fired).toBeGreaterThan(5);
});

test("a failed sync of the log is the last word of every run that shares it", async () => {
  const disk = faultyDisk({ nth: 1, code: "EIO", lasts: "for ever", only: ["fdatasync"] }, quiet());
  const root = freshFolder();
  const commitGroup = await openGroup(join(root, "commit"), { disk });
  const opened = await Promise.all(
    [0, 1].map((run) =>
      openJournal(folderOf(root, run), { ...grouped, commitGroup, disk: quiet() }),
    ),
  );
  const failures = await Promise.all(
    opened.map(({ journal }) => failureFrom(journal.append([skipped(1)]))),
  );
  expect(failures.map(({ kind }) => kind)).toEqual(["journal_unwritable", "journal_unwritable"]);
  expect(disk.failed.length).toBeGreaterThan(0);

  for (const { journal } of opened) {
    expect((await failureFrom(journal.append([skipped(2)]))).kind).toBe("journal_unwritable");
  }

  for (const { journal } of opened) await journal.close();
  commitGroup.close();
  for (let run = 0; run < 2; run++) expect(await read(root, run)).toEqual([]);
});

test("a run that closes while the log is emptied ends nothing for the others", async () => {
  const { disk, hold, release } = holdingDisk();
  const made = await scene(3, disk, 1);
  await appendToAll(made.journals, 1);
  const allHeld = hold(3);
  const appended = appendToAll(made.journals.slice(0, 2), 2);
  await allHeld;
  await made.journals[2]?.close();
  await release();
  await appended;
  await closeAll(made);
  expect(
    (await Promise.all([0, 1, 2].map((run) => read(made.root, run)))).map(({ length }) => length),
  ).toEqual([2, 2, 1]);
});

test("a run whose last sync fails while the log is emptied still finds its lines there", async () => {
  const { disk, hold, release, failNextSync } = holdingDisk();
  const made = await scene(3, disk, 1);
  await appendToAll(made.journals, 1);
  const allHeld = hold(3);
  const appended = Promise.allSettled(
    made.journals.slice(0, 2).map((journal) => journal.append([skipped(2)])),
  );

  await allHeld;
  failNextSync();
  expect((await failureFrom(made.journals[2]?.close() ?? Promise.resolve())).kind).toBe(
    "journal_unwritable",
  );

  await release();
  expect((await appended).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  await Promise.all(made.journals.map((journal) => journal.close()));
  made.group.close();

  for (const run of [0, 1, 2]) {
    expect(entryEvents(await read(made.root, run))).toEqual([skipped(1)]);
  }
});

test("a batch under way when another run's last sync fails is not acknowledged", async () => {
  const { disk, hold, release, failNextSync } = holdingDisk();
  const made = await scene(3, disk);
  const allHeld = hold(1);
  const appended = Promise.allSettled(
    made.journals.slice(0, 2).map((journal) => journal.append([skipped(1)])),
  );

  await allHeld;
  failNextSync();
  expect((await failureFrom(made.journals[2]?.close() ?? Promise.resolve())).kind).toBe(
    "journal_unwritable",
  );

  await release();
  expect((await appended).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  await Promise.all(made.journals.map((journal) => journal.close()));
  made.group.close();
});

const appendToAll = (journals: readonly Journal[], n: number): Promise<unknown> =>
  Promise.all(journals.map((journal) => journal.append([skipped(n)])));

/**
 * A disk that can put off its next asynchronous syncs (the promise: all have been asked for), and
 * fail its next synchronous one.
 */
function holdingDisk(): {
  disk: Disk;
  hold: (count: number) => Promise<void>;
  release: () => Promise<unknown>;
  failNextSync: () => void;
} {
  const held: (() => Promise<void>)[] = [];
  let holdCount = 0;
  let onAllHeld = (): void => undefined;
  let isFailing = false;

  const disk: Disk = {
    ...nodeDisk,
    fdatasync(fd) {
      if (!isFailing) return nodeDisk.fdatasync(fd);
      isFailing = false;
      throw Object.assign(new Error("EIO: i/o error, fdatasync"), {
        code: "EIO",
        syscall: "fdatasync",
      });
    },
    fdatasyncLater(fd, done) {
      if (holdCount === 0) return nodeDisk.fdatasyncLater(fd, done);
      holdCount--;
      held.push(
        () =>
          new Promise((resolve) => {
            nodeDisk.fdatasyncLater(fd, (error) => {
              done(error);
              resolve();
            });
          }),
      );

      if (holdCount === 0) onAllHeld();
    },
  };

  return {
    disk,
    hold(count) {
      holdCount = count;
      return new Promise((resolve) => (onAllHeld = resolve));
    },
    release: () => Promise.all(held.splice(0).map((sync) => sync())),
    failNextSync: () => void (isFailing = true),
  };
}

function quiet(): Disk {
  return { ...nodeDisk, fdatasync: () => undefined, fsync: () => undefined };
}

function logsIn(root: string): string[] {
  const folder = join(root, "commit");
  return readdirSync(folder).map((name) => join(folder, name));
}
