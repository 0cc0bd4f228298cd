// recover-tasks: finds out what became of the tasks that the journal says are running, and journals
// what the recovery table says.

import type { RunView } from "../../core/state.ts";
import { readPortfolioMark } from "../../fleet/shared-mark.ts";
import { findRecovery } from "../../portfolio/planner/recovery.ts";
import { isDelayed } from "../../portfolio/planner/retry-delays.ts";
import { listRunningTasks } from "../../portfolio/planner/under-way.ts";
import type { PortfolioPaths } from "../../portfolio/store/folder.ts";
import type { OpenPortfolio } from "../../portfolio/store/open.ts";
import { ingestResult } from "../../portfolio/worker/ingest.ts";
import { findRaisedLimits } from "../../portfolio/worker/resting-run.ts";
import { delayOrAsk } from "../../portfolio/worker/try-again.ts";
import { loadTaskRun } from "../../portfolio/worker/task-runs.ts";
import { toFailure } from "../../project/respond.ts";

const systemFields = { actor: "system", reason_code: "ok" } as const;

function classifyRun({ status, resting }: RunView): "ended" | "rested" | "open" {
  if (status === "completed" || status === "stopped") return "ended";
  return status === "paused" || (status === "running" && resting !== null) ? "rested" : "open";
}

/**
 * Handles every task that is running by the journal and that no worker of this pool works on.
 * Returns the tasks that must be started again (`gone`), and whether anything was journaled.
 */
export async function recoverTasks(
  pool: {
    readonly paths: PortfolioPaths;
    readonly active: ReadonlyMap<string, unknown>;
    readonly starting?: ReadonlySet<string>;
  },
  portfolio: Pick<OpenPortfolio, "state" | "now" | "write">,
): Promise<{ readonly gone: ReadonlySet<string>; readonly hasWritten: boolean }> {
  const gone = new Set<string>();
  let hasWritten = false;

  // Of a portfolio in a store only its planner has the tasks' runs as they are; other machines may
  // have an older copy, or none.
  if (pool.paths.planner === undefined && readPortfolioMark(pool.paths.ownFolder) !== null) {
    return { gone, hasWritten };
  }

  for (const task of listRunningTasks(portfolio.state)) {
    const isDue =
      task.stage === "working" ||
      (task.delay?.doing === "result" && !isDelayed(task, portfolio.now()));

    const hasWorker = pool.active.has(task.task_id) || pool.starting?.has(task.task_id) === true;
    if (!isDue || hasWorker) continue; // the recovery table's first rows
    if (pool.paths.planner?.unbrought.has(task.task_id) === true) {
      gone.add(task.task_id); // its copy here is old or missing: it is brought when the task is started again
      continue;
    }

    const loadedRun = await loadTaskRun(pool.paths, task);
    const { remedy } = findRecovery({
      worker: "gone",
      lease: loadedRun !== null && loadedRun.owner !== null ? "held" : "lapsed",
      run: loadedRun === null ? "open" : classifyRun(loadedRun.view),
      result: task.ingested ? "ingested" : "missing",
      merge: "none",
    });
    if (remedy === "queue" && task.commit !== null) {
      await portfolio.write({
        ...systemFields,
        event: "merge_queued",
        task_id: task.task_id,
        run_id: task.run_id ?? "",
        commit: task.commit,
      });

      hasWritten = true;
    } else if (remedy === "release") {
      gone.add(task.task_id);
    } else if (remedy === "ingest") {
      // What is wrong with one task's repository stops no other task.
      const changes = await ingestResult(pool.paths, portfolio, task).catch((error: unknown) =>
        delayOrAsk(pool.paths, portfolio, task, { doing: "result", failure: toFailure(error) }),
      );
      if (changes.length > 0) await portfolio.write(...changes);
      else gone.add(task.task_id);

      hasWritten ||= changes.length > 0;
    }
  }

  // A run that stopped for want of budget may have been given more since.
  for (const task of Object.values(portfolio.state.tasks)) {
    if (task.status !== "ready" || task.short === null) continue;
    const changes = await findRaisedLimits(pool.paths, task);
    if (changes.length > 0) await portfolio.write(...changes);
    hasWritten ||= changes.length > 0;
  }

  return { gone, hasWritten };
}
