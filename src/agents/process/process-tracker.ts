// process-tracker: which processes belong to a turn, from one look at /proc to the next. A turn lasts for minutes or hours, and a machine
// has many processes: only those are read of which something new can be learnt.
//
// Invariants:
//   R1. Who was once seen to belong belongs until it ends, though its parent be gone or its environment another.
//   R2. Nobody comes to belong later: a child has its parent's mark from its first moment. So who does not is read when it is new, once
//       more in case it was just being made, and then now and again, since its number may have been given to another.
//   R3. Turns that are inspected in one moment read each process once, all together.

import { ancestorsOf, descendantsOf, startEnvironment, findMarked, pids, type ProcessInfo, readProcStat } from "./process-table.ts";
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

/** Those whose environment belongs, and whoever descends from the root; the runner itself and those it descends from are left out. */
export function openProcessTracker(belongs: Belongs, root: number): ProcessTracker {
  if (process.platform === "linux") return rollOf(here, belongs, root, ancestorsOf(process.pid));
  return { look: () => [...new Set([...findMarked(belongs), ...descendantsOf(root).map(({ pid }) => pid)])] };
}

const here = momentOf({ pids, statOf: readProcStat, environmentOf: startEnvironment });
/** From here on processes are read again. */
export const beginMoment = (): void => here.begin();

/** What was read once is not read again until a new moment begins. R3 */
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

export function rollOf(processes: Processes, belongs: Belongs, root: number, others: ReadonlySet<number>): ProcessTracker {
  const known = new Map<number, Known>();
  let looks = 0;

  /** Whether its number may mean something else than at the last look. */
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
      let strangers = [...there].filter(isToRead).flatMap(read);
      for (let children = strangers.filter(isChild); children.length > 0; children = strangers.filter(isChild)) {
        for (const { pid, began } of children) known.set(pid, { began, isOurs: true, readings: readingsMax });
        strangers = strangers.filter((seen) => !children.includes(seen));
      }
      return [...known].filter(([, { isOurs }]) => isOurs).map(([pid]) => pid);
    },
  };
}
