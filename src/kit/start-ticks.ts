// start-ticks: remembers when processes began, so that each process is read only once.

/** Reads about one process; undefined if there is none, or it can't be read. */
export type ProcessReader = {
  /**
   * The inode of the process's folder in /proc: a process that gets the pid of an earlier one has
   * another folder.
   */
  readonly inodeOf: (pid: number) => number | undefined;
  /** The kernel's tick at which it began; NaN counts as unknown. */
  readonly readStartTick: (pid: number) => number | undefined;
};

const rememberedMax = 10_000;
/** Shared by all callers: a process begins once. */
const remembered = new Map<number, { readonly inode: number; readonly tick: number }>();

/**
 * Returns a function that finds the tick at which a process began. It stays the same if the process
 * runs another program (exec).
 */
export function keepStartTicks({
  inodeOf,
  readStartTick,
}: ProcessReader): (pid: number) => number | undefined {
  return (pid) => {
    const inode = inodeOf(pid);
    if (inode === undefined) return undefined;
    const known = remembered.get(pid);
    if (known?.inode === inode) return known.tick;
    const tick = readStartTick(pid);
    if (tick === undefined || Number.isNaN(tick)) return undefined;
    if (remembered.size >= rememberedMax) remembered.clear();
    remembered.set(pid, { inode, tick });

    return tick;
  };
}
