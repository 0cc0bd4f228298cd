// What a durable event costs over the bare system calls: alone in both ways of committing, and with
// many runs in one process.

import { join } from "node:path";
import type { Event } from "../src/contracts/event.ts";
import { systemClock } from "../src/project/runs/system-clock.ts";
import { openJournal } from "../src/journal/file-journal.ts";
import { type Group, openGroup } from "../src/journal/group.ts";
import type { Journal } from "../src/journal/journal.ts";
import {
  interleave,
  isQuick,
  median,
  openBare,
  p50Of,
  ratioOf,
  report,
  withFolder,
} from "./measure.ts";

const rounds = isQuick ? 12 : 40;
const appendsPerSlice = isQuick ? 50 : 100;
/** Long enough that its line has the yardstick's 300 bytes. */
const event: Event = {
  event: "step_skipped",
  actor: "system",
  reason_code: "ok",
  walk: "1",
  step: "s".repeat(36),
};

await withFolder(async (folder) => {
  const bare = openBare(folder);
  const sync = await open(join(folder, "sync"), "sync");
  const alone = await openGroup(join(folder, "commit-alone"));
  const group = await open(join(folder, "group"), "group", alone);
  const shared = await openGroup(join(folder, "commit"));
  const many = await Promise.all(
    Array.from({ length: 64 }, (_, at) => open(join(folder, `run-${at}`), "group", shared)),
  );

  const slices = await interleave(
    [
      { name: "bare", slice: () => p50Of(appendsPerSlice, bare.append) },
      { name: "sync", slice: () => p50Of(appendsPerSlice, () => sync.append([event])) },
      { name: "group", slice: () => p50Of(appendsPerSlice, () => group.append([event])) },
    ],
    rounds,
  );

  const lineBytes = sync.position.byte / sync.position.seq;
  const note = `lines of ${lineBytes.toFixed(0)} bytes; the bare one takes ${(median(slices["bare"] ?? []) * 1000).toFixed(0)} µs`;
  report("append_sync", ratioOf(slices, "sync", "bare"), note);
  report("append_group", ratioOf(slices, "group", "bare"));

  const rates = await interleave(
    [
      { name: "bare", slice: () => rateOf([async () => bare.append()], appendsPerSlice) },
      { name: "16", slice: () => rateOf(many.slice(0, 16).map(appender), appendsPerSlice / 2) },
      { name: "64", slice: () => rateOf(many.map(appender), appendsPerSlice / 4) },
    ],
    rounds,
  );
  report("appends_16", ratioOf(rates, "16", "bare"));
  report("appends_64", ratioOf(rates, "64", "bare"));

  bare.close();
  for (const journal of [sync, group, ...many]) await journal.close();
  alone.close();
  shared.close();
});

async function open(
  folder: string,
  commit: "sync" | "group",
  commitGroup?: Group,
): Promise<Journal> {
  const clock = { now: () => systemClock.now(), activeMs: () => systemClock.monotonicMs() };
  const { journal } = await openJournal(folder, {
    commit,
    ...clock,
    ...(commitGroup === undefined ? {} : { commitGroup }),
  });
  return journal;
}

function appender(journal: Journal): () => Promise<unknown> {
  return () => journal.append([event]);
}

/**
 * Actions a second when each of the doers does `times` of them, one after the other, all side by
 * side.
 */
async function rateOf(doers: readonly (() => Promise<unknown>)[], times: number): Promise<number> {
  const began = performance.now();
  await Promise.all(
    doers.map(async (action) => {
      for (let at = 0; at < times; at++) await action();
    }),
  );

  return (doers.length * times * 1000) / (performance.now() - began);
}
