// planner: a pool reduced to what its lease is about, on a machine that can be paused with its
// clocks. It takes the portfolio's journal under the lease and appends when it is told to.

import { createInterface } from "node:readline";
import { openPostgresStore } from "../../src/fleet/postgres/store.ts";
import { plannerKey } from "../../src/fleet/shared-mark.ts";
import { JournalFailure } from "../../src/journal/journal-failure.ts";
import { skipped } from "../../src/journal/scene.test-support.ts";

const [url = "", key = "", leaseMs = ""] = process.argv.slice(2);
const report = (word: string, more: object = {}): void =>
  void process.stdout.write(`${JSON.stringify({ word, at: Date.now(), ...more })}\n`);

const tickMs = 10;
let ticks = 0;
setInterval(() => void ticks++, tickMs); // stands still while it is stopped
const clock = { monotonicMs: () => ticks * tickMs, wallMs: () => ticks * tickMs };
const options = { now: () => new Date().toISOString(), activeMs: () => performance.now() };

const store = await openPostgresStore(url, {
  leaseMs: Number(leaseMs),
  worker: `planner-${process.pid}`,
  clock,
});
const { lease } = await store.open(plannerKey(key), "portfolio", options);
const { journal } = await store.open(key, "portfolio", { ...options, under: lease });
lease.lost.addEventListener("abort", () => report("lost"));
report("taken", { epoch: lease.epoch });
for await (const word of createInterface({ input: process.stdin })) {
  if (lease.isConfirmed()) report("believes");
  try {
    const [entry] = await journal.append([skipped(Number(word))]);
    report("kept", { seq: entry?.seq, step: `step-${word}` });
  } catch (error) {
    report("refused", { kind: error instanceof JournalFailure ? error.kind : String(error) });
  }
}
