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

type Family = { readonly flow: string; readonly face?: string | undefined };

/** Flows that show themselves in the same files are of one family: only one run of it can be open. */
const familyOf = ({ flow, face }: Family): string => (face === undefined ? `flow ${flow}` : `face ${face}`);

/** Refuses where another run of this family is still open here. A run whose journal cannot be read is left alone. */
export async function refuseSecondRun(home: Home, flow: Family, { self, isNew }: { self: string | null; isNew: boolean }): Promise<void> {
  const maySecond = flow.face === undefined; // two runs cannot share one set of files
  if (isNew && maySecond) return;
  for (const run of listRuns(home).toReversed()) {
    if (run === self) continue;
    const view = await viewOf(home, run);
    if (view === null || (view.status !== "running" && view.status !== "paused") || familyOf(view.drafted.flow) !== familyOf(flow))
      continue;
    refuse("run_open", {
      run_id: run,
      state: view.status,
      message: `${run} is still ${view.status}: "${view.drafted.objective.goal}".`,
      remediation: [
        "autopilot resume goes on with it",
        "autopilot stop ends it",
        ...(maySecond ? ["--new begins a second run beside it"] : []),
      ],
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
