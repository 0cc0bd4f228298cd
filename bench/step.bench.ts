// What a whole step costs when the agent does nothing: the engine and the journal alone, for one
// run and for many in one process.

import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Event } from "../src/contracts/event.ts";
import { type Fold, openFold } from "../src/core/fold.ts";
import { drive } from "../src/engine/drive.ts";
import { systemClock } from "../src/project/runs/system-clock.ts";
import { type Disk, nodeDisk } from "../src/journal/disk.ts";
import { openJournal } from "../src/journal/file-journal.ts";
import { type Group, openGroup } from "../src/journal/group.ts";
import type { Journal } from "../src/journal/journal.ts";
import { bareRateOf } from "./bare-writers.ts";
import { interleave, isQuick, median, p50Of, ratioOf, report, withFolder } from "./measure.ts";
import { draftOf, stillRuntime } from "./still-runtime.ts";

const rounds = isQuick ? 6 : 20;
const stepsPerRun = 100;
/** A runner lives for hours: what its code costs before it is compiled is not what a step costs. */
const warmUpRounds = 30;
const event: Event = {
  event: "step_skipped",
  actor: "system",
  reason_code: "ok",
  walk: "1",
  step: "s".repeat(36),
};

const slowDisk: Disk = {
  ...nodeDisk,
  fdatasyncLater: (fd, done) => nodeDisk.fdatasyncLater(fd, (error) => setTimeout(done, 1, error)),
};

await withFolder(async (folder) => {
  const plain = await open(join(folder, "plain"), null);
  const appends: number[] = [];

  const slices = await interleave(
    [
      // In twos, as a step makes them: the median of a sum of waits is more than the sum of their
      // medians.
      { name: "append", slice: async () => (await p50Of(100, () => appendTwo(plain))) / 2 },
      {
        name: "step",
        slice: async () => median((await driveAll(folder, 1, "sync", appends)).stepsMs),
      },
    ],
    rounds,
    warmUpRounds,
  );
  report(
    "step",
    ratioOf(slices, "step", "append"),
    `an append takes ${(median(slices["append"] ?? []) * 1000).toFixed(0)} µs`,
  );

  report("step_appends", median(appends));
  await plain.close();

  // One run and many commit in the same way, so that the ratio tells what sharing gains.
  const rates = await interleave(
    [
      { name: "1", slice: () => rateOf(folder, 1) },
      { name: "16", slice: () => rateOf(folder, 16) },
      { name: "64", slice: () => rateOf(folder, 64) },
      { name: "bare 1", slice: () => bareRateOf(folder, 1, stepsPerRun) },
      { name: "bare 64", slice: () => bareRateOf(folder, 64, stepsPerRun) },
    ],
    Math.ceil(rounds / 2),
    1,
  );
  report(
    "steps_16",
    ratioOf(rates, "16", "1"),
    `one run makes ${Math.round(median(rates["1"] ?? []))} steps a second`,
  );

  report("steps_64", ratioOf(rates, "64", "1"));
  report(
    "bare_64",
    ratioOf(rates, "bare 64", "1"),
    `one bare writer makes ${Math.round(median(rates["bare 1"] ?? []))} such steps a second`,
  );

  // Common disks take a millisecond for a sync; here it is added, so that what sharing gains there
  // can be seen on a quick disk too.
  const slow = await interleave(
    [
      { name: "1", slice: () => rateOf(folder, 1, slowDisk) },
      { name: "16", slice: () => rateOf(folder, 16, slowDisk) },
      { name: "64", slice: () => rateOf(folder, 64, slowDisk) },
    ],
    isQuick ? 2 : 4,
    1,
  );
  report(
    "steps_16_slow",
    ratioOf(slow, "16", "1"),
    `one run makes ${Math.round(median(slow["1"] ?? []))} steps a second there`,
  );

  report("steps_64_slow", ratioOf(slow, "64", "1"));
});

async function appendTwo(journal: Journal): Promise<void> {
  for (let at = 0; at < 2; at++) await journal.append([event]);
}

async function open(
  folder: string,
  commitGroup: Group | null,
  disk: Disk = nodeDisk,
): Promise<Journal> {
  const clock = { disk, now: () => systemClock.now(), activeMs: () => systemClock.monotonicMs() };
  const { journal } = await openJournal(
    folder,
    commitGroup === null
      ? { commit: "sync", ...clock }
      : { commit: "group", commitGroup, ...clock },
  );
  return journal;
}

type Prepared = { readonly folder: string; readonly journal: Journal; readonly fold: Fold };
type Driven = { readonly stepsMs: readonly number[]; readonly ms: number };

/** Steps a second over all runs; opening them is not part of it. */
async function rateOf(folder: string, runs: number, disk: Disk = nodeDisk): Promise<number> {
  return (runs * stepsPerRun * 1000) / (await driveAll(folder, runs, "group", [], disk)).ms;
}

/**
 * Drives runs side by side to their end: the time of each step and of the whole, and the appends
 * each step took.
 */
async function driveAll(
  folder: string,
  runs: number,
  commit: "sync" | "group",
  appends: number[],
  disk: Disk = nodeDisk,
): Promise<Driven> {
  const group = commit === "sync" ? null : await openGroup(join(folder, "commit"), { disk });
  const prepared = await Promise.all(
    Array.from({ length: runs }, (_, at) => prepare(join(folder, `run-${at}`), group, disk)),
  );

  const began = performance.now();
  const stepsMs = await Promise.all(prepared.map((run) => driveOne(run, appends)));
  const ms = performance.now() - began;

  for (const run of prepared) {
    await run.journal.close();
    rmSync(run.folder, { recursive: true, force: true });
  }

  group?.close();
  return { stepsMs: stepsMs.flat(), ms };
}

async function prepare(folder: string, group: Group | null, disk: Disk): Promise<Prepared> {
  const journal = await open(folder, group, disk);
  const fold = openFold();

  const drafts = draftOf(stepsPerRun).map((draft) => ({
    actor: "system",
    reason_code: "ok",
    ...draft,
  }));
  for (const entry of await journal.append(drafts)) fold.apply(entry);
  return { folder, journal, fold };
}

async function driveOne({ journal, fold }: Prepared, appends: number[]): Promise<number[]> {
  const spent: number[] = [];
  let appended = 0;
  let last: { readonly at: number; readonly appended: number } | null = null;

  const runtime = stillRuntime(journal, (entry) => {
    if (entry.event !== "step_started") return;
    const now = { at: performance.now(), appended };

    if (last !== null) {
      spent.push(now.at - last.at);
      appends.push(now.appended - last.appended);
    }

    last = now;
  });
  const append: typeof runtime.journal.append = (events) => {
    appended++;
    return runtime.journal.append(events);
  };

  const why = await drive({ ...runtime, journal: { ...runtime.journal, append } }, fold);
  if (spent.length !== stepsPerRun - 1) {
    throw new Error(`Error: the run rested after ${spent.length + 1} steps: ${why}`);
  }

  return spent;
}
