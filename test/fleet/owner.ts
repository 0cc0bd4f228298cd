// owner: a worker reduced to what a lease is about. It writes a line, asks before it spends, and
// says everything on stdout; it never gives up by itself.

import { setTimeout as sleep } from "node:timers/promises";
import { openPostgresStore } from "../../src/fleet/postgres/store.ts";
import { JournalFailure } from "../../src/journal/journal-failure.ts";
import { skipped } from "../../src/journal/scene.test-support.ts";

const [url = "", run = "", leaseMs = ""] = process.argv.slice(2);
const report = (word: string, more: object = {}): void =>
  void process.stdout.write(`${JSON.stringify({ word, at: Date.now(), ...more })}\n`);

const store = await openPostgresStore(url, {
  leaseMs: Number(leaseMs),
  worker: `owner-${process.pid}`,
});
const { journal, lease } = await store.open(run, "run", {
  now: () => new Date().toISOString(),
  activeMs: () => performance.now(),
});
report("taken", { epoch: lease.epoch });
lease.lost.addEventListener("abort", () => report("lost"));
for (let n = journal.position.seq + 1; ; n++) {
  const at = Date.now();
  if (lease.isConfirmed()) report("spent", { asked: at });
  try {
    const [entry] = await journal.append([skipped(n)]);
    report("kept", { seq: entry?.seq, step: `step-${n}` });
  } catch (error) {
    report("refused", { kind: error instanceof JournalFailure ? error.kind : String(error) });
    await sleep(200);
  }

  await sleep(20);
}
