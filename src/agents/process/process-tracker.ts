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

/** The processes there are, as a system reports them. */
export type Processes = {
  readonly pids: () => readonly number[];
  readonly statOf: (pid: number) => ProcessInfo | undefined;
  readonly environmentOf: (pid: number) => readonly string[];
};

export type ProcessTracker = { readonly scan: () => readonly number[] };

const readingsMax = 2;
const scansBetween = 10;

/** Those whose environment belongs, and descendants of the root; without the runner itself and its ancestors. */
export function openProcessTracker(belongs: EnvironmentFilter, root: number): ProcessTracker {
  if (process.platform === "linux") return trackProcesses(system, belongs, root, findAncestors(process.pid));
  return { scan: () => [...new Set([...findMarkedProcesses(belongs, "since_runner"), ...findDescendants(root).map(({ pid }) => pid)])] };
}

const system = cacheForMoment({ pids: listPidsSinceRunner, statOf: readProcStat, environmentOf: readStartEnvironment });
/** From here on processes are read again. */
export const beginMoment = (): void => system.begin();

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

function readOnce<Value>(cache: Map<number, Value>, pid: number, read: (pid: number) => Value): Value {
  if (!cache.has(pid)) cache.set(pid, read(pid));
  return cache.get(pid) as Value;
}

type TrackedProcess = { readonly began: string; readonly isOurs: boolean; readonly readings: number };

export function trackProcesses(
  processes: Processes,
  belongs: EnvironmentFilter,
  root: number,
  runnerPids: ReadonlySet<number>,
): ProcessTracker {
  const tracked = new Map<number, TrackedProcess>();
  let scans = 0;

  /** Whether to read it in this scan: it is new, ours, was read only once, or its turn to be read again has come. */
  const mustRead = (pid: number): boolean => {
    const previous = tracked.get(pid);
    return previous === undefined || previous.isOurs || previous.readings < readingsMax || (pid + scans) % scansBetween === 0; // R2
  };
  const read = (pid: number): readonly ProcessInfo[] => {
    const stat = processes.statOf(pid);
    const previous = tracked.get(pid);
    if (stat === undefined || previous?.began !== stat.began) tracked.delete(pid);
    if (stat === undefined) return [];
    const readings = tracked.get(pid)?.readings ?? 0;
    if (tracked.get(pid)?.isOurs === true || readings >= readingsMax) return []; // R1
    const isOurs = !runnerPids.has(pid) && belongs(processes.environmentOf(pid));
    tracked.set(pid, { began: stat.began, isOurs, readings: readings + 1 });
    return isOurs ? [] : [stat];
  };
  const isChild = ({ pid, parent }: ProcessInfo): boolean =>
    !runnerPids.has(pid) && (parent === root || tracked.get(parent)?.isOurs === true);

  return {
    scan: () => {
      scans++;
      const livePids = new Set(processes.pids());
      for (const pid of tracked.keys()) if (!livePids.has(pid)) tracked.delete(pid);
      let unrelated = [...livePids].filter(mustRead).flatMap(read);
      for (let children = unrelated.filter(isChild); children.length > 0; children = unrelated.filter(isChild)) {
        for (const { pid, began } of children) tracked.set(pid, { began, isOurs: true, readings: readingsMax });
        unrelated = unrelated.filter((stat) => !children.includes(stat));
      }
      return [...tracked].filter(([, { isOurs }]) => isOurs).map(([pid]) => pid);
    },
  };
}
