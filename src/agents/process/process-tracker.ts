// process-tracker: tracks the processes of a turn across scans of /proc. A turn lasts for minutes or hours, and a machine has many
// processes: only those that may have changed are read.
//
// Invariants:
//   R1. A process that once belonged belongs until it ends, even if its parent is gone or its environment changed.
//   R2. A process cannot start to belong later: a child has its parent's mark from the start. So others are read when new, once more in
//       case they were just starting, and then now and again, since a pid may be reused.
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
export type Processes = {
  readonly pids: () => readonly number[];
  readonly statOf: (pid: number) => ProcessInfo | undefined;
  readonly environmentOf: (pid: number) => readonly string[];
};

export type ProcessTracker = { readonly scan: () => readonly number[] };

/** How often a process that isn't ours is read when it is new. */
const readsMax = 2;
/** After that it is read in one scan of so many. */
const rereadInterval = 10;

/** Tracks processes with the mark, and descendants of the root, without the runner itself and its ancestors. */
export function openProcessTracker(isMarked: EnvironmentFilter, root: number): ProcessTracker {
  if (process.platform === "linux") return trackProcesses(systemProcesses, isMarked, root, findAncestors(process.pid));
  return { scan: () => [...new Set([...findMarkedProcesses(isMarked, "since_runner"), ...findDescendants(root).map(({ pid }) => pid)])] };
}

const systemProcesses = cacheForMoment({ pids: listPidsSinceRunner, statOf: readProcStat, environmentOf: readStartEnvironment });
/** Begins a new moment: from here on processes are read again. */
export const beginMoment = (): void => systemProcesses.begin();

/** A process is not read again until a new moment begins. R3 */
export function cacheForMoment(processes: Processes): Processes & { readonly begin: () => void } {
  let pidCache: readonly number[] | null = null;
  const stats = new Map<number, ProcessInfo | undefined>();
  const environments = new Map<number, readonly string[]>();
  return {
    begin: () => {
      pidCache = null;
      stats.clear();
      environments.clear();
    },
    pids: () => (pidCache ??= processes.pids()),
    statOf: (pid) => readOnce(stats, pid, processes.statOf),
    environmentOf: (pid) => readOnce(environments, pid, processes.environmentOf),
  };
}

function readOnce<Value>(cache: Map<number, Value>, pid: number, readProcess: (pid: number) => Value): Value {
  if (!cache.has(pid)) cache.set(pid, readProcess(pid));
  return cache.get(pid) as Value;
}

type TrackedProcess = { readonly startTime: string; readonly isOurs: boolean; readonly readCount: number };

export function trackProcesses(
  processes: Processes,
  isMarked: EnvironmentFilter,
  root: number,
  runnerPids: ReadonlySet<number>,
): ProcessTracker {
  const tracked = new Map<number, TrackedProcess>();
  let scanCount = 0;

  /** Whether to read a process in this scan: it is new, ours, was read only once, or its turn has come again. */
  const mustRead = (pid: number): boolean => {
    const previous = tracked.get(pid);
    return previous === undefined || previous.isOurs || previous.readCount < readsMax || (pid + scanCount) % rereadInterval === 0; // R2
  };
  const readProcess = (pid: number): readonly ProcessInfo[] => {
    const stat = processes.statOf(pid);
    const previous = tracked.get(pid);
    if (stat === undefined || previous?.startTime !== stat.startTime) tracked.delete(pid);
    if (stat === undefined) return [];
    const readCount = tracked.get(pid)?.readCount ?? 0;
    if (tracked.get(pid)?.isOurs === true || readCount >= readsMax) return []; // R1
    const isOurs = !runnerPids.has(pid) && isMarked(processes.environmentOf(pid));
    tracked.set(pid, { startTime: stat.startTime, isOurs, readCount: readCount + 1 });
    return isOurs ? [] : [stat];
  };
  const isChild = ({ pid, parent }: ProcessInfo): boolean =>
    !runnerPids.has(pid) && (parent === root || tracked.get(parent)?.isOurs === true);

  return {
    scan: () => {
      scanCount++;
      const livePids = new Set(processes.pids());
      for (const pid of tracked.keys()) if (!livePids.has(pid)) tracked.delete(pid);
      let unrelated = [...livePids].filter(mustRead).flatMap(readProcess);
      for (let children = unrelated.filter(isChild); children.length > 0; children = unrelated.filter(isChild)) {
        for (const { pid, startTime } of children) tracked.set(pid, { startTime, isOurs: true, readCount: readsMax });
        unrelated = unrelated.filter((stat) => !children.includes(stat));
      }
      return [...tracked].filter(([, { isOurs }]) => isOurs).map(([pid]) => pid);
    },
  };
}
