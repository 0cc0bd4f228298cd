// contender: one of several that want the same run for ever. It takes it when it can, writes, asks
// before it spends, and says everything on stdout.

import { setTimeout as sleep } from "node:timers/promises";
import { openPostgresStore, type PostgresStore } from "../../src/fleet/postgres/store.ts";
import { JournalFailure } from "../../src/journal/journal-failure.ts";
import { skipped } from "../../src/journal/scene.test-support.ts";

const [url = "", run = "", leaseMs = ""] = process.argv.slice(2);
const report = (word: string, more: object = {}): void =>
  void process.stdout.write(`${JSON.stringify({ word, at: Date.now(), ...more })}\n`);
const options = { now: () => new Date().toISOString(), activeMs: () => performance.now() };
const kindOf = (error: unknown): string =>
  error instanceof JournalFailure ? error.kind : String(error);

let store: PostgresStore | null = null;
for (let n = 1; ;) {
  try {
    store ??= await openPostgresStore(url, {
      leaseMs: Number(leaseMs),
      worker: String(process.pid),
    });

    const { journal, lease } = await store.open(run, "run", options);
    report("taken", { epoch: lease.epoch });

    try {
      for (; ; n++) {
        const asked = Date.now();
        if (lease.isConfirmed()) report("spent", { asked, epoch: lease.epoch });

        const [entry] = await journal.append([
          skipped(n),
          {
            event: "step_skipped",
            actor: "system",
            reason_code: "ok",
            walk: `of-${process.pid}`,
            step: `step-${n}`,
          },
        ]);

        report("kept", {
          seq: entry?.seq,
          epoch: lease.epoch,
          walk: `of-${process.pid}`,
          step: `step-${n}`,
        });

        await sleep(15);
      }
    } catch (error) {
      n++; // whether it is there or not, it is not written again
      report("refused", { kind: kindOf(error) });
      await journal.close();
    }
  } catch (error) {
    report("waits", { kind: kindOf(error) });
    await sleep(100);
  }
}
