// open-runs: ensures that a repository has only one open run per family of flows, unless the user
// asks for a second one (`--new`). Checking and starting happen under one lock, so that two never
// both start.

import { statSync } from "node:fs";
import { join } from "node:path";
import { isRunOpen } from "../../core/selectors.ts";
import { journalFile } from "../../journal/journal.ts";
import { type ProjectPaths, listRuns, runFolder } from "./project-paths.ts";
import { runUnderLock } from "./run-under-lock.ts";
import type { CommandContext } from "../command-context.ts";
import { readRunOrNull } from "./read-run.ts";
import { refuse } from "../respond.ts";
import { isOwnRun } from "./run-binding.ts";

const waitMs = 10_000;

/** Runs something while no other process starts a run in this repository. */
export async function whileNoOtherStarts<Value>(
  paths: ProjectPaths,
  work: () => Promise<Value>,
): Promise<Value> {
  const result = await runUnderLock(paths, "starting", async () => ({ value: await work() }), {
    waitMs,
  });
  if (result !== null) return result.value;
  return refuse("run_locked", {
    message: `Another process has been starting a run here for ${waitMs / 1_000} s.`,
  });
}

type FlowIdentity = { readonly flow: string; readonly playbook?: string | undefined };

/** Flows that write the same files are of one family: only one run of it can be open. */
const toFamily = ({ flow, playbook }: FlowIdentity): string =>
  playbook === undefined ? `flow ${flow}` : `playbook ${playbook}`;

/**
 * Refuses if another run of this family is still open here. A run whose journal cannot be read is
 * left alone.
 */
export async function refuseSecondRun(
  context: Pick<CommandContext, "env">,
  paths: ProjectPaths,
  flow: FlowIdentity,
  { self, isNew }: { self: string | null; isNew: boolean },
): Promise<void> {
  const allowsSecondRun = flow.playbook === undefined; // two runs cannot share one set of files
  if (isNew && allowsSecondRun) return;
  for (const run of listRuns(paths).toReversed()) {
    if (run === self || !isOwnRun(context, paths, run)) continue; // another user's run blocks no one
    const summary = await readSummary(paths, run);
    if (summary === null || summary.family !== toFamily(flow)) continue;
    refuse("run_open", {
      run_id: run,
      state: summary.status,
      message: `${run} is still ${summary.status}: "${summary.goal}".`,
      remediation: [
        "autopilot resume goes on with it",
        "autopilot stop ends it",
        ...(allowsSecondRun ? ["--new begins a second run beside it"] : []),
      ],
    });
  }
}

type RunSummary = { readonly family: string; readonly status: string; readonly goal: string };

/**
 * Runs read in this process, by the state of their journal: starting a run reads every run three
 * times.
 */
const summaryCache = new Map<
  string,
  { readonly stamp: string; readonly summary: RunSummary | null }
>();

/** The state of an open run; null if it is over, or can't be read. */
async function readSummary(paths: ProjectPaths, run: string): Promise<RunSummary | null> {
  const folder = runFolder(paths, run);
  const stamp = readStamp(folder);
  const cached = summaryCache.get(folder);
  if (cached !== undefined && stamp !== "" && cached.stamp === stamp) return cached.summary;
  const view = (await readRunOrNull(paths, run))?.view ?? null;

  const summary =
    view === null || !isRunOpen(view)
      ? null
      : {
          family: toFamily(view.drafted.flow),
          status: view.status,
          goal: view.drafted.objective.goal,
        };

  summaryCache.set(folder, { stamp, summary });
  return summary;
}

function readStamp(folder: string): string {
  const stat = statSync(join(folder, journalFile), { throwIfNoEntry: false, bigint: true });
  return stat === undefined ? "" : [stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs].join(" ");
}
