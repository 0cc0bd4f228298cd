import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { Entry } from "../contracts/event.ts";
import type { Disk } from "./disk.ts";
import { nodeDisk } from "./disk.ts";
import { type Fault, faultyDisk } from "./faulty-disk.ts";
import { openJournal } from "./file-journal.ts";
import { type Group, openGroup } from "./group.ts";
import type { Journal } from "./journal.ts";
import { entryEvents, failureFrom, freshFolder, grouped, skipped, still, sweep } from "./scene.ts";

afterEach(sweep);

type Scene = { readonly root: string; readonly group: Group; readonly journals: readonly Journal[] };
const folderOf = (root: string, run: number): string => join(root, "runs", String(run));

async function scene(runs: number, disk: Disk = nodeDisk): Promise<Scene> {
  const root = freshFolder();
  const group = await openGroup(join(root, "commit"), { disk });
  const journals: Journal[] = [];
  for (let run = 0; run < runs; run++) journals.push((await openJournal(folderOf(root, run), { ...grouped, group, disk })).journal);
  return { root, group, journals };
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
  for (let run = 0; run < 8; run++) expect(readFileSync(join(folderOf(root, run), "journal.jsonl"), "utf8")).toContain(`"step-${run}"`);
  await closeAll({ root, group, journals });
  for (let run = 0; run < 8; run++) expect(entryEvents(await read(root, run))).toEqual([skipped(run)]);
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
      throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC", syscall: "write" });
    },
  };
  const made = await scene(2, full);
  for (let n = 1; n <= 3; n++) await Promise.all(made.journals.map((journal) => journal.append([skipped(n)])));
  expect(refused).toBe(1);
  const [log = ""] = logsIn(made.root).map((path) => readFileSync(path, "utf8"));
  expect(log.match(/"step-\d"/g)).toEqual(["step-1", "step-1", "step-2", "step-2", "step-3", "step-3"].map((step) => `"${step}"`));
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
  expect([0, 1, 2].filter((run) => existsSync(join(folderOf(made.root, run), "commit.json")))).toEqual([]);
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
      const appended = made.journals.map((journal, run) => journal.append([skipped(n)]).then(() => (acknowledged[run] = n)));
      await Promise.allSettled(appended);
    }
    await Promise.allSettled(made.journals.map((journal) => journal.close()));
    made.group.close();
    fired += disk.failed.length;
    for (let run = 0; run < 3; run++) {
      const steps = (await read(made.root, run)).filter(({ event }) => event === "step_skipped");
      expect(steps.length, `fault ${nth}, run ${run}`).toBeGreaterThanOrEqual(acknowledged[run] ?? 0);
      expect(entryEvents(steps)).toEqual(steps.map((_, index) => skipped(index + 1)));
    }
  }
  expect(fired).toBeGreaterThan(5);
});

test("a failed sync of the log is the last word of every run that shares it", async () => {
  const disk = faultyDisk({ nth: 1, code: "EIO", lasts: "for ever", only: ["fdatasync"] }, quiet());
  const root = freshFolder();
  const group = await openGroup(join(root, "commit"), { disk });
  const opened = await Promise.all([0, 1].map((run) => openJournal(folderOf(root, run), { ...grouped, group, disk: quiet() })));
  const failures = await Promise.all(opened.map(({ journal }) => failureFrom(journal.append([skipped(1)]))));
  expect(failures.map(({ kind }) => kind)).toEqual(["journal_unwritable", "journal_unwritable"]);
  expect(disk.failed.length).toBeGreaterThan(0);
  for (const { journal } of opened) expect((await failureFrom(journal.append([skipped(2)]))).kind).toBe("journal_unwritable");
  for (const { journal } of opened) await journal.close();
  group.close();
  for (let run = 0; run < 2; run++) expect(await read(root, run)).toEqual([]);
});

function quiet(): Disk {
  return { ...nodeDisk, fdatasync: () => undefined, fsync: () => undefined };
}

function logsIn(root: string): string[] {
  const folder = join(root, "commit");
  return readdirSync(folder).map((name) => join(folder, name));
}
