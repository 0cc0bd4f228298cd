// bisect: which of a batch lands when the whole of it fails. Asks for proofs one after the other; holds no promise itself.
//
// Invariants:
//   S1. What lands was proved together, on top of the branch.
//   S2. With one culprit among n, at most 1 + log2(n) + 1 proofs are asked for.
//   S3. It ends: every proof halves what is in doubt or takes a task out of it.

export type Proved = { readonly passed: boolean };
export type BisectStep<Task> =
  | { readonly do: "prove"; readonly tasks: readonly Task[] }
  | { readonly do: "land"; readonly tasks: readonly Task[] }
  | { readonly do: "reject"; readonly task: Task; readonly beside: readonly Task[] }
  | { readonly do: "end" };

export type Bisection<Task> = {
  /** The next action. `land` and `reject` are done and reported with `next()`; `prove` with its answer. */
  readonly next: (proved?: Proved) => BisectStep<Task>;
};

/** The batch in its order; the branch moves with each `land`, so what is proved afterwards is proved on top of that. */
export function bisect<Task>(batch: readonly Task[]): Bisection<Task> {
  let remaining = [...batch];
  /** The first `green` of `rest` are proved together; the first `red` of them are known to fail. */
  let green = 0;
  let red = remaining.length + 1;
  let proofSize = 0;
  const queue: BisectStep<Task>[] = [];
  const ask = (): BisectStep<Task> => {
    // Where one is in doubt, the whole; then halves.
    proofSize = red > remaining.length ? remaining.length : green + Math.ceil((red - green) / 2);
    return { do: "prove", tasks: remaining.slice(0, proofSize) };
  };
  const settle = (): BisectStep<Task> => {
    if (green > 0) queue.push({ do: "land", tasks: remaining.slice(0, green) }); // S1
    const culprit = remaining[green];
    if (red <= remaining.length && culprit !== undefined) {
      queue.push({ do: "reject", task: culprit, beside: remaining.slice(0, green) });
      remaining = remaining.slice(green + 1);
    } else remaining = remaining.slice(green);
    green = 0;
    red = remaining.length + 1;
    return queue.shift() ?? (remaining.length === 0 ? { do: "end" } : ask());
  };
  return {
    next(proved) {
      if (proved === undefined) return queue.shift() ?? (remaining.length === 0 ? { do: "end" } : ask());
      if (proved.passed) green = proofSize;
      else red = proofSize;
      return red - green === 1 || green === remaining.length ? settle() : ask();
    },
  };
}
