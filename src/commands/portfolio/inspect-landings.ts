// inspect-landings: finds out whether finished work could land now, by inspecting each repository.
// Changes nothing.

import { readPortfolioMark } from "../../fleet/shared-mark.ts";
import type { PortfolioPaths } from "../../portfolio/store/folder.ts";
import {
  branchGoneObstacle,
  type LandingObstacle,
  portfolioOwnedPaths,
  obstacleFromError,
  obstacleCommand,
} from "../../portfolio/merge/landing-obstacles.ts";
import { inspectRewound } from "../../portfolio/merge/rewound.ts";
import type { PlanAction } from "../../portfolio/planner/plan-actions.ts";
import { type HeldBranch, type PortfolioView, toQueueKey } from "../../portfolio/planner/state.ts";
import { isAncestor } from "../../workspace/git/commits.ts";
import { readBranch } from "../../workspace/git/refs.ts";
import { findRepository } from "../../workspace/git/repository.ts";
import { findBranchObstacle } from "../../workspace/landing/land-branch.ts";

type Merge = Extract<PlanAction, { readonly do: "merge" }>;
export type InspectedLandings = {
  /** What keeps each queue from landing now. */
  readonly obstacleByQueue: ReadonlyMap<string, string>;
  /**
   * The state with these obstacles added. Those that the pool met when it last tried stay where
   * none is found now.
   */
  readonly state: PortfolioView;
};

/** `actions`: the plan, whose merges are the landings that are due. */
export async function inspectLandings(
  paths: PortfolioPaths,
  state: PortfolioView,
  actions: readonly PlanAction[],
  now: string,
): Promise<InspectedLandings> {
  if (readPortfolioMark(paths.ownFolder) !== null) return { obstacleByQueue: new Map(), state }; // it lands on the hub, whatever a clone holds
  const reasonByQueue = new Map<string, string>();
  const heldByQueue: Record<string, HeldBranch> = { ...state.held };

  for (const action of actions) {
    const obstacle = action.do === "merge" ? await findObstacle(state, action) : null;
    if (action.do !== "merge" || obstacle === null) continue;
    const { repository, target } = action;
    const queue = toQueueKey(action);
    reasonByQueue.set(queue, obstacle.why);

    if (obstacle.command === null) {
      delete heldByQueue[queue];
    } // a question tells the person instead
    else {
      heldByQueue[queue] = {
        repository,
        target,
        because: obstacle.why,
        command: obstacle.command,
        since: heldByQueue[queue]?.since ?? now,
      };
    }
  }

  return { obstacleByQueue: reasonByQueue, state: { ...state, held: heldByQueue } };
}

async function findObstacle(state: PortfolioView, action: Merge): Promise<LandingObstacle | null> {
  const lookup = await findRepository(action.repository);
  if ("failure" in lookup) {
    return obstacleFromError(state, action, new Error(lookup.failure.detail));
  }

  const { repository } = lookup;
  const tip = await readBranch(repository, `refs/heads/${action.target}`);
  if (tip === null) return branchGoneObstacle(state, action);
  const gitOptions = { cwd: repository.root, env: { GIT_DIR: repository.gitDir } };
  const isWithin = (commit: string, newer: string): Promise<boolean> =>
    isAncestor(gitOptions, commit, newer).catch(() => false);

  const rewound = await inspectRewound(isWithin, state, {
    repository: action.repository,
    target: action.target,
    tip,
  });
  if (rewound !== null) return rewound;
  const commits = action.tasks.flatMap((id) => state.tasks[id]?.commit ?? []);

  const obstacle = await findBranchObstacle(
    repository,
    action.target,
    portfolioOwnedPaths,
    commits,
  );
  return obstacle === null ? null : { why: obstacle.detail, command: obstacleCommand(obstacle) };
}
