// visible-plan: the state of a portfolio and what a tick would do, for commands that only show it.
// Nothing is written, and another user's portfolio is shown as its journal has it.

import { existsSync } from "node:fs";
import { definedFields } from "../../core/drafts.ts";
import type { Plan } from "../../portfolio/planner/plan-actions.ts";
import type { PortfolioView } from "../../portfolio/planner/state.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { readPortfolioMark } from "../../fleet/shared-mark.ts";
import { readSettings } from "../../project/config/settings.ts";
import { agentName } from "../../portfolio/planner/under-way.ts";
import { checkAvailability } from "../../runner/draft/agent-availability.ts";
import { systemClock } from "../../project/runs/system-clock.ts";
import { readCheckedPortfolio } from "../../portfolio/store/checked.ts";
import type { findVisiblePortfolio } from "../../portfolio/store/folder.ts";
import { readPortfolio } from "../../portfolio/store/fold.ts";
import { inspectLandings } from "./inspect-landings.ts";
import { recoverTasks } from "./recover-tasks.ts";
import { readPoolTerms } from "./lock-pool.ts";
import { planPortfolio } from "./plan-portfolio.ts";
import type { PoolInput } from "./pool-state.ts";

type VisiblePortfolio = ReturnType<typeof findVisiblePortfolio>;

/** The warning about another user's portfolio, which is only shown. */
export const foreignWarning = (foreign: string | null) =>
  foreign === null
    ? {}
    : {
        result: "WARN" as const,
        warnings: [
          `This portfolio isn't yours: ${foreign}. It is shown as its journal tells it, and nothing of it is executed.`,
        ],
        remediation: ["autopilot portfolio adopt"],
      };

/** The state as inspected now, and what a tick would do. */
export async function readVisiblePlan(
  context: CommandContext,
  { paths, foreign }: VisiblePortfolio,
  input: PoolInput,
): Promise<{ readonly state: PortfolioView; readonly plan: Plan }> {
  if (foreign !== null) {
    const state = await readCheckedPortfolio(paths);
    return {
      state,
      plan: planPortfolio(
        context,
        { state, now: () => systemClock.now() },
        { input, paths },
        new Set(),
      ),
    }; // its runs are not opened
  }

  const state = await readPortfolio(paths);
  const terms = {
    ...readPoolTerms(paths),
    ...definedFields({ jobs: input.jobs, agent: input.agent }),
  };

  const open = { state, now: () => systemClock.now(), write: () => Promise.resolve() };
  const { gone } = await recoverTasks({ paths, active: new Map() }, open);
  const firstPlan = planPortfolio(context, open, { input: terms, paths }, gone);

  // Which landings are due follows from a plan, and what holds them up changes it: so it is planned
  // again.
  const { obstacleByQueue, state: currentState } = await inspectLandings(
    paths,
    state,
    firstPlan.actions,
    open.now(),
  );

  const planAfterLandings = planPortfolio(
    context,
    { ...open, state: currentState },
    { input: terms, paths, held: obstacleByQueue },
    gone,
  );

  const isElsewhere = readPortfolioMark(paths.ownFolder) !== null; // workers of other machines have agents of their own
  return {
    state: currentState,
    plan: isElsewhere
      ? planAfterLandings
      : await holdBackUnstartable(context, currentState, planAfterLandings),
  };
}

/**
 * Moves tasks that can't start, because their repository is gone or their agent unusable, from the
 * actions to those that wait.
 */
async function holdBackUnstartable(
  context: CommandContext,
  { projects, tasks }: PortfolioView,
  { actions, waiting }: Plan,
): Promise<Plan> {
  const problems = new Map<string, string | null>();
  const findAgentProblem = async (root: string, agent: string): Promise<string | null> => {
    const key = `${root}\n${agent}`;
    const cached = problems.get(key);
    if (cached !== undefined) return cached;
    const settings = readSettings(context, root);

    const { problem } = await checkAvailability(
      context,
      agent,
      settings.kind === "settings" ? settings.config : {},
    );
    problems.set(key, problem);
    return problem;
  };

  const unstartable: Plan["waiting"][number][] = [];
  for (const action of actions) {
    if (action.do !== "dispatch" || action.is_approved) continue;
    const agent = agentName(action.agent);
    const repository = projects[tasks[action.task_id]?.project_id ?? ""]?.repository ?? context.cwd;
    if (!existsSync(repository)) {
      const because = `${repository} is not there; the tick that tries it asks you`;
      unstartable.push({ task_id: action.task_id, code: "no_repository", because });
      continue;
    }

    const problem = await findAgentProblem(repository, agent);
    const because = `${agent} can't be used here (${problem ?? ""}); the tick that tries it asks you`;
    if (problem !== null) unstartable.push({ task_id: action.task_id, code: "agent", because });
  }

  const ids = new Set(unstartable.map(({ task_id }) => task_id));
  return {
    actions: actions.filter((action) => action.do !== "dispatch" || !ids.has(action.task_id)),
    waiting: [...waiting, ...unstartable],
  };
}
