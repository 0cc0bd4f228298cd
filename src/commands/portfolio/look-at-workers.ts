// look-at-workers: finds out what became of the tasks that the journal says are running, and acts on it by the recovery table.

import type { RunView } from "../../core/state.ts";
import { portfolioMark } from "../../fleet/shared-mark.ts";
import { recoveryFor } from "../../portfolio/planner/recovery.ts";
import { isDelayed } from "../../portfolio/planner/retry-delays.ts";
import { unfinished } from "../../portfolio/planner/under-way.ts";
import type { PortfolioPaths } from "../../portfolio/store/folder.ts";
import type { OpenPortfolio } from "../../portfolio/store/open.ts";
import { ingest, raisedSince } from "../../portfolio/worker/ingest.ts";
import { delayOrAsk } from "../../portfolio/worker/try-again.ts";
import { loadTaskRun } from "../../portfolio/worker/worker.ts";
import { toFailure } from "../../project/respond.ts";

const system = { actor: "system", reason_code: "ok" } as const;

function runState({ status, resting }: RunView): "ended" | "rested" | "open" {
  if (status === "completed" || status === "stopped") return "ended";
  return status === "paused" || (status === "running" && resting !== null) ? "rested" : "open";
}

/** Handles every task that is running according to the journal and that no worker of this pool works on. */
export async function lookAtWorkers(
  pool: { readonly paths: PortfolioPaths; readonly active: ReadonlyMap<string, unknown>; readonly starting?: ReadonlySet<string> },
  open: Pick<OpenPortfolio, "state" | "now" | "write">,
): Promise<{ readonly gone: ReadonlySet<string>; readonly moved: boolean }> {
  const gone = new Set<string>();
  let moved = false;
  // Of a portfolio in a store only its planner has the tasks' runs as they are; other machines may have an older copy, or none.
  if (pool.paths.planner === undefined && portfolioMark(pool.paths.own) !== null) return { gone, moved };
  for (const task of unfinished(open.state)) {
    const isDue = task.stage === "working" || (task.delay?.doing === "result" && !isDelayed(task, open.now()));
    if (!isDue || pool.active.has(task.task_id) || pool.starting?.has(task.task_id) === true) continue; // the table's first rows: a worker works on it
    if (pool.paths.planner?.unbrought.has(task.task_id) === true) {
      gone.add(task.task_id); // its copy here is old, or none: it is brought when it is started again
      continue;
    }
    const loadedRun = await loadTaskRun(pool.paths, task);
    const { remedy } = recoveryFor({
      worker: "gone",
      lease: loadedRun !== null && loadedRun.owner !== null ? "held" : "lapsed",
      run: loadedRun === null ? "open" : runState(loadedRun.view),
      result: task.ingested ? "ingested" : "missing",
      merge: "none",
    });
    if (remedy === "queue" && task.commit !== null) {
      await open.write({ ...system, event: "merge_queued", task_id: task.task_id, run_id: task.run_id ?? "", commit: task.commit });
      moved = true;
    } else if (remedy === "release") gone.add(task.task_id);
    else if (remedy === "ingest") {
      const changes = await ingest(pool.paths, open, task).catch(
        (error: unknown) => delayOrAsk(pool.paths, open, task, { doing: "result", failure: toFailure(error) }), // what is wrong with one task's repository stops no other task
      );
      if (changes.length > 0) await open.write(...changes);
      else gone.add(task.task_id);
      moved = true;
    }
  }
  for (const task of Object.values(open.state.tasks)) {
    if (task.status !== "ready" || task.short === null) continue;
    const changes = await raisedSince(pool.paths, task);
    if (changes.length > 0) await open.write(...changes);
  }
  return { gone, moved };
}
