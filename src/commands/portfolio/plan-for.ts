// plan-for: the plan of a portfolio as it is here and now: with the user's settings, the room on the disk and the workers that are gone.

import type { Plan, PlanFacts } from "../../portfolio/planner/plan-actions.ts";
import { plan } from "../../portfolio/planner/plan.ts";
import type { PortfolioPaths } from "../../portfolio/store/folder.ts";
import type { OpenPortfolio } from "../../portfolio/store/open.ts";
import { agentDefault } from "../../portfolio/worker/worker.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { readSettings } from "../../project/config/settings.ts";
import { resolveAgentPaths } from "../../project/named-agents.ts";

export function planFor(
  context: CommandContext,
  open: Pick<OpenPortfolio, "state" | "now">,
  given: {
    readonly input: { readonly jobs?: number | undefined; readonly agent?: string | undefined };
    readonly paths: PortfolioPaths;
    readonly noRoom?: (quotaMb: number | undefined) => string | null;
    readonly held?: ReadonlyMap<string, string>;
    readonly red?: PlanFacts["red"];
  },
  gone: ReadonlySet<string>,
): Plan {
  const read = readSettings(context, given.paths.root);
  const config = read.kind === "settings" ? read.config : {};
  const perAgent = Object.fromEntries(
    Object.entries(config.agents ?? {}).flatMap(([name, { max_parallel }]) => (max_parallel === undefined ? [] : [[name, max_parallel]])),
  );
  return plan(open.state, {
    now: open.now(),
    jobs: given.input.jobs ?? 2,
    gone,
    perAgent,
    noRoom: given.noRoom?.(config.disk_quota) ?? null,
    ...(given.held === undefined ? {} : { held: given.held }),
    ...(given.red === undefined ? {} : { red: given.red }),
    agent:
      given.input.agent === undefined
        ? resolveAgentPaths(given.paths.root, config.agent ?? agentDefault)
        : resolveAgentPaths(context.cwd, given.input.agent),
  });
}
