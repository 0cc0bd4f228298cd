// landings: the merge queue beside a pool's workers: batches under way, and what blocks landings, reported and journaled.
// Invariants N1 and on: commands/portfolio/pool.ts.

import { type HeldUp, heldByError } from "../../portfolio/merge/held-up.ts";
import { settleBatches } from "../../portfolio/merge/land-batch.ts";
import { mergeBatch, type RedBranch } from "../../portfolio/merge/merge-queue.ts";
import type { Action } from "../../portfolio/planner/plan-actions.ts";
import type { RedTarget } from "../../portfolio/planner/merges.ts";
import { queueOf } from "../../portfolio/planner/state.ts";
import { readPortfolio } from "../../portfolio/store/fold.ts";
import type { PortfolioPaths } from "../../portfolio/store/folder.ts";
import { withPortfolio } from "../../portfolio/store/open.ts";
import { delayMs, mayTryAgain } from "../../portfolio/planner/retry-delays.ts";
import { exchangeFor } from "../../portfolio/worker/exchange-for.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { systemClock } from "../../project/runs/system-clock.ts";

type Merge = Extract<Action, { readonly do: "merge" }>;
type Branch = { readonly repository: string; readonly target: string };

/** `goesOn`: it is an outage, or may be one, and is tried again at `againMs` of the monotonic clock. */
export type HeldLanding = Branch & { readonly why: string; readonly tries: number; readonly goesOn: boolean; readonly againMs: number };

export type Landings = {
  readonly context: CommandContext;
  readonly paths: PortfolioPaths;
  readonly input: { readonly isolation?: string | undefined };
  /** Batches under way, by repository. N5 */
  readonly merging: Map<string, Promise<void>>;
  /** What holds the landing up, by queue. N6 */
  readonly held: Map<string, HeldLanding>;
  /** Branches whose own checks fail, by queue. A pool looks once, and again when the branch moves or more is finished. */
  readonly red: Map<string, RedBranch>;
  /** Something moved since the last look. */
  hasNews: boolean;
};

const partsOf = ({ context, paths, input }: Landings) => ({ context, paths, isolation: input.isolation });

/** Batches that a pool before this one proved. The repositories whose landing still waits: nothing there is proved again meanwhile. */
export async function settle(pool: Landings): Promise<ReadonlySet<string>> {
  const early = [...pool.held.values()].flatMap(({ repository, againMs }) => (againMs > systemClock.monotonicMs() ? repository : []));
  const settled = await settleBatches(partsOf(pool), new Set([...pool.merging.keys(), ...early]));
  for (const { held, ...branch } of settled) await hold(pool, branch, held);
  return new Set([...early, ...settled.map(({ repository }) => repository)]);
}

/** Branches that are still where they were found red. */
export async function redTargets({ red, held, paths }: Landings): Promise<ReadonlyMap<string, RedTarget>> {
  const targets = new Map<string, RedTarget>();
  for (const [queue, { tip, tasks }] of red) {
    const branch = held.get(queue);
    if (branch === undefined) continue;
    const now = await exchangeFor(paths, await readPortfolio(paths), branch.repository)
      .then((exchange) => exchange.tipOf(branch.target))
      .catch(() => null);
    if (now === tip) targets.set(queue, { because: branch.why, tasks: new Set(tasks) });
  }
  return targets;
}

/** N5. A batch that was proved and cannot land yet is not proved again. */
export function beginMerge(pool: Landings, action: Merge, waiting: ReadonlySet<string>): void {
  const { merging } = pool;
  const { repository } = action;
  if (merging.has(repository) || waiting.has(repository)) return;
  const ended = merge(pool, action)
    .catch((error: unknown) => pool.context.show(`! ${repository}: ${error instanceof Error ? error.message : String(error)}`))
    .finally(() => merging.delete(repository));
  merging.set(repository, ended);
}

async function merge(pool: Landings, action: Merge): Promise<void> {
  const { repository, target } = action;
  try {
    const { held, landed, rejected, red } = await mergeBatch(partsOf(pool), action, pool.red.get(queueOf(action)));
    if (red === null) pool.red.delete(queueOf(action));
    else pool.red.set(queueOf(action), red);
    if (landed > 0 || rejected > 0) pool.hasNews = true;
    await hold(pool, { repository, target }, held);
  } catch (error) {
    await hold(pool, { repository, target }, heldByError(await readPortfolio(pool.paths), action, error)); // N4
  }
}

/** N6. What a person must clear away is journaled, so that everything that shows what waits shows it. */
async function hold({ held, context, paths }: Landings, branch: Branch, now: HeldUp | null): Promise<void> {
  const queue = queueOf(branch);
  const before = held.get(queue);
  const tries = before?.tries ?? 0;
  const goesOn = now?.retry !== undefined && mayTryAgain(now.retry, tries);
  if (now === null) held.delete(queue);
  else {
    const againMs = goesOn ? systemClock.monotonicMs() + delayMs(tries) : 0;
    held.set(queue, { ...branch, why: now.why, tries: now.retry === undefined ? 0 : tries + 1, goesOn, againMs });
  }
  if (before?.why !== now?.why && now !== null) context.show(`! Landing waits: ${now.why}`);
  const because = now === null || now.command === null || goesOn ? null : now.why;
  if ((await readPortfolio(paths)).held[queue]?.because === (because ?? undefined)) return;
  await withPortfolio(context, paths, async ({ state, write }) => {
    if (state.held[queue]?.because === (because ?? undefined)) return;
    const { repository, target } = branch;
    await write({ actor: "system", reason_code: "ok", event: "landing_held", repository, target, because, command: now?.command ?? "" });
  });
}
