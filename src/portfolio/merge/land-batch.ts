// land-batch: moves the branch to a proved batch, records it, and recovers an interrupted one.
//
// Invariants:
//   L1. A landing's folder and branch are named after its batch: after a kill the next pool finds them, undoes partial work, and leaves
//       neither behind.
//   L2. What only a person can clear away is reported with the command that helps; everything else is tried again by itself.
// Invariants M1 and on: portfolio/merge/merge-queue.ts.

import { createHash } from "node:crypto";
import { join } from "node:path";
import type { PortfolioChange } from "../../contracts/portfolio-journal.ts";
import { recoveryFor } from "../planner/recovery.ts";
import type { VerifiedBatch, View } from "../planner/state.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { ensureFolderBelow } from "../../project/own-folder.ts";
import { dropLandingBranch, landBranch } from "../../workspace/landing/land-branch.ts";
import { readPortfolio } from "../store/fold.ts";
import { type PortfolioPaths, requirePlanner } from "../store/folder.ts";
import { type OpenPortfolio, withPortfolio } from "../store/open.ts";
import { exchangeFor, type ProjectExchange } from "../worker/exchange-for.ts";
import type { Exchange } from "../worker/git-exchange.ts";
import { type Branch, type HeldUp, hubRefuses, ownedByPortfolio, heldForNow, heldByError, obstacleCommand } from "./held-up.ts";
import { eraseSync } from "../../workspace/folder.ts";

export type QueueParts = { readonly context: CommandContext; readonly paths: PortfolioPaths; readonly isolation?: string | undefined };
type Batch = View<VerifiedBatch>;

const system = { actor: "system", reason_code: "ok" } as const;
export const landingsFolder = "landings";

/** Named like a run, so that cleaning up the branches of runs covers it; the year 2000 keeps it apart from every real run. L1 */
export function landingName({ own }: Pick<PortfolioPaths, "own">, { from, commit }: Pick<Batch, "from" | "commit">): string {
  const hash = createHash("sha256").update([own, from, commit].join("\0")).digest("hex").slice(0, 12);
  return `run-2000-01-01-000000-${Number.parseInt(hash, 16)}`;
}

/** Lands a proved batch; returns what holds it up, null if it landed. M1, M2 */
export async function landBatch(parts: QueueParts, exchange: ProjectExchange, batch: Batch, target: string): Promise<HeldUp | null> {
  const { context, paths } = parts;
  const held =
    exchange.landOnHub === null
      ? await landInCheckout(parts, exchange, batch, target)
      : await landOnHub(parts, exchange.landOnHub, batch, target);
  if (held !== null) return held;
  await withPortfolio(context, paths, (open) => recordLanding(open, batch, target));
  for (const task_id of batch.tasks) context.show(`✓ ${task_id} landed on ${target}`);
  await forgetLanding(paths, exchange, batch);
  return null;
}

/** On the hub's branch, by compare-and-set: of two machines that land at once one does. */
async function landOnHub(
  { paths }: QueueParts,
  land: NonNullable<ProjectExchange["landOnHub"]>,
  batch: Batch,
  target: string,
): Promise<HeldUp | null> {
  await requirePlanner(paths); // proving takes a while
  const landing = await land(target, batch.from, batch.commit);
  if (landing.kind === "landed") return null;
  if (landing.kind === "moved") return heldForNow(`${target} of the hub has moved`);
  return hubRefuses(await readPortfolio(paths), { repository: batch.repository, target }, landing.why);
}

/** On the branch of the repository itself, and in its checkout. */
async function landInCheckout({ paths }: QueueParts, exchange: Exchange, batch: Batch, target: string): Promise<HeldUp | null> {
  const name = landingName(paths, batch);
  const request = {
    branch: target,
    from: batch.from,
    to: batch.commit,
    folder: ensureFolderBelow(paths.own, join(landingsFolder, name)),
    message: `Land ${batch.tasks.join(", ")}`,
    name,
    ownedPaths: ownedByPortfolio,
  };
  const landing = await landBranch(exchange.repository, request);
  if (landing.landed) return null;
  const why = `${batch.repository}: ${landing.detail.replace(/\.$/, "")}`;
  return landing.because === "moved" ? heldForNow(why) : { why, command: obstacleCommand(landing) };
}

async function recordLanding({ state, write }: OpenPortfolio, batch: Batch, target: string): Promise<void> {
  const open = batch.tasks.filter((id) => state.tasks[id]?.status === "running");
  const lines = open.map((task_id): PortfolioChange => ({ ...system, event: "merge_landed", task_id, commit: batch.commit, target }));
  if (lines.length > 0) await write(...lines);
}

/** Deletes what a landing left: its branch and its folder. L1 */
async function forgetLanding(paths: PortfolioPaths, exchange: Exchange, batch: Batch): Promise<void> {
  await exchange.forget(...batch.tasks);
  await dropLandingBranch(exchange.repository, landingName(paths, batch));
  eraseSync(join(paths.own, landingsFolder, landingName(paths, batch)));
}

/** Proved batches that were never recorded as landed: the branch itself shows whether they did. Returns those that still wait, and why. */
export async function settleBatches(
  parts: QueueParts,
  except: ReadonlySet<string> = new Set(),
): Promise<readonly (Branch & { readonly held: HeldUp })[]> {
  const state = await readPortfolio(parts.paths);
  const waiting: (Branch & { readonly held: HeldUp })[] = [];
  for (const batch of structuredClone(state.batches)) {
    const { repository } = batch;
    const first = state.tasks[batch.tasks[0] ?? ""];
    const target = state.projects[first?.project_id ?? ""]?.target;
    if (target === undefined || except.has(repository)) continue;
    try {
      const held = await settle(parts, batch, target);
      if (held !== null) waiting.push({ repository, target, held });
    } catch (error) {
      waiting.push({ repository, target, held: heldByError(state, { repository, target }, error) });
    }
  }
  return waiting;
}

/** What blocks a proved batch; null if it landed, or has to be proved again. */
async function settle(parts: QueueParts, batch: Batch, target: string): Promise<HeldUp | null> {
  const exchange = await exchangeFor(parts.paths, await readPortfolio(parts.paths), batch.repository);
  const tip = await exchange.tipOf(target);
  const hasLanded = tip !== null && (tip === batch.commit || (await exchange.holds(batch.commit, tip)));
  const { remedy } = recoveryFor({
    worker: "gone",
    lease: "lapsed",
    run: "ended",
    result: "ingested",
    merge: hasLanded ? "landed" : "verified",
  });
  if (remedy === "record_landing") {
    await withPortfolio(parts.context, parts.paths, (open) => recordLanding(open, batch, target));
    await forgetLanding(parts.paths, exchange, batch);
    return null;
  }
  // What another machine proved and never landed is not here; it is proved again.
  return tip === batch.from && (await exchange.has(batch.commit)) ? landBatch(parts, exchange, batch, target) : null;
}
