// bisect: finds which tasks of a batch land and which is to blame when the whole batch fails its proof, and whether the branch was red before.
// Pure: it asks its caller for one proof after the other.
//
// Invariants:
//   S1. What lands was proved together, on top of the branch.
//   S2. With one culprit among n, at most 1 + log2(n) + 1 proofs of the batch are asked for.
//   S3. It ends: every proof halves what is in doubt or takes a task out of it.
//   S4. Nothing is held against a task that fails on the branch without it, too: it waits until the branch is mended.

export type BatchProof = { readonly passed: boolean; readonly failed?: readonly string[] };
export type BisectStep<Task> =
  /** Without tasks: the branch by itself. */
  | { readonly do: "prove"; readonly tasks: readonly Task[] }
  | { readonly do: "land"; readonly tasks: readonly Task[] }
  | { readonly do: "reject"; readonly task: Task; readonly beside: readonly Task[] }
  /** The branch itself is red. S4 */
  | { readonly do: "hold"; readonly tasks: readonly Task[]; readonly failed: readonly string[] }
  | { readonly do: "end" };

type BranchFacts<Task> = {
  /** Whether a check is a task's own criterion: then its failure is the task's, whatever the branch does. */
  readonly isOwn?: (task: Task, check: string) => boolean;
  /** Checks that are known to fail on the branch as it is. */
  readonly red?: readonly string[];
};

/** Takes the batch in its order. The branch moves with each `land`, so what is proved afterwards is proved on top of that. */
export class Bisection<Task> {
  #remaining: readonly Task[];
  /** The first `#green` of `#remaining` passed together; the first `#red` of them failed, with `#failed`. */
  #green = 0;
  #red: number;
  #failed: readonly string[] = [];
  /** What was asked to be proved last: so many tasks from the front, or the branch by itself. */
  #asked: number | "branch" = 0;
  /** What fails on the branch by itself; null if nobody has looked. */
  #failedOnBranch: readonly string[] | null;
  readonly #isOwn: (task: Task, check: string) => boolean;
  readonly #queue: BisectStep<Task>[] = [];

  constructor(batch: readonly Task[], { isOwn = () => true, red = [] }: BranchFacts<Task> = {}) {
    this.#remaining = batch;
    this.#red = batch.length + 1;
    this.#isOwn = isOwn;
    this.#failedOnBranch = red.length === 0 ? null : red;
  }

  /** The next action. `land`, `reject` and `hold` are done and reported with `next()`; `prove` with its proof. */
  next(proof?: BatchProof): BisectStep<Task> {
    if (proof === undefined) return this.#continue();
    if (this.#asked === "branch") {
      this.#failedOnBranch = proof.passed ? [] : (proof.failed ?? []);
      return this.#settle();
    }
    if (proof.passed) this.#green = this.#asked;
    else [this.#red, this.#failed] = [this.#asked, proof.failed ?? []];
    // One proof is enough for all tasks that a red branch holds up.
    const isWhole = !proof.passed && this.#asked === this.#remaining.length;
    if (isWhole && this.#failedOnBranch !== null && this.#mayBeBranch(this.#remaining) && this.#isBranch()) {
      this.#queue.push({ do: "hold", tasks: this.#remaining, failed: this.#failed });
      this.#drop(this.#remaining.length);
      return this.#continue();
    }
    const isFound = this.#red - this.#green === 1 || this.#green === this.#remaining.length;
    return isFound ? this.#settle() : this.#askForProof();
  }

  #continue(): BisectStep<Task> {
    return this.#queue.shift() ?? (this.#remaining.length === 0 ? { do: "end" } : this.#askForProof());
  }

  /** The whole first; if that fails, half of what is in doubt. S2 */
  #askForProof(): BisectStep<Task> {
    const isWholeUnknown = this.#red > this.#remaining.length;
    this.#asked = isWholeUnknown ? this.#remaining.length : this.#green + Math.ceil((this.#red - this.#green) / 2);
    return { do: "prove", tasks: this.#remaining.slice(0, this.#asked) };
  }

  /** Lands the tasks that passed together, and rejects or holds the one after them, which made the proof fail. */
  #settle(): BisectStep<Task> {
    const culprit = this.#red <= this.#remaining.length ? this.#remaining[this.#green] : undefined;
    const innocent = this.#remaining.slice(0, this.#green);
    const isDoubtful = culprit !== undefined && innocent.length === 0 && this.#mayBeBranch([culprit]);
    if (isDoubtful && this.#failedOnBranch === null) {
      this.#asked = "branch";
      return { do: "prove", tasks: [] };
    }
    if (innocent.length > 0) {
      this.#queue.push({ do: "land", tasks: innocent }); // S1
      this.#failedOnBranch = []; // the branch is green with them
    }
    if (culprit !== undefined) {
      if (isDoubtful && this.#isBranch()) this.#queue.push({ do: "hold", tasks: [culprit], failed: this.#failed }); // S4
      else this.#queue.push({ do: "reject", task: culprit, beside: innocent });
    }
    this.#drop(innocent.length + (culprit === undefined ? 0 : 1));
    return this.#continue();
  }

  /** Whether what failed may fail without these tasks, too: none of it is a criterion of theirs. */
  #mayBeBranch(tasks: readonly Task[]): boolean {
    return this.#failed.length > 0 && !tasks.some((task) => this.#failed.some((check) => this.#isOwn(task, check)));
  }

  #isBranch(): boolean {
    return this.#failed.every((check) => this.#failedOnBranch?.includes(check) === true);
  }

  #drop(count: number): void {
    this.#remaining = this.#remaining.slice(count);
    this.#green = 0;
    this.#red = this.#remaining.length + 1;
  }
}
