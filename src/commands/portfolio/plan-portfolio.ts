// plan-portfolio: plans a portfolio as it is on this machine now: with the user's settings, the
// disk's room and the workers that are gone.

import { portfolioAgentDefault, portfolioJobsDefault } from "../../contracts/config-defaults.ts";
import type { Plan, PlanFacts } from "../../portfolio/planner/plan-actions.ts";
import { plan } from "../../portfolio/planner/plan.ts";
import type { PortfolioPaths } from "../../portfolio/store/folder.ts";
import type { OpenPortfolio } from "../../portfolio/store/open.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { readSettings } from "../../project/config/settings.ts";
import { resolveAgentPaths } from "../../project/named-agents.ts";

/** `gone`: tasks that are running by the journal and that no worker works on. */
export function planPortfolio(
  context: CommandContext,
  portfolio: Pick<OpenPortfolio, "state" | "now">,
  conditions: {
    readonly input: { readonly jobs?: number | undefined; readonly agent?: string | undefined };
    readonly paths: PortfolioPaths;
    /** Makes room on the disk for new copies; returns why there is none. */
    readonly makeRoom?: (quotaMb: number | undefined) => string | null;
    readonly held?: ReadonlyMap<string, string>;
    readonly red?: PlanFacts["redTargetByQueue"];
  },
  gone: ReadonlySet<string>,
): Plan {
  const settings = readSettings(context, conditions.paths.root);
  const config = settings.kind === "settings" ? settings.config : {};

  const parallelByAgent = Object.fromEntries(
    Object.entries(config.agents ?? {}).flatMap(([name, { max_parallel }]) =>
      max_parallel === undefined ? [] : [[name, max_parallel]],
    ),
  );

  return plan(portfolio.state, {
    now: portfolio.now(),
    jobs: conditions.input.jobs ?? portfolioJobsDefault,
    withoutWorker: gone,
    perAgent: parallelByAgent,
    roomProblem: conditions.makeRoom?.(config.disk_quota) ?? null,
    ...(conditions.held === undefined ? {} : { obstacleByQueue: conditions.held }),
    ...(conditions.red === undefined ? {} : { redTargetByQueue: conditions.red }),
    agent:
      conditions.input.agent === undefined
        ? resolveAgentPaths(conditions.paths.root, config.agent ?? portfolioAgentDefault)
        : resolveAgentPaths(context.cwd, conditions.input.agent),
  });
}
