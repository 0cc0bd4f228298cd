// held-up: the reasons that hold a landing up, each with the command that helps.
// Invariants L1 and on: portfolio/merge/land-batch.ts.

import { shellWord } from "../../kit/shell-word.ts";
import type { Retry } from "../../contracts/reason.ts";
import { toFailure, findRetryPolicy } from "../../project/respond.ts";
import type { BranchObstacle } from "../../workspace/landing/land-branch.ts";
import { type PortfolioView, queueOf } from "../planner/state.ts";

/** What holds a landing up; `command` null: it goes on by itself, or asks its own question. `retry`: whether an error may pass. L2 */
export type HeldUp = { readonly why: string; readonly command: string | null; readonly retry?: Retry };
export type Branch = { readonly repository: string; readonly target: string };

/** Files of the portfolio's own that no landing looks at. */
export const ownedByPortfolio: readonly string[] = [".openclaw-autopilot/**"];

export const heldForNow = (why: string): HeldUp => ({ why, command: null });

const projectAt = (state: PortfolioView, branch: Branch): string =>
  Object.values(state.projects).find((project) => queueOf(project) === queueOf(branch))?.project_id ?? "PROJECT";

export const branchGone = (state: PortfolioView, { repository, target }: Branch): HeldUp => ({
  why: `${repository} has no branch ${target} any more; make it again, or name another`,
  command: `autopilot portfolio edit ${projectAt(state, { repository, target })} --target BRANCH`,
});

export const hubRefuses = (state: PortfolioView, { repository, target }: Branch, why: string): HeldUp => ({
  why: `the hub refuses ${target}: ${why}`,
  command: `autopilot portfolio edit ${projectAt(state, { repository, target })} --target BRANCH`,
});

/** What waits lands by itself once the branch is mended, or with the task that mends it. */
export const branchRed = (state: PortfolioView, { repository, target }: Branch, failures: string, check: string): HeldUp => ({
  why: `${target} of ${repository} is red: ${failures} there without any task; mend it, or let a task do so`,
  command: `autopilot portfolio add task ${projectAt(state, { repository, target })} "mend ${target}" --accept ${shellWord(`it passes :: ${check}`)}`,
});

export function heldByError(state: PortfolioView, branch: Branch, error: unknown): HeldUp {
  const { code, message } = toFailure(error);
  const flag = code === "hub_unusable" ? "--hub URL" : "--repo DIR";
  return { why: message, command: `autopilot portfolio edit ${projectAt(state, branch)} ${flag}`, retry: findRetryPolicy(code) };
}

export const obstacleCommand = ({ git: { folder, words } }: Pick<BranchObstacle, "git">): string => `git -C ${shellWord(folder)} ${words}`;
