// recover-tasks: finds out what became of the tasks that the journal says are running, and journals
// what the recovery table says.

import type { RunView } from "../../core/state.ts";
import { readPortfolioMark } from "../../fleet/shared-mark.ts";
import { findRecovery } from "../../portfolio/planner/recovery.ts";
import type { TaskView } from "../../portfolio/planner/state.ts";
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
  const isResting = status === "running" && resting !== null;
  return status === "paused" || isResting ? "rested" : "open";
}

type RecoveringPool = {
  readonly paths: PortfolioPaths;
  readonly active: ReadonlyMap<string, unknown>;
  readonly starting?: ReadonlySet<string>;
};

type Journal = Pick<OpenPortfolio, "state" | "now" | "write">;

/**
 * Handles every task that is running by the journal and that no worker of this pool works on.
 * Returns the tasks that must be started again (`gone`), and whether anything was journaled.
 */
export async function recoverTasks(
  pool: RecoveringPool,
  portfolio: Journal,
): Promise<{ readonly gone: ReadonlySet<string>; readonly hasWritten: boolean }> {
  const gone = new Set<string>();
  let hasWritten = false;
  const { paths } = pool;

  // Of a portfolio in a store only its planner has the tasks' runs as they are; other machines may
  // have an older copy, or none.
  const isElsewhere = paths.planner === undefined && readPortfolioMark(paths.ownFolder) !== null;
  if (isElsewhere) return { gone, hasWritten };

  for (const task of listRunningTasks(portfolio.state)) {
    if (!isDue(task, portfolio) || hasWorker(pool, task)) continue; // the recovery table's first rows

    const recovery = await recoverTask(pool, portfolio, task);
    if (recovery === "gone") gone.add(task.task_id);
    if (recovery === "written") hasWritten = true;
  }

  // A run that stopped for want of budget may have been given more since.
  for (const task of Object.values(portfolio.state.tasks)) {
    if (task.status !== "ready" || task.short === null) continue;
    const changes = await findRaisedLimits(paths, task);
    if (changes.length === 0) continue;
    await portfolio.write(...changes);
    hasWritten = true;
  }

  return { gone, hasWritten };
}

function isDue(task: TaskView, { now }: Journal): boolean {
  if (task.stage === "working") return true;
  return task.delay?.doing === "result" && !isDelayed(task, now());
}

const hasWorker = ({ active, starting }: RecoveringPool, { task_id }: TaskView): boolean =>
  active.has(task_id) || starting?.has(task_id) === true;

/** `gone`: the task must be started again. `written`: what became of it is journaled. */
async function recoverTask(
  { paths }: RecoveringPool,
  portfolio: Journal,
  task: TaskView,
): Promise<"gone" | "written" | "left"> {
  const isUnbrought = paths.planner?.unbrought.has(task.task_id) === true;
  if (isUnbrought) return "gone"; // its copy here is old or missing: it is brought when the task is started again

  const loadedRun = await loadTaskRun(paths, task);
  const hasOwner = loadedRun !== null && loadedRun.owner !== null;
  const { remedy } = findRecovery({
    worker: "gone",
    lease: hasOwner ? "held" : "lapsed",
    run: loadedRun === null ? "open" : classifyRun(loadedRun.view),
    result: task.ingested ? "ingested" : "missing",
    merge: "none",
  });

  if (remedy === "release") return "gone";
  if (remedy === "ingest") return ingestTask(paths, portfolio, task);
  if (remedy !== "queue" || task.commit === null) return "left";

  const { task_id, commit } = task;
  const run_id = task.run_id ?? "";
  await portfolio.write({ ...systemFields, event: "merge_queued", task_id, run_id, commit });
  return "written";
}

/** What is wrong with one task's repository stops no other task. */
async function ingestTask(
  paths: PortfolioPaths,
  portfolio: Journal,
  task: TaskView,
): Promise<"gone" | "written"> {
  const changes = await ingestResult(paths, portfolio, task).catch((error: unknown) =>
    delayOrAsk(paths, portfolio, task, { doing: "result", failure: toFailure(error) }),
  );
  if (changes.length === 0) return "gone";

  await portfolio.write(...changes);
  return "written";
}
