// record-plan: journals the parts of a plan that need no worker: tasks released or retried, budgets
// used up, questions to people.

import type { PortfolioChange } from "../../contracts/portfolio/portfolio-journal.ts";
import { parseIsoTime } from "../../kit/iso-time.ts";
import type { PlanAction, Plan } from "../../portfolio/planner/plan-actions.ts";
import { buildIdleQuestion, type Question } from "../../portfolio/planner/questions.ts";
import type { PortfolioView } from "../../portfolio/planner/state.ts";
import { ask } from "../../portfolio/store/ask.ts";
import type { PortfolioPaths } from "../../portfolio/store/folder.ts";
import type { OpenPortfolio } from "../../portfolio/store/open.ts";
import { readUsage } from "../../portfolio/worker/charge-usage.ts";
import { loadTaskRun } from "../../portfolio/worker/task-runs.ts";

const plannerFields = { actor: "planner", reason_code: "ok" } as const;
const heartbeatMs = 60_000;

/**
 * Writes the changes of a plan to the journal, with a tick if one is due; returns whether there
 * were changes.
 */
export async function recordPlan(
  paths: PortfolioPaths,
  { state, write, now }: OpenPortfolio,
  { actions, waiting }: Plan,
): Promise<boolean> {
  const changes: PortfolioChange[] = [];
  for (const action of actions) {
    const change = await createChange(paths, state, action, now());
    if (change !== null) changes.push(change);
  }

  const dispatched = actions.flatMap((action) => (action.do === "dispatch" ? action.task_id : []));
  const countsByCode: Record<string, number> = {};
  for (const { code } of waiting) countsByCode[code] = (countsByCode[code] ?? 0) + 1;
  const heartbeatAgeMs = (parseIsoTime(now()) ?? 0) - (parseIsoTime(state.heartbeat ?? "") ?? 0);

  // A negative age means that the clock was set back.
  const isTickDue =
    dispatched.length > 0 ||
    changes.length > 0 ||
    heartbeatAgeMs > heartbeatMs ||
    heartbeatAgeMs < 0;
  if (isTickDue) {
    await write(...changes, {
      ...plannerFields,
      event: "planner_tick",
      dispatched,
      waiting: countsByCode,
    });
  }

  return changes.length > 0;
}

/** The change that an action makes by itself; null for those that workers or landings carry out. */
async function createChange(
  paths: PortfolioPaths,
  state: PortfolioView,
  action: PlanAction,
  now: string,
): Promise<PortfolioChange | null> {
  switch (action.do) {
    case "release": {
      const task = state.tasks[action.task_id];
      const loadedRun = task === undefined ? null : await loadTaskRun(paths, task);
      const usage = loadedRun === null ? { tokens: 0, usd: 0 } : readUsage(loadedRun.view);

      return {
        ...plannerFields,
        event: "lease_lost",
        task_id: action.task_id,
        run_id: action.run_id,
        because: "its worker is gone; the run goes on where it was",
        usage,
      };
    }
    case "retry":
      return {
        ...plannerFields,
        event: "task_status_changed",
        task_id: action.task_id,
        to_status: "ready",
        because: action.because,
      };
    case "tell_budget":
      return { ...plannerFields, event: "budget_exhausted", ...action.ended };
    case "ask_idle": {
      const project = state.projects[action.project_id];
      if (project === undefined) return null;

      const question: Question = {
        kind: "idle",
        project_id: action.project_id,
        task_id: null,
        ...buildIdleQuestion(state, project),
        expected_action: "answer A, or add the tasks that are missing",
        impact: "nothing more is done for this project",
        options: { A: "it is met" },
        asked_by: null,
      };
      return ask(question, now, "planner");
    }
    default:
      return null;
  }
}
