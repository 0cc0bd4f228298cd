// project-hubs: decides which hub (the git repository that machines exchange commits through) a
// project's repository has. A hub is recorded only after it was reached and has the branch that
// work lands on, with the same history.

import type { PortfolioChangeOf } from "../../contracts/portfolio/portfolio-journal.ts";
import { findHubAddress } from "../../fleet/address.ts";
import { readPortfolioMark } from "../../fleet/shared-mark.ts";
import { whyNoHub, listProjectsWithoutHub } from "../../portfolio/planner/hubs.ts";
import type { PortfolioView } from "../../portfolio/planner/state.ts";
import { findClone } from "../../portfolio/store/clones.ts";
import { readPortfolio } from "../../portfolio/store/fold.ts";
import type { PortfolioPaths } from "../../portfolio/store/folder.ts";
import { withPortfolio } from "../../portfolio/store/open.ts";
import { openProjectHub } from "../../portfolio/worker/exchange-for.ts";
import { toActor, type CommandContext } from "../../project/command-context.ts";
import { Refusal, refuse } from "../../project/respond.ts";
import { requireRepository } from "../../project/runs/require-repository.ts";

export type HubChange = PortfolioChangeOf<"hub_set">;
type TargetBranch = { readonly repository: string; readonly target: string };

/**
 * `expected`: the state after an import that is about to be written. An import never gives a
 * repository another hub.
 */
export type HubRequest = TargetBranch & {
  readonly hub: string | undefined;
  readonly expected?: PortfolioView;
};

/**
 * The change that gives a repository the requested hub; none if it has it already. Refuses a hub
 * that isn't this repository's, and a repository without a hub if the portfolio is in a store.
 */
export async function planHubChange(
  context: CommandContext,
  paths: PortfolioPaths,
  request: HubRequest,
): Promise<readonly HubChange[]> {
  const { repository, hub, expected } = request;
  const state = expected ?? (await readPortfolio(paths));
  const currentHub = state.hubs[repository];
  if (
    expected !== undefined &&
    hub !== undefined &&
    currentHub !== undefined &&
    currentHub !== hub
  ) {
    refuse("hub_unusable", {
      message: `The hub of ${repository} is ${currentHub}, and a repository has one.`,
    });
  }

  if (hub !== undefined) {
    await requireUsableHub(paths, state, { ...request, hub });
    return buildHubEvents(context, state, repository, hub);
  }

  const isShared = readPortfolioMark(paths.ownFolder) !== null;
  if (!isShared) return [];
  if (currentHub !== undefined) {
    await requireUsableHub(paths, state, { ...request, hub: currentHub }); // the hub is known, but this branch of it may be missing
    return [];
  }

  const configured = findHubAddress(context.env);
  if (configured !== null && (await isHubOf(paths, state, { ...request, hub: configured }))) {
    return buildHubEvents(context, state, repository, configured);
  }

  return refuse("hub_unusable", {
    message: `The portfolio is in a store, and ${repository} has no hub: machines exchange its commits through a git repository that all of them reach.`,
    remediation: ["git init --bare /srv/git/project.git", "give the command again with --hub URL"],
  });
}

/**
 * Called while the journal is locked: refuses if another repository has got the hub since it was
 * checked.
 */
export function requireFreeHubs(
  state: PortfolioView,
  changes: readonly HubChange[],
): readonly HubChange[] {
  for (const { repository, hub } of changes) {
    const why = hub === null ? null : whyNoHub(state, repository, hub);
    if (why !== null) refuse("hub_unusable", { message: why, remediation: [] });
  }

  return changes;
}

const buildHubEvents = (
  context: CommandContext,
  { hubs }: PortfolioView,
  repository: string,
  hub: string,
): readonly HubChange[] =>
  hubs[repository] === hub
    ? []
    : [{ actor: toActor(context), reason_code: "ok", event: "hub_set", repository, hub }];

/**
 * Before a portfolio is planned in a store: repositories without a hub get AUTOPILOT_HUB if it is
 * theirs; refuses if any stays without.
 */
export async function settleHubs(context: CommandContext, paths: PortfolioPaths): Promise<void> {
  if (listProjectsWithoutHub(await readPortfolio(paths)).length === 0) return;
  const state = await withPortfolio(context, paths, ({ state: current }) =>
    Promise.resolve(structuredClone(current)),
  ); // a copy may be old

  const hub = findHubAddress(context.env);
  const missing: ReturnType<typeof listProjectsWithoutHub>[number][] = [];

  for (const project of listProjectsWithoutHub(state)) {
    if (hub === null || !(await isHubOf(paths, state, { ...project, hub }))) {
      missing.push(project);
    } else {
      await withPortfolio(context, paths, async ({ state: current, write }) => {
        if (current.hubs[project.repository] === undefined) {
          await write(
            ...requireFreeHubs(current, buildHubEvents(context, current, project.repository, hub)),
          );
        }
      });
    }
  }

  if (missing.length === 0) return;
  const names = missing.map(({ project_id, repository }) => `${project_id} (${repository})`);
  refuse("hub_unusable", {
    message: `${names.join(", ")}: no hub. Machines exchange the commits of a repository through a git repository that all of them reach, each its own.`,
    remediation: missing.map(
      ({ project_id }) => `autopilot portfolio edit ${project_id} --hub URL`,
    ),
  });
}

type HubBranch = TargetBranch & { readonly hub: string };

/**
 * Whether the hub can be used for this repository. An unreachable hub is an error: it may be the
 * right one.
 */
async function isHubOf(
  paths: PortfolioPaths,
  state: PortfolioView,
  branch: HubBranch,
): Promise<boolean> {
  if (whyNoHub(state, branch.repository, branch.hub) !== null) return false;
  try {
    await requireUsableHub(paths, state, branch);
    return true;
  } catch (error) {
    if (error instanceof Refusal && error.response.reason_code === "hub_unusable") return false;
    throw error;
  }
}

async function requireUsableHub(
  paths: PortfolioPaths,
  state: PortfolioView,
  { repository, target, hub }: HubBranch,
): Promise<void> {
  const why = whyNoHub(state, repository, hub);
  if (why !== null) refuse("hub_unusable", { message: why, remediation: [] });
  const clone = await requireRepository(findClone(paths, repository));
  const tip = await (await openProjectHub(paths, clone, repository, hub)).readTip(target);
  if (tip === null) {
    refuse("hub_unusable", {
      message: `${hub} has no branch ${target}, where finished work is to land.`,
      remediation: [`git -C ${clone.root} push ${hub} ${target}`],
    });
  }
}
