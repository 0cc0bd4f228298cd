// process-tracker: tracks the processes of a turn across scans of /proc. A turn lasts for minutes or hours, and a machine has many
// processes: only those that may have changed are read.
//
// Invariants:
//   R1. A process that once belonged belongs until it ends, even if its parent is gone or its environment changed.
//   R2. A process cannot start to belong later: a child has its parent's mark from the start. So others are read when new, once more in
//       case they were just starting, and then now and again, since a pid may be reused.
//   R3. Turns that are scanned at the same moment share one read per process.

import { pidAncestors, descendantsOf, startEnvironment, findMarked, pids, type ProcessInfo, readProcStat } from "./process-table.ts";
import type { Belongs } from "./mark.ts";

/** The processes there are, as a system reports them. */
export type Processes = {
  readonly pids: () => readonly number[];
  readonly statOf: (pid: number) => ProcessInfo | undefined;
  readonly environmentOf: (pid: number) => readonly string[];
};

export type ProcessTracker = { readonly look: () => readonly number[] };

const readingsMax = 2;
const looksBetween = 10;

/** Those whose environment belongs, and descendants of the root; without the runner itself and its ancestors. */
export function openProcessTracker(belongs: Belongs, root: number): ProcessTracker {
  if (process.platform === "linux") return trackProcesses(here, belongs, root, pidAncestors(process.pid));
  return { look: () => [...new Set([...findMarked(belongs), ...descendantsOf(root).map(({ pid }) => pid)])] };
}

const here = momentOf({ pids, statOf: readProcStat, environmentOf: startEnvironment });
/** From here on processes are read again. */
export const beginMoment = (): void => here.begin();

/** A process is not read again until a new moment begins. R3 */
export function momentOf(processes: Processes): Processes & { readonly begin: () => void } {
  let there: readonly number[] | null = null;
  const stats = new Map<number, ProcessInfo | undefined>();
  const environments = new Map<number, readonly string[]>();
  return {
    begin: () => {
      there = null;
      stats.clear();
      environments.clear();
    },
    pids: () => (there ??= processes.pids()),
    statOf: (pid) => onceFor(stats, pid, processes.statOf),
    environmentOf: (pid) => onceFor(environments, pid, processes.environmentOf),
  };
}

function onceFor<Value>(known: Map<number, Value>, pid: number, read: (pid: number) => Value): Value {
  if (!known.has(pid)) known.set(pid, read(pid));
  return known.get(pid) as Value;
}

type Known = { readonly began: string; readonly isOurs: boolean; readonly readings: number };

export function trackProcesses(processes: Processes, belongs: Belongs, root: number, others: ReadonlySet<number>): ProcessTracker {
  const known = new Map<number, Known>();
  let looks = 0;

  /** Whether its pid may have been reused since the last scan. */
  const isToRead = (pid: number): boolean => {
    const before = known.get(pid);
    return before === undefined || before.isOurs || before.readings < readingsMax || (pid + looks) % looksBetween === 0; // R2
  };
  const read = (pid: number): readonly ProcessInfo[] => {
    const seen = processes.statOf(pid);
    const before = known.get(pid);
    if (seen === undefined || before?.began !== seen.began) known.delete(pid);
    if (seen === undefined) return [];
    const readings = known.get(pid)?.readings ?? 0;
    if (known.get(pid)?.isOurs === true || readings >= readingsMax) return []; // R1
    const isOurs = !others.has(pid) && belongs(processes.environmentOf(pid));
    known.set(pid, { began: seen.began, isOurs, readings: readings + 1 });
    return isOurs ? [] : [seen];
  };
  const isChild = ({ pid, parent }: ProcessInfo): boolean => !others.has(pid) && (parent === root || known.get(parent)?.isOurs === true);

  return {
    look: () => {
      looks++;
      const there = new Set(processes.pids());
      for (const pid of known.keys()) if (!there.has(pid)) known.delete(pid);
      let unrelated = [...there].filter(isToRead).flatMap(read);
      for (let children = unrelated.filter(isChild); children.length > 0; children = unrelated.filter(isChild)) {
        for (const { pid, began } of children) known.set(pid, { began, isOurs: true, readings: readingsMax });
        unrelated = unrelated.filter((seen) => !children.includes(seen));
      }
      return [...known].filter(([, { isOurs }]) => isOurs).map(([pid]) => pid);
    },
  };
}
