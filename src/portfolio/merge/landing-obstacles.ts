// landing-obstacles: the reasons why finished work cannot land, each with the command that helps.

import { shellWord } from "../../kit/shell-word.ts";
import type { Retry } from "../../contracts/reason.ts";
import { toFailure, findRetryPolicy } from "../../project/respond.ts";
import type { BranchObstacle } from "../../workspace/landing/land-branch.ts";
import { type PortfolioView, toQueueKey } from "../planner/state.ts";

/**
 * Why a landing waits. `command`: what helps; null if the obstacle passes by itself or a question
 * is asked about it. `retry`: for an error, whether trying again may help.
 */
export type LandingObstacle = {
  readonly why: string;
  readonly command: string | null;
  readonly retry?: Retry;
};
export type LandingBranch = { readonly repository: string; readonly target: string };

/** The portfolio's own files, whose changes in a checkout are no obstacle. */
export const portfolioOwnedPaths: readonly string[] = [".openclaw-autopilot/**"];

export const passingObstacle = (why: string): LandingObstacle => ({ why, command: null });

function findProjectId({ projects }: PortfolioView, branch: LandingBranch): string {
  const project = Object.values(projects).find(
    (candidate) => toQueueKey(candidate) === toQueueKey(branch),
  );
  return project?.project_id ?? "PROJECT";
}

const composeTargetEdit = (state: PortfolioView, branch: LandingBranch): string =>
  `autopilot portfolio edit ${findProjectId(state, branch)} --target BRANCH`;

export const branchGoneObstacle = (
  state: PortfolioView,
  branch: LandingBranch,
): LandingObstacle => ({
  why: `${branch.repository} has no branch ${branch.target} any more; make it again, or name another`,
  command: composeTargetEdit(state, branch),
});

export const hubRefusalObstacle = (
  state: PortfolioView,
  branch: LandingBranch,
  why: string,
): LandingObstacle => ({
  why: `the hub refuses ${branch.target}: ${why}`,
  command: composeTargetEdit(state, branch),
});

/**
 * The branch's own checks fail. What waits lands by itself once the branch is mended, or together
 * with the task that mends it.
 */
export function redBranchObstacle(
  state: PortfolioView,
  branch: LandingBranch,
  failures: string,
  check: string,
): LandingObstacle {
  const { repository, target } = branch;
  const project = findProjectId(state, branch);
  const criterion = shellWord(`it passes :: ${check}`);

  return {
    why: `${target} of ${repository} is red: ${failures} there without any task; mend it, or let a task do so`,
    command: `autopilot portfolio add task ${project} "mend ${target}" --accept ${criterion}`,
  };
}

/**
 * The command suggests what a person can change if the error doesn't pass: the hub or the
 * repository.
 */
export function obstacleFromError(
  state: PortfolioView,
  branch: LandingBranch,
  error: unknown,
): LandingObstacle {
  const { code, message } = toFailure(error);
  const flag = code === "hub_unusable" ? "--hub URL" : "--repo DIR";
  return {
    why: message,
    command: `autopilot portfolio edit ${findProjectId(state, branch)} ${flag}`,
    retry: findRetryPolicy(code),
  };
}

export const obstacleCommand = ({ git: { folder, words } }: Pick<BranchObstacle, "git">): string =>
  `git -C ${shellWord(folder)} ${words}`;
