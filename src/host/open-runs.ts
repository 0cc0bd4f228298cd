// open-runs: one open run per flow family and repository. Whoever starts a run looks and starts under one lock, so that two never both do.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { nodeDisk } from "../journal/disk.ts";
import { JournalFailure } from "../journal/failure.ts";
import { takeLock } from "../journal/lock.ts";
import { type Home, listRuns } from "./home.ts";
import { readRun } from "./read-run.ts";
import { Refusal, refuse } from "./reply.ts";

const waitMs = 50;
const waitsMax = 200;

/** Does something while no other process starts a run in this repository. */
export async function whileNoOtherStarts<Value>(home: Home, work: () => Promise<Value>): Promise<Value> {
  const folder = join(home.folder, "starting");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (let waits = 0; ; waits++) {
    const lock = await takeLock(nodeDisk, folder).catch((error: unknown) => {
      const isTaken = error instanceof JournalFailure && error.kind === "run_locked";
      if (!isTaken || waits >= waitsMax) throw error;
      return null;
    });
    if (lock === null) {
      await sleep(waitMs);
      continue;
    }
    try {
      return await work();
    } finally {
      lock.release();
    }
  }
}

/** Refuses where another run of this flow is still open here. A run whose journal cannot be read is left alone. */
export async function refuseSecondRun(home: Home, flow: string, self: string | null): Promise<void> {
  for (const run of listRuns(home).toReversed()) {
    if (run === self) continue;
    const view = await viewOf(home, run);
    if (view === null || (view.status !== "running" && view.status !== "paused") || view.drafted.flow.flow !== flow) continue;
    refuse("run_open", {
      run_id: run,
      state: view.status,
      message: `${run} is still ${view.status}: "${view.drafted.objective.goal}".`,
      remediation: ["autopilot resume goes on with it", "autopilot stop ends it", "--new begins a second run beside it"],
    });
  }
}

async function viewOf(home: Home, run: string) {
  try {
    return (await readRun(home, run)).view;
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
}
