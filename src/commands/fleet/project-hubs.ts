// project-hubs: settles which hub a project's repository has. It is looked at before it is written down: it answers, and has the branch that
// work lands on, of the same history.
// Invariants H1 and on: portfolio/planner/hubs.ts.

import type { PortfolioChangeOf } from "../../contracts/portfolio-journal.ts";
import { hubAddress } from "../../fleet/address.ts";
import { portfolioMark } from "../../fleet/shared-mark.ts";
import { whyNoHub, withoutHub } from "../../portfolio/planner/hubs.ts";
import type { PortfolioView } from "../../portfolio/planner/state.ts";
import { cloneOf } from "../../portfolio/store/clones.ts";
import { readPortfolio } from "../../portfolio/store/fold.ts";
import type { PortfolioPaths } from "../../portfolio/store/folder.ts";
import { withPortfolio } from "../../portfolio/store/open.ts";
import { openProjectHub } from "../../portfolio/worker/exchange-for.ts";
import { actorOf, type CommandContext } from "../../project/command-context.ts";
import { Refusal, refuse } from "../../project/respond.ts";
import { openedRepository } from "../../project/runs/opened-repository.ts";

export type HubChange = PortfolioChangeOf<"hub_set">;
type Branch = { readonly repository: string; readonly target: string };

/** What gives a repository this hub; nothing if it has it. Refuses one that isn't its own, and a repository of a store without one. */
export async function hubChange(
  context: CommandContext,
  paths: PortfolioPaths,
  branch: Branch,
  given: string | undefined,
  /** The state as it will be, of what is added. That moves no hub of what is there. */
  adding?: PortfolioView,
): Promise<readonly HubChange[]> {
  const state = adding ?? (await readPortfolio(paths));
  const { repository } = branch;
  const before = state.hubs[repository];
  if (adding !== undefined && given !== undefined && before !== undefined && before !== given)
    refuse("hub_unusable", { message: `The hub of ${repository} is ${before}, and a repository has one.` });
  if (given !== undefined) return (await requireHub(paths, state, branch, given), changeOf(context, state, repository, given));
  const isShared = portfolioMark(paths.own) !== null;
  if (!isShared) return [];
  if (before !== undefined) return (await requireHub(paths, state, branch, before), []); // it may be asked for another branch
  const named = hubAddress(context.env);
  if (named !== null && (await isHubOf(paths, state, branch, named))) return changeOf(context, state, repository, named);
  return refuse("hub_unusable", {
    message: `The portfolio is in a store, and ${repository} has no hub: machines exchange its commits through a git repository that all of them reach.`,
    remediation: ["git init --bare /srv/git/project.git", "give the command again with --hub URL"],
  });
}

/** While the journal is held: nobody else may have taken the hub since it was looked at. */
export function stillFree(state: PortfolioView, changes: readonly HubChange[]): readonly HubChange[] {
  for (const { repository, hub } of changes) {
    const why = hub === null ? null : whyNoHub(state, repository, hub);
    if (why !== null) refuse("hub_unusable", { message: why, remediation: [] });
  }
  return changes;
}

const changeOf = (context: CommandContext, { hubs }: PortfolioView, repository: string, hub: string): readonly HubChange[] =>
  hubs[repository] === hub ? [] : [{ actor: actorOf(context), reason_code: "ok", event: "hub_set", repository, hub }];

/** Before a portfolio is planned in a store: AUTOPILOT_HUB is the hub of the repository that it has; all others were named before. */
export async function settleHubs(context: CommandContext, paths: PortfolioPaths): Promise<void> {
  if (withoutHub(await readPortfolio(paths)).length === 0) return;
  const state = await withPortfolio(context, paths, ({ state: now }) => Promise.resolve(structuredClone(now))); // a copy may be old
  const named = hubAddress(context.env);
  const missing: ReturnType<typeof withoutHub>[number][] = [];
  for (const project of withoutHub(state)) {
    if (named === null || !(await isHubOf(paths, state, project, named))) missing.push(project);
    else
      await withPortfolio(context, paths, async ({ state: now, write }) => {
        if (now.hubs[project.repository] === undefined) await write(...stillFree(now, changeOf(context, now, project.repository, named)));
      });
  }
  if (missing.length === 0) return;
  refuse("hub_unusable", {
    message: `${missing.map(({ project_id, repository }) => `${project_id} (${repository})`).join(", ")}: no hub. Machines exchange the commits of a repository through a git repository that all of them reach, each its own.`,
    remediation: missing.map(({ project_id }) => `autopilot portfolio edit ${project_id} --hub URL`),
  });
}

async function isHubOf(paths: PortfolioPaths, state: PortfolioView, branch: Branch, hub: string): Promise<boolean> {
  if (whyNoHub(state, branch.repository, hub) !== null) return false;
  try {
    await requireHub(paths, state, branch, hub);
    return true;
  } catch (error) {
    if (error instanceof Refusal && error.response.reason_code === "hub_unusable") return false;
    throw error;
  }
}

async function requireHub(paths: PortfolioPaths, state: PortfolioView, { repository, target }: Branch, hub: string): Promise<void> {
  const why = whyNoHub(state, repository, hub);
  if (why !== null) refuse("hub_unusable", { message: why, remediation: [] });
  const clone = await openedRepository(cloneOf(paths, repository));
  const tip = await (await openProjectHub(paths, clone, repository, hub)).tipOf(target);
  if (tip === null)
    refuse("hub_unusable", {
      message: `${hub} has no branch ${target}, where finished work is to land.`,
      remediation: [`git -C ${clone.root} push ${hub} ${target}`],
    });
}
