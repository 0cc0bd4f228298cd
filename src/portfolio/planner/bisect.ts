// bisect: which of a batch lands when the whole of it fails, and whether the branch failed before it. Asks for proofs one after the other;
// holds no promise itself.
//
// Invariants:
//   S1. What lands was proved together, on top of the branch.
//   S2. With one culprit among n, at most 1 + log2(n) + 1 proofs of the batch are asked for.
//   S3. It ends: every proof halves what is in doubt or takes a task out of it.
//   S4. Nothing is held against a task that fails on the branch without it, too: it waits until the branch is mended.

export type Proved = { readonly passed: boolean; readonly failed?: readonly string[] };
export type BisectStep<Task> =
  /** Without tasks: the branch by itself. */
  | { readonly do: "prove"; readonly tasks: readonly Task[] }
  | { readonly do: "land"; readonly tasks: readonly Task[] }
  | { readonly do: "reject"; readonly task: Task; readonly beside: readonly Task[] }
  /** The branch itself is red. S4 */
  | { readonly do: "hold"; readonly tasks: readonly Task[]; readonly failed: readonly string[] }
  | { readonly do: "end" };

export type Bisection<Task> = {
  /** The next action. `land`, `reject` and `hold` are done and reported with `next()`; `prove` with its answer. */
  readonly next: (proved?: Proved) => BisectStep<Task>;
};

type Around<Task> = {
  /** Whether a check is a task's own criterion: then its failure is the task's, whatever the branch does. */
  readonly isOwn?: (task: Task, check: string) => boolean;
  /** Checks that are known to fail on the branch as it is. */
  readonly red?: readonly string[];
};

/** The batch in its order; the branch moves with each `land`, so what is proved afterwards is proved on top of that. */
export function bisect<Task>(batch: readonly Task[], { isOwn = () => true, red: known = [] }: Around<Task> = {}): Bisection<Task> {
  let remaining = [...batch];
  /** The first `green` of `remaining` are proved together; the first `red` of them are known to fail, with `failed`. */
  let green = 0;
  let red = remaining.length + 1;
  let failed: readonly string[] = [];
  let proofSize: number | "branch" = 0;
  /** What fails on the branch by itself; null if nobody has looked. */
  let onBranch: readonly string[] | null = known.length === 0 ? null : known;
  const queue: BisectStep<Task>[] = [];
  const ask = (): BisectStep<Task> => {
    // Where one is in doubt, the whole; then halves.
    proofSize = red > remaining.length ? remaining.length : green + Math.ceil((red - green) / 2);
    return { do: "prove", tasks: remaining.slice(0, proofSize) };
  };
  const goOn = (): BisectStep<Task> => queue.shift() ?? (remaining.length === 0 ? { do: "end" } : ask());
  const mayBeBranch = (tasks: readonly Task[]): boolean =>
    failed.length > 0 && !tasks.some((task) => failed.some((check) => isOwn(task, check)));
  const isBranch = (): boolean => failed.every((check) => onBranch?.includes(check) === true);
  const take = (count: number): void => {
    remaining = remaining.slice(count);
    green = 0;
    red = remaining.length + 1;
  };
  const settle = (): BisectStep<Task> => {
    const culprit = red <= remaining.length ? remaining[green] : undefined;
    const [innocent, isDoubtful] = [remaining.slice(0, green), culprit !== undefined && green === 0 && mayBeBranch([culprit])];
    if (isDoubtful && onBranch === null) {
      proofSize = "branch";
      return { do: "prove", tasks: [] };
    }
    if (green > 0) {
      queue.push({ do: "land", tasks: innocent }); // S1
      onBranch = []; // it is green with them
    }
    if (culprit !== undefined) {
      if (isDoubtful && isBranch()) queue.push({ do: "hold", tasks: [culprit], failed }); // S4
      else queue.push({ do: "reject", task: culprit, beside: innocent });
    }
    take(innocent.length + (culprit === undefined ? 0 : 1));
    return goOn();
  };
  return {
    next(proved) {
      if (proved === undefined) return goOn();
      if (proofSize === "branch") {
        onBranch = proved.passed ? [] : (proved.failed ?? []);
        return settle();
      }
      if (proved.passed) green = proofSize;
      else [red, failed] = [proofSize, proved.failed ?? []];
      // One proof for all that a red branch holds up.
      if (!proved.passed && proofSize === remaining.length && onBranch !== null && mayBeBranch(remaining) && isBranch()) {
        queue.push({ do: "hold", tasks: remaining, failed });
        take(remaining.length);
        return goOn();
      }
      return red - green === 1 || green === remaining.length ? settle() : ask();
    },
  };
}
