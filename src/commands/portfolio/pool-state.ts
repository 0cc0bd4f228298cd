// pool-state: what a pool keeps in memory: the runs, landings and starts under way, and how it waits
// for them.
// Invariants N1 and on: commands/portfolio/pool.ts.

import { setTimeout as sleep } from "node:timers/promises";
import type { PortfolioPaths } from "../../portfolio/store/folder.ts";
import type { WorkerPool } from "../../portfolio/worker/dispatch.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { systemClock } from "../../project/runs/system-clock.ts";
import type { Landings } from "./landings.ts";

const pollMsDefault = 2_000;

export type PoolInput = {
  readonly jobs?: number | undefined;
  readonly untilIdle?: boolean | undefined;
  readonly isolation?: string | undefined;
  readonly agent?: string | undefined;
  readonly ticksMax?: number | undefined;
  /** Whether workers of a store work on the tasks. */
  readonly fleet?: boolean | undefined;
  readonly everyMs?: number | undefined;
};

export type Pool = WorkerPool &
  Landings & {
    readonly input: PoolInput;
    /**
     * Why the disk has no room for new tasks, and when that was measured: measuring copies takes a
     * while.
     */
    room: { readonly measuredMs: number; readonly problem: string | null };
    /** When runs at work were last charged. */
    usageCountedMs: number;
    /** When the pages were last compared with the journal. */
    pagesCheckedMs: number | null;
    /** Ends when the tasks of the last plan are started; null if none are being started (N6). */
    starts: Promise<void> | null;
    /** What went wrong while tasks were started: the pool ends with it. */
    failure: { readonly error: unknown } | null;
    /** The outage that the last tick met; shown once. */
    outage: string | null;
    wake: () => void;
  };

export function createPool(
  context: CommandContext,
  paths: PortfolioPaths,
  input: PoolInput,
  drive: WorkerPool["drive"],
): Pool {
  return {
    context,
    paths,
    input,
    active: new Map(),
    drive,
    mergingByRepository: new Map(),
    heldByQueue: new Map(),
    redBranchByQueue: new Map(),
    room: { measuredMs: 0, problem: null },
    pagesCheckedMs: null,
    usageCountedMs: systemClock.monotonicMs(),
    starting: new Set(),
    warnings: new Set(),
    starts: null,
    failure: null,
    outage: null,
    hasNews: false,
    wake: () => undefined,
  };
}

/** Runs, landings and starts under way. */
function listUnderWay(pool: Pool): readonly Promise<void>[] {
  return [...listWorkersAndStarts(pool), ...pool.mergingByRepository.values()];
}

/**
 * The same without landings that a person must unblock: those are only tried again, and a pool with
 * nothing else to do is idle.
 */
export function listUnblocked(pool: Pool): readonly Promise<void>[] {
  const blocked = new Set<string>();
  for (const { repository, isRetried } of pool.heldByQueue.values()) {
    if (!isRetried) blocked.add(repository);
  }

  const landings = [...pool.mergingByRepository].filter(([repository]) => !blocked.has(repository));
  return [...listWorkersAndStarts(pool), ...landings.map(([, ended]) => ended)];
}

function listWorkersAndStarts({ active, starts }: Pool): readonly Promise<void>[] {
  const workers = [...active.values()].map(({ ended }) => ended);
  return starts === null ? workers : [...workers, starts];
}

/** Waits until something under way ends, an interrupt, or the next poll. */
export async function waitForNews(pool: Pool): Promise<void> {
  const { input, context } = pool;
  const woken = new AbortController();
  pool.wake = () => woken.abort();

  const signal = AbortSignal.any([woken.signal, context.interrupted]);
  const pause = sleep(input.everyMs ?? pollMsDefault, undefined, { signal });
  const pauseOrAbort = pause.catch(() => undefined);
  await Promise.race([pauseOrAbort, ...listUnblocked(pool)]);
  woken.abort();
}

export async function waitUntilAllEnded(pool: Pool): Promise<void> {
  while (listUnderWay(pool).length > 0) await Promise.all(listUnderWay(pool));
}

export function wakePool(pool: Pool): void {
  pool.hasNews = true;
  pool.wake();
}
