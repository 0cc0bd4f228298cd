// lever-on-branch: puts the lever's commit on the branch that the cycle began on, and takes it back
// by another commit.
// Invariants R1 and on: calibration/bench/drive.ts.

import { join } from "node:path";
import { listSome } from "../../kit/list-some.ts";
import { findRepository, type Repository } from "../../workspace/git/repository.ts";
import { dropLandingBranch, landBranch } from "../../workspace/landing/land-branch.ts";
import { type CyclePlan, cyclesFolder } from "../cycle/plan.ts";
import type { DrivenCycle } from "./open-cycle.ts";
import type { Blocker } from "./preflight.ts";

const pathsShownMax = 5;
const revertRef = "revert";

type BranchMove = { readonly from: string; readonly to: string; readonly name: string };

/** The lever, the commit it was made on, and the branch's newest commit. */
type RevertCommits = { readonly base: string; readonly lever: string; readonly tip: string };

/** Moves the branch to the lever's commit. */
export async function applyLever(
  input: DrivenCycle,
  plan: CyclePlan,
  base: string,
  lever: string,
): Promise<Blocker | null> {
  const { context, log, trees } = input;
  const blocker = await moveBranch(input, { from: base, to: lever, name: "lever" });
  if (blocker !== null) return blocker;

  log.append({
    event: "lever_change_applied",
    lever_id: log.cycle.lever,
    files_changed: [...(await trees.listChangedFiles(base, lever))],
    commit_sha: lever,
    description: plan.description,
  });

  context.show(`✓ lever ${log.cycle.lever} committed as ${lever.slice(0, 12)}`);
  return null;
}

/** Commits a revert of the lever, even if other commits are on top of it. */
export async function revertLever(input: DrivenCycle, base: string): Promise<Blocker | null> {
  const { context, trees, log } = input;
  const checkout = await requireBranch(input);
  if ("problem" in checkout) return checkout;

  const lever = log.cycle.applied?.commit ?? "";
  const tip = (await trees.resolveCommit(`refs/heads/${checkout.branch}`)) ?? lever;
  const earlierRevert = await findUsableRevert(input, tip);
  const commit = earlierRevert ?? (await commitRevert(input, { base, lever, tip }));
  if (typeof commit !== "string") return commit;
  await trees.keepCommit(revertRef, commit);

  const parent = (await trees.resolveCommit(`${commit}^`)) ?? tip;
  const blocker = await moveBranch(input, { from: parent, to: commit, name: "revert" });
  if (blocker !== null) return blocker;

  log.append({
    event: "lever_change_reverted",
    files_changed: [...(await trees.listChangedFiles(parent, commit))],
    commit_sha: commit,
  });

  context.show(`✓ lever ${log.cycle.lever} reverted by ${commit.slice(0, 12)}`);
  return null;
}

/**
 * A revert that was made before a crash counts if it is on the branch, or still fits on it; else
 * the branch has gone on without it.
 */
async function findUsableRevert({ trees }: DrivenCycle, tip: string): Promise<string | null> {
  const revert = await trees.findKept(revertRef);
  if (revert === null) return null;
  if (await trees.isAncestor(revert, tip)) return revert;

  const parent = await trees.resolveCommit(`${revert}^`);
  return parent === tip ? revert : null;
}

async function commitRevert(
  { trees, log }: DrivenCycle,
  { base, lever, tip }: RevertCommits,
): Promise<string | Blocker> {
  // The changes from the lever back to its base, applied to the branch's tip.
  const merged = await trees.mergeTrees(lever, tip, base);
  if ("conflicts" in merged) {
    return {
      problem: `The lever cannot be taken back: ${listSome(merged.conflicts, pathsShownMax)} changed since.`,
      remedy: `git revert ${lever.slice(0, 12)} by hand, then autopilot calibrate resume`,
    };
  }

  const subject = `Revert "calibrate: ${log.cycle.lever}"`;
  const body = `This reverts commit ${lever}.\n\nCalibration-Cycle: ${log.cycle.name}\n`;
  return trees.commit(merged.tree, tip, `${subject}\n\n${body}`);
}

/**
 * Moves the branch from one commit to the next. R2: a branch that has it already is not moved
 * again.
 */
async function moveBranch(
  input: DrivenCycle,
  { from, to, name }: BranchMove,
): Promise<Blocker | null> {
  const { trees, log, folder } = input;
  const checkout = await requireBranch(input);
  if ("problem" in checkout) return checkout;

  const { branch, repository } = checkout;
  const landingName = `calibrate-${log.cycle.name}-${name}`;
  if (await trees.isAncestor(to, `refs/heads/${branch}`)) {
    await dropLandingBranch(repository, landingName);
    return null;
  }

  const landing = await landBranch(repository, {
    branch,
    from,
    to,
    folder: join(folder, name),
    message: `calibrate: ${log.cycle.lever}`,
    name: landingName,
    ownedPaths: [`${cyclesFolder}/**`],
  });
  if (landing.landed) return null;

  const remedy =
    landing.because === "moved"
      ? "bring the branch back to where the cycle began, or begin a new cycle"
      : "commit, stash or move away what is in the way";
  const detail = landing.detail.replace(/\.$/, "");
  return { problem: `The lever's commit cannot be put on the branch: ${detail}.`, remedy }; // R3
}

/**
 * The branch that the cycle began on, if it is checked out: the lever is committed there and
 * nowhere else. R3
 */
export async function requireBranch({
  trees,
  log,
}: DrivenCycle): Promise<{ readonly repository: Repository; readonly branch: string } | Blocker> {
  const lookup = await findRepository(trees.repository.root);
  if ("failure" in lookup) return { problem: lookup.failure.detail, remedy: "fix the repository" };

  const { repository } = lookup;
  const { branch } = repository;
  const expectedBranch = log.cycle.plan?.branch ?? branch;
  if (branch !== null && branch === expectedBranch) return { repository, branch };

  const expectedText = expectedBranch === null ? "" : `, and the cycle began on ${expectedBranch}`;
  return {
    problem: `The checkout is on ${branch ?? "no branch"}${expectedText}.`,
    remedy: `git switch ${expectedBranch ?? "to the branch the cycle began on"}`,
  };
}
