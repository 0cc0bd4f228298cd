// landings: lands finished work beside a pool's workers, one batch in each repository at a time,
// and reports what blocks a landing.

import {
  type LandingObstacle,
  obstacleFromError,
} from "../../portfolio/merge/landing-obstacles.ts";
import { settleBatches } from "../../portfolio/merge/land-batch.ts";
import { proveAndLandBatch, type RedBranch } from "../../portfolio/merge/prove-and-land.ts";
import type { PlanAction } from "../../portfolio/planner/plan-actions.ts";
import type { RedTarget } from "../../portfolio/planner/merge-order.ts";
import { toQueueKey } from "../../portfolio/planner/state.ts";
import { readPortfolio } from "../../portfolio/store/fold.ts";
import type { PortfolioPaths } from "../../portfolio/store/folder.ts";
import { withPortfolio } from "../../portfolio/store/open.ts";
import { computeDelayMs, mayTryAgain } from "../../portfolio/planner/retry-delays.ts";
import { openProjectExchange } from "../../portfolio/worker/exchange-for.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { systemClock } from "../../project/runs/system-clock.ts";

type MergeAction = Extract<PlanAction, { readonly do: "merge" }>;
type Branch = { readonly repository: string; readonly target: string };

/**
 * `isRetried`: it is an outage, or may be one, and landing is tried again at `retryAtMs` of the
 * monotonic clock.
 */
export type HeldLanding = Branch & {
  readonly why: string;
  readonly tries: number;
  readonly isRetried: boolean;
  readonly retryAtMs: number;
};

export type Landings = {
  readonly context: CommandContext;
  readonly paths: PortfolioPaths;
  readonly input: { readonly isolation?: string | undefined };
  /** Batches under way, by repository. */
  readonly mergingByRepository: Map<string, Promise<void>>;
  /** What keeps a queue from landing. */
  readonly heldByQueue: Map<string, HeldLanding>;
  /**
   * Branches whose own checks fail, by queue. They are checked once, and again when the branch
   * moves or more work is finished.
   */
  readonly redBranchByQueue: Map<string, RedBranch>;
  /** Whether something changed since the last tick. */
  hasNews: boolean;
};

const toMergeParts = ({ context, paths, input }: Landings) => ({
  context,
  paths,
  isolation: input.isolation,
});

/**
 * Lands batches that an earlier pool proved. Returns the repositories whose landing still waits:
 * nothing is proved there meanwhile.
 */
export async function settleLandings(pool: Landings): Promise<ReadonlySet<string>> {
  const delayed = [...pool.heldByQueue.values()]
    .filter(({ retryAtMs }) => retryAtMs > systemClock.monotonicMs())
    .map(({ repository }) => repository);
  const settled = await settleBatches(
    toMergeParts(pool),
    new Set([...pool.mergingByRepository.keys(), ...delayed]),
  );

  for (const { obstacle, ...branch } of settled) await recordObstacle(pool, branch, obstacle);
  return new Set([...delayed, ...settled.map(({ repository }) => repository)]);
}

/** Branches whose own checks failed and that have not moved since. */
export async function findRedTargets({
  redBranchByQueue,
  heldByQueue,
  paths,
}: Landings): Promise<ReadonlyMap<string, RedTarget>> {
  const targets = new Map<string, RedTarget>();
  for (const [queue, { tip, tasks }] of redBranchByQueue) {
    const branch = heldByQueue.get(queue);
    if (branch === undefined) continue;

    const currentTip = await openProjectExchange(
      paths,
      await readPortfolio(paths),
      branch.repository,
    )
      .then((exchange) => exchange.readTip(branch.target))
      .catch(() => null); // the next landing says what is wrong with the repository
    if (currentTip === tip) targets.set(queue, { because: branch.why, tasks: new Set(tasks) });
  }

  return targets;
}

/**
 * Begins a batch, unless one is under way in its repository, or was proved there and cannot land
 * yet.
 */
export function beginMerge(
  pool: Landings,
  action: MergeAction,
  waiting: ReadonlySet<string>,
): void {
  const { mergingByRepository } = pool;
  const { repository } = action;
  if (mergingByRepository.has(repository) || waiting.has(repository)) return;

  const ended = mergeAndRecord(pool, action)
    .catch((error: unknown) =>
      pool.context.show(
        `! ${repository}: ${error instanceof Error ? error.message : String(error)}`,
      ),
    )
    .finally(() => mergingByRepository.delete(repository));
  mergingByRepository.set(repository, ended);
}

async function mergeAndRecord(pool: Landings, action: MergeAction): Promise<void> {
  const { repository, target } = action;
  try {
    const { obstacle, landed, rejected, red } = await proveAndLandBatch(
      toMergeParts(pool),
      action,
      pool.redBranchByQueue.get(toQueueKey(action)),
    );
    if (red === null) pool.redBranchByQueue.delete(toQueueKey(action));
    else pool.redBranchByQueue.set(toQueueKey(action), red);

    if (landed > 0 || rejected > 0) pool.hasNews = true;
    await recordObstacle(pool, { repository, target }, obstacle);
  } catch (error) {
    // What is wrong with one repository keeps only its own tasks from landing.
    await recordObstacle(
      pool,
      { repository, target },
      obstacleFromError(await readPortfolio(pool.paths), action, error),
    );
  }
}

/**
 * Notes what keeps a branch's queue from landing, or null that nothing does any more. It is shown
 * once, and again only if it changes. What a person must clear away is journaled too, so that
 * status and inbox show it.
 */
async function recordObstacle(
  { heldByQueue, context, paths }: Landings,
  branch: Branch,
  obstacle: LandingObstacle | null,
): Promise<void> {
  const queue = toQueueKey(branch);
  const earlier = heldByQueue.get(queue);
  const tries = earlier?.tries ?? 0;
  const isRetried = obstacle?.retry !== undefined && mayTryAgain(obstacle.retry, tries);

  if (obstacle === null) {
    heldByQueue.delete(queue);
  } else {
    const retryAtMs = isRetried ? systemClock.monotonicMs() + computeDelayMs(tries) : 0;
    heldByQueue.set(queue, {
      ...branch,
      why: obstacle.why,
      tries: obstacle.retry === undefined ? 0 : tries + 1,
      isRetried,
      retryAtMs,
    });
  }

  if (earlier?.why !== obstacle?.why && obstacle !== null) {
    context.show(`! Landing waits: ${obstacle.why}`);
  }

  const because = obstacle === null || obstacle.command === null || isRetried ? null : obstacle.why;
  if ((await readPortfolio(paths)).held[queue]?.because === (because ?? undefined)) return;
  await withPortfolio(context, paths, async ({ state, write }) => {
    if (state.held[queue]?.because === (because ?? undefined)) return;
    const { repository, target } = branch;
    const command = obstacle?.command ?? "";
    await write({
      actor: "system",
      reason_code: "ok",
      event: "landing_held",
      repository,
      target,
      because,
      command,
    });
  });
}
