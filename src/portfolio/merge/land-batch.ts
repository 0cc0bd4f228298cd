// land-batch: moves the branch to a proved batch, records it, and recovers an interrupted one.
//
// Invariants:
//   L1. A landing's folder and branch are named after its batch: after a kill the next pool finds
//       them, undoes partial work (in workspace/landing), and leaves neither behind
//       (clear-leftovers.ts).
//   L2. An obstacle that only a person can remove is reported with the command that helps; anything
//       else is tried again without one.
//   L3. The landing is journaled after the branch has moved. If this process is killed in between,
//       the branch shows that it has.

import { join } from "node:path";
import type { PortfolioChange } from "../../contracts/portfolio/portfolio-journal.ts";
import { findRecovery } from "../planner/recovery.ts";
import type { VerifiedBatch, View } from "../planner/state.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { ensureFolderBelow } from "../../project/own-folder.ts";
import { dropLandingBranch, landBranch } from "../../workspace/landing/land-branch.ts";
import { readPortfolio } from "../store/fold.ts";
import { type PortfolioPaths, requirePlanner } from "../store/folder.ts";
import { type OpenPortfolio, withPortfolio } from "../store/open.ts";
import { openProjectExchange, type ProjectExchange } from "../worker/exchange-for.ts";
import type { Exchange } from "../worker/git-exchange.ts";
import {
  type LandingBranch,
  type LandingObstacle,
  hubRefusalObstacle,
  portfolioOwnedPaths,
  passingObstacle,
  obstacleFromError,
  obstacleCommand,
} from "./landing-obstacles.ts";
import { eraseSync } from "../../workspace/folder.ts";
import { sha256 } from "../../project/sha256.ts";

export type QueueParts = {
  readonly context: CommandContext;
  readonly paths: PortfolioPaths;
  readonly isolation?: string | undefined;
};
type Batch = View<VerifiedBatch>;
type WaitingLanding = LandingBranch & { readonly obstacle: LandingObstacle };

const systemFields = { actor: "system", reason_code: "ok" } as const;
export const landingsFolder = "landings";

/**
 * Named like a run, so that cleaning up the branches of runs covers it; the year 2000 keeps it
 * apart from every real run (L1).
 */
export function landingName(
  { ownFolder }: Pick<PortfolioPaths, "ownFolder">,
  { from, commit }: Pick<Batch, "from" | "commit">,
): string {
  const hash = sha256([ownFolder, from, commit].join("\0")).slice(0, 12);
  return `run-2000-01-01-000000-${Number.parseInt(hash, 16)}`;
}

/** Lands a proved batch; returns the obstacle, null if it landed. */
export async function landBatch(
  parts: QueueParts,
  exchange: ProjectExchange,
  batch: Batch,
  target: string,
): Promise<LandingObstacle | null> {
  const { context, paths } = parts;
  const obstacle =
    exchange.landOnHub === null
      ? await landInCheckout(parts, exchange, batch, target)
      : await landOnHub(parts, exchange.landOnHub, batch, target);
  if (obstacle !== null) return obstacle;

  await withPortfolio(context, paths, (portfolio) => recordLanding(portfolio, batch, target)); // L3
  for (const task_id of batch.tasks) context.show(`✓ ${task_id} landed on ${target}`);
  await deleteLandingRemains(paths, exchange, batch);
  return null;
}

/**
 * Moves the hub's branch by compare-and-set: if two machines land at once, one of them succeeds.
 */
async function landOnHub(
  { paths }: QueueParts,
  land: NonNullable<ProjectExchange["landOnHub"]>,
  { repository, from, commit }: Batch,
  target: string,
): Promise<LandingObstacle | null> {
  await requirePlanner(paths); // proving took a while, and the lease may be lost by now
  const landing = await land(target, from, commit);
  if (landing.kind === "landed") return null;
  if (landing.kind === "moved") return passingObstacle(`${target} of the hub has moved`);

  const state = await readPortfolio(paths);
  return hubRefusalObstacle(state, { repository, target }, landing.why);
}

/** Moves the branch of the repository itself, and its checkout if that is on the branch. */
async function landInCheckout(
  { paths }: QueueParts,
  exchange: Exchange,
  batch: Batch,
  target: string,
): Promise<LandingObstacle | null> {
  const name = landingName(paths, batch);
  const landing = await landBranch(exchange.repository, {
    branch: target,
    from: batch.from,
    to: batch.commit,
    folder: ensureFolderBelow(paths.ownFolder, join(landingsFolder, name)),
    message: `Land ${batch.tasks.join(", ")}`,
    name,
    ownedPaths: portfolioOwnedPaths,
  });
  if (landing.landed) return null;

  const why = `${batch.repository}: ${landing.detail.replace(/\.$/, "")}`;
  if (landing.because === "moved") return passingObstacle(why);
  return { why, command: obstacleCommand(landing) }; // L2
}

async function recordLanding(
  { state, write }: OpenPortfolio,
  batch: Batch,
  target: string,
): Promise<void> {
  const runningIds = batch.tasks.filter((id) => state.tasks[id]?.status === "running");
  const changes = runningIds.map((task_id): PortfolioChange => ({
    ...systemFields,
    event: "merge_landed",
    task_id,
    commit: batch.commit,
    target,
  }));
  if (changes.length > 0) await write(...changes);
}

/** Deletes a landing's branch and folder, and the refs of its tasks (L1). */
async function deleteLandingRemains(
  paths: PortfolioPaths,
  exchange: Exchange,
  batch: Batch,
): Promise<void> {
  await exchange.forget(...batch.tasks);
  await dropLandingBranch(exchange.repository, landingName(paths, batch));
  eraseSync(join(paths.ownFolder, landingsFolder, landingName(paths, batch)));
}

/**
 * Settles proved batches that were never recorded as landed, except in some repositories. Returns
 * those that still wait, and why.
 */
export async function settleBatches(
  parts: QueueParts,
  except: ReadonlySet<string> = new Set(),
): Promise<readonly WaitingLanding[]> {
  const state = await readPortfolio(parts.paths);
  const waiting: WaitingLanding[] = [];

  for (const batch of structuredClone(state.batches)) {
    const { repository } = batch;
    const firstTask = state.tasks[batch.tasks[0] ?? ""];
    const target = state.projects[firstTask?.project_id ?? ""]?.target;
    if (target === undefined || except.has(repository)) continue;

    const branch = { repository, target };
    try {
      const obstacle = await settleBatch(parts, batch, target);
      if (obstacle !== null) waiting.push({ ...branch, obstacle });
    } catch (error) {
      waiting.push({ ...branch, obstacle: obstacleFromError(state, branch, error) });
    }
  }

  return waiting;
}

/**
 * Records or finishes one landing; returns the obstacle, null if it landed or has to be proved
 * again.
 */
async function settleBatch(
  parts: QueueParts,
  batch: Batch,
  target: string,
): Promise<LandingObstacle | null> {
  const { context, paths } = parts;
  const state = await readPortfolio(paths);
  const exchange = await openProjectExchange(paths, state, batch.repository);
  const tip = await exchange.readTip(target);

  const { remedy } = findRecovery({
    worker: "gone",
    lease: "lapsed",
    run: "ended",
    result: "ingested",
    merge: (await hasLanded(exchange, batch, tip)) ? "landed" : "verified",
  });
  if (remedy === "record_landing") {
    await withPortfolio(context, paths, (portfolio) => recordLanding(portfolio, batch, target));
    await deleteLandingRemains(paths, exchange, batch);
    return null;
  }

  // A batch that another machine proved and never landed has no commit here: it is proved again.
  const isStillOnTop = tip === batch.from && (await exchange.hasCommit(batch.commit));
  return isStillOnTop ? landBatch(parts, exchange, batch, target) : null;
}

async function hasLanded(
  exchange: Exchange,
  { commit }: Batch,
  tip: string | null,
): Promise<boolean> {
  if (tip === null) return false;
  return tip === commit || exchange.isWithin(commit, tip);
}
