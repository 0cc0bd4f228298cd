// show: `portfolio status`: shows projects and tasks, what waits and why, and what needs a person.

import type { CommandResponse } from "../../contracts/command-response.ts";
import { renderBoard } from "../../portfolio/views/board.ts";
import { countByStatus, computeMetrics } from "../../portfolio/views/metrics.ts";
import { describePhase } from "../../portfolio/views/pages.ts";
import { listHeldLandings } from "../../portfolio/planner/held-landings.ts";
import { listTasksNeedingPerson } from "../../portfolio/planner/needs-person.ts";
import type { Plan } from "../../portfolio/planner/plan-actions.ts";
import { listOpenBlocks, type PortfolioView } from "../../portfolio/planner/state.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { catchRefusals, respond } from "../../project/respond.ts";
import { systemClock } from "../../project/runs/system-clock.ts";
import { catchUp } from "../../portfolio/store/catch-up.ts";
import { findVisiblePortfolio } from "../../portfolio/store/folder.ts";
import { readPoolTerms } from "./lock-pool.ts";
import type { PoolInput } from "./pool-state.ts";
import { foreignWarning, readVisiblePlan } from "./visible-plan.ts";

const rowsShownDefault = 40;

/**
 * Shows the board, of `rows` rows. If the portfolio is in a store, this machine's copy is brought
 * up to date first.
 */
export function showPortfolio(
  context: CommandContext,
  input: PoolInput & { readonly rows?: number | undefined },
): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const visible = findVisiblePortfolio(context);
    const localCopy = visible.foreign === null ? await catchUp(context.env, visible.paths) : null;
    const { state, plan } = await readVisiblePlan(context, visible, input);

    const counts = countByStatus(state);
    const taskCount = Object.keys(state.tasks).length;
    const isWorkedOn =
      localCopy !== null || visible.foreign !== null || readPoolTerms(visible.paths) !== null;
    const board = renderBoard(state, plan, {
      now: systemClock.now(),
      rows: input.rows ?? rowsShownDefault,
      isIdle: !isWorkedOn,
    });

    return respond("ok", {
      ...behindWarning(localCopy, state),
      ...foreignWarning(visible.foreign),
      message: `${counts.running} running, ${counts.ready} ready, ${counts.blocked_human} blocked, ${counts.done} done of ${taskCount}.`,
      page: [...board, ...renderStoreLines(localCopy, state)],
      data: {
        name: state.name,
        foreign: visible.foreign,
        ...storeField(localCopy, state),
        ...collectData(state, plan),
      },
    });
  });
}

/** This machine's copy of a portfolio in a store; null if the portfolio is in no store. */
type LocalCopy = Awaited<ReturnType<typeof catchUp>>;

function behindWarning(localCopy: LocalCopy, { seq }: PortfolioView) {
  const behind = localCopy?.behind ?? null;
  if (behind === null) return {};
  return { warnings: [`Shown is this machine's copy, up to line ${seq}: ${behind}`] };
}

function renderStoreLines(localCopy: LocalCopy, { seq }: PortfolioView): readonly string[] {
  if (localCopy === null) return [];
  const source = (localCopy.behind ?? null) === null ? "" : "this machine's copy ";
  return ["", `${localCopy.key} in the store, ${source}up to line ${seq}`];
}

function storeField(localCopy: LocalCopy, { seq }: PortfolioView) {
  if (localCopy === null) return {};
  const shown = (localCopy.behind ?? null) === null ? "store" : "copy";
  return { store: { key: localCopy.key, line: seq, shown } };
}

function collectData(state: PortfolioView, plan: Plan) {
  const blockCount = listOpenBlocks(state).length;
  const waitingTaskCount = listTasksNeedingPerson(state, systemClock.now()).length;

  const projects = Object.values(state.projects).map((project) => ({
    id: project.project_id,
    name: project.name,
    phase: describePhase(state, project),
    ...countByStatus(state, project.tasks),
    spent: project.spent,
  }));

  const tasks = Object.values(state.tasks).map((task) => ({
    id: task.task_id,
    project_id: task.project_id,
    status: task.status,
    stage: task.stage,
    run_id: task.run_id,
    priority: task.priority,
    landed: task.landed,
  }));

  const held = listHeldLandings(state).map((landing) => ({
    ...landing.held,
    tasks: landing.tasks.map(({ task_id }) => task_id),
  }));

  return {
    paused: state.paused,
    planner_heartbeat_at: state.heartbeat,
    counts: countByStatus(state),
    metrics: computeMetrics(state),
    spent: state.spent,
    projects,
    tasks,
    waiting: plan.waiting,
    held,
    blocks: blockCount,
    needs_you: blockCount + waitingTaskCount,
  };
}
