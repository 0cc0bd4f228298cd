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

const findProjectId = (state: PortfolioView, branch: LandingBranch): string =>
  Object.values(state.projects).find((project) => toQueueKey(project) === toQueueKey(branch))
    ?.project_id ?? "PROJECT";

export const branchGoneObstacle = (
  state: PortfolioView,
  { repository, target }: LandingBranch,
): LandingObstacle => ({
  why: `${repository} has no branch ${target} any more; make it again, or name another`,
  command: `autopilot portfolio edit ${findProjectId(state, { repository, target })} --target BRANCH`,
});

export const hubRefusalObstacle = (
  state: PortfolioView,
  { repository, target }: LandingBranch,
  why: string,
): LandingObstacle => ({
  why: `the hub refuses ${target}: ${why}`,
  command: `autopilot portfolio edit ${findProjectId(state, { repository, target })} --target BRANCH`,
});

/**
 * The branch's own checks fail. What waits lands by itself once the branch is mended, or together
 * with the task that mends it.
 */
export const redBranchObstacle = (
  state: PortfolioView,
  { repository, target }: LandingBranch,
  failures: string,
  check: string,
): LandingObstacle => ({
  why: `${target} of ${repository} is red: ${failures} there without any task; mend it, or let a task do so`,
  command: `autopilot portfolio add task ${findProjectId(state, { repository, target })} "mend ${target}" --accept ${shellWord(`it passes :: ${check}`)}`,
});

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
