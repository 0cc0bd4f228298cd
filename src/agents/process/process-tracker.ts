// process-tracker: tracks the processes of a turn across scans of /proc. A turn lasts for minutes
// or hours, and a machine has many processes: only those that may have changed are read.
//
// Invariants:
//   R1. A process that once belonged belongs until it ends, even if its parent is gone or its
//       environment changed.
//   R2. A process cannot start to belong later: a child has its parent's mark from the start. So
//       others are read when new, once more in case they were just starting, and then now and
//       again, since a pid may be reused.
//   R3. Turns that are scanned at the same moment share one read per process.

import {
  findAncestors,
  findDescendants,
  readStartEnvironment,
  findMarkedProcesses,
  listPidsSinceRunner,
  type ProcessInfo,
  readProcStat,
} from "./process-table.ts";
import type { EnvironmentFilter } from "./process-mark.ts";

/** The running processes, as a system reports them. */
export type ProcessSource = {
  readonly listPids: () => readonly number[];
  readonly readStat: (pid: number) => ProcessInfo | undefined;
  readonly readEnvironment: (pid: number) => readonly string[];
};

/** `scan` returns the pids of the turn's processes that are alive. */
export type ProcessTracker = { readonly scan: () => readonly number[] };

/** How often a process that isn't part of the turn is read when it is new. */
const readsMax = 2;
/** After that it is read in one scan of so many. */
const rereadInterval = 10;

/**
 * Tracks processes with the mark, and descendants of the root, without the runner itself and its
 * ancestors.
 */
export function openProcessTracker(isMarked: EnvironmentFilter, root: number): ProcessTracker {
  if (process.platform === "linux") {
    return trackProcesses(systemProcesses, isMarked, root, findAncestors(process.pid));
  }

  return {
    scan: () => [
      ...new Set([
        ...findMarkedProcesses(isMarked, "since_runner"),
        ...findDescendants(root).map(({ pid }) => pid),
      ]),
    ],
  };
}

const systemProcesses = cacheForMoment({
  listPids: listPidsSinceRunner,
  readStat: readProcStat,
  readEnvironment: readStartEnvironment,
});
/** Begins a new moment: from here on processes are read again. */
export const beginMoment = (): void => systemProcesses.begin();

/** A process is not read again until a new moment begins. R3 */
export function cacheForMoment(
  processes: ProcessSource,
): ProcessSource & { readonly begin: () => void } {
  let pidCache: readonly number[] | null = null;
  const stats = new Map<number, ProcessInfo | undefined>();
  const environments = new Map<number, readonly string[]>();

  return {
    begin: () => {
      pidCache = null;
      stats.clear();
      environments.clear();
    },
    listPids: () => (pidCache ??= processes.listPids()),
    readStat: (pid) => readOnce(stats, pid, processes.readStat),
    readEnvironment: (pid) => readOnce(environments, pid, processes.readEnvironment),
  };
}

function readOnce<Value>(
  cache: Map<number, Value>,
  pid: number,
  read: (pid: number) => Value,
): Value {
  if (!cache.has(pid)) cache.set(pid, read(pid));
  return cache.get(pid) as Value;
}

type TrackedProcess = {
  readonly startTime: string;
  readonly isPartOfTurn: boolean;
  readonly readCount: number;
};

/** The tracker, on processes of any source. `runnerPids`: the runner and its ancestors. */
export function trackProcesses(
  processes: ProcessSource,
  isMarked: EnvironmentFilter,
  root: number,
  runnerPids: ReadonlySet<number>,
): ProcessTracker {
  const tracked = new Map<number, TrackedProcess>();
  let scanCount = 0;

  /**
   * Whether to read a process in this scan: it is new, part of the turn, was read only once, or its
   * time has come again.
   */
  const mustRead = (pid: number): boolean => {
    const previous = tracked.get(pid);
    return (
      previous === undefined ||
      previous.isPartOfTurn ||
      previous.readCount < readsMax ||
      (pid + scanCount) % rereadInterval === 0
    ); // R2
  };

  /**
   * Reads a process that may be new. Returns it if it has no mark of its own, so that its parent
   * must decide.
   */
  const readUnmarked = (pid: number): readonly ProcessInfo[] => {
    const stat = processes.readStat(pid);
    if (stat === undefined) {
      tracked.delete(pid);
      return [];
    }

    // One that started at another time had the same pid, and has ended.
    const previous = tracked.get(pid);
    const known = previous?.startTime === stat.startTime ? previous : null;
    if (known?.isPartOfTurn === true) return []; // R1
    const readCount = known?.readCount ?? 0;
    if (readCount >= readsMax) return []; // R2

    const isPartOfTurn = !runnerPids.has(pid) && isMarked(processes.readEnvironment(pid));
    tracked.set(pid, { startTime: stat.startTime, isPartOfTurn, readCount: readCount + 1 });

    return isPartOfTurn ? [] : [stat];
  };

  /** Whether a process belongs to the turn because its parent does. */
  const isChild = ({ pid, parent }: ProcessInfo): boolean =>
    !runnerPids.has(pid) && (parent === root || tracked.get(parent)?.isPartOfTurn === true);

  /** Adds the children of the turn's processes, then their children, until there are no more. */
  const addDescendants = (candidates: readonly ProcessInfo[]): void => {
    let unrelated = candidates;
    for (;;) {
      const children = unrelated.filter(isChild);
      if (children.length === 0) return;

      for (const { pid, startTime } of children) {
        tracked.set(pid, { startTime, isPartOfTurn: true, readCount: readsMax });
      }

      unrelated = unrelated.filter((stat) => !children.includes(stat));
    }
  };

  return {
    scan: () => {
      scanCount++;
      const livePids = new Set(processes.listPids());
      for (const pid of tracked.keys()) {
        if (!livePids.has(pid)) tracked.delete(pid);
      }

      addDescendants([...livePids].filter(mustRead).flatMap(readUnmarked));
      return [...tracked].filter(([, { isPartOfTurn }]) => isPartOfTurn).map(([pid]) => pid);
    },
  };
}
