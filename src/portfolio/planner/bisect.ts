// bisect: decides which tasks of a batch land, and finds the one to blame if the batch fails its
// proof, unless the branch itself was red. Pure: it asks its caller for one proof after the other.
//
// Invariants:
//   S1. Tasks that land were proved together, on top of the branch.
//   S2. With one culprit among n tasks, at most 1 + log2(n), rounded up, + 1 proofs are asked for,
//       and one of the branch by itself.
//   S3. It ends: every proof halves the tasks in doubt or removes one.
//   S4. A task isn't rejected for a check that also fails on the branch without it: it waits until
//       the branch is mended.

export type BatchProof = { readonly passed: boolean; readonly failed?: readonly string[] };
export type BisectStep<Task> =
  /** Without tasks: the branch by itself. */
  | { readonly do: "prove"; readonly tasks: readonly Task[] }
  | { readonly do: "land"; readonly tasks: readonly Task[] }
  | { readonly do: "reject"; readonly task: Task; readonly beside: readonly Task[] }
  /** The branch itself is red, so these tasks wait (S4). */
  | { readonly do: "hold"; readonly tasks: readonly Task[]; readonly failed: readonly string[] }
  | { readonly do: "end" };

type BranchFacts<Task> = {
  /**
   * Whether a check is a task's own criterion: then its failure is the task's, whatever the branch
   * does.
   */
  readonly isOwnCriterion?: (task: Task, check: string) => boolean;
  /** Checks that are known to fail on the branch as it is. */
  readonly failingOnBranch?: readonly string[];
};

/**
 * Takes the tasks in their order. The branch moves with each `land`: later proofs are made on top
 * of that.
 */
export class Bisection<Task> {
  #remaining: readonly Task[];
  /**
   * The first `#passedCount` of `#remaining` passed together; the first `#failedCount` of them
   * failed the checks `#failed`.
   */
  #passedCount = 0;
  #failedCount: number;
  #failed: readonly string[] = [];
  /**
   * Which proof was asked for last: of how many tasks from the front, or of the branch by itself.
   */
  #asked: number | "branch" = 0;
  /** The checks that fail on the branch by itself; null while that is unknown. */
  #failedOnBranch: readonly string[] | null;
  readonly #isOwnCriterion: (task: Task, check: string) => boolean;
  readonly #queue: BisectStep<Task>[] = [];

  constructor(
    batch: readonly Task[],
    { isOwnCriterion = () => true, failingOnBranch = [] }: BranchFacts<Task> = {},
  ) {
    this.#remaining = batch;
    this.#failedCount = batch.length + 1; // more than there are: nothing has failed yet
    this.#isOwnCriterion = isOwnCriterion;
    this.#failedOnBranch = failingOnBranch.length === 0 ? null : failingOnBranch;
  }

  /**
   * The next action. `land`, `reject` and `hold` are done and reported with `next()`; `prove` with
   * its proof.
   */
  next(proof?: BatchProof): BisectStep<Task> {
    if (proof === undefined) return this.#continue();
    if (this.#asked === "branch") {
      this.#failedOnBranch = proof.passed ? [] : (proof.failed ?? []);
      return this.#settle();
    }

    if (proof.passed) {
      this.#passedCount = this.#asked;
    } else {
      this.#failedCount = this.#asked;
      this.#failed = proof.failed ?? [];
      if (this.#asked === this.#remaining.length && this.#isHeldUpWhole()) return this.#holdAll();
    }

    const isCulpritFound = this.#failedCount - this.#passedCount === 1;
    const isAllPassed = this.#passedCount === this.#remaining.length;
    return isCulpritFound || isAllPassed ? this.#settle() : this.#askForProof();
  }

  /** One proof is enough for all tasks that a red branch holds up (S4). */
  #isHeldUpWhole(): boolean {
    const isBranchKnown = this.#failedOnBranch !== null;
    return isBranchKnown && this.#mayFailOnBranch(this.#remaining) && this.#failsOnBranch();
  }

  #holdAll(): BisectStep<Task> {
    this.#queue.push({ do: "hold", tasks: this.#remaining, failed: this.#failed });
    this.#drop(this.#remaining.length);
    return this.#continue();
  }

  #continue(): BisectStep<Task> {
    const queued = this.#queue.shift();
    if (queued !== undefined) return queued;
    return this.#remaining.length === 0 ? { do: "end" } : this.#askForProof();
  }

  /** Asks for the whole batch first; if that fails, for half of the tasks in doubt (S2). */
  #askForProof(): BisectStep<Task> {
    const isWholeUnknown = this.#failedCount > this.#remaining.length;
    const doubtfulCount = this.#failedCount - this.#passedCount;
    this.#asked = isWholeUnknown
      ? this.#remaining.length
      : this.#passedCount + Math.ceil(doubtfulCount / 2);

    return { do: "prove", tasks: this.#remaining.slice(0, this.#asked) };
  }

  /**
   * Lands the tasks that passed together, and rejects or holds the one after them, which made the
   * proof fail.
   */
  #settle(): BisectStep<Task> {
    const innocent = this.#remaining.slice(0, this.#passedCount);
    const culprit = this.#findCulprit();
    const isDoubtful =
      culprit !== undefined && innocent.length === 0 && this.#mayFailOnBranch([culprit]);
    if (isDoubtful && this.#failedOnBranch === null) {
      this.#asked = "branch";
      return { do: "prove", tasks: [] };
    }

    if (innocent.length > 0) {
      this.#queue.push({ do: "land", tasks: innocent }); // S1
      this.#failedOnBranch = []; // the branch is green with them
    }

    if (culprit !== undefined) {
      const isHeldUp = isDoubtful && this.#failsOnBranch(); // S4
      this.#queue.push(
        isHeldUp
          ? { do: "hold", tasks: [culprit], failed: this.#failed }
          : { do: "reject", task: culprit, beside: innocent },
      );
    }

    this.#drop(innocent.length + (culprit === undefined ? 0 : 1));
    return this.#continue();
  }

  /** The task after those that passed together; undefined if all of them passed. */
  #findCulprit(): Task | undefined {
    const hasFailed = this.#failedCount <= this.#remaining.length;
    return hasFailed ? this.#remaining[this.#passedCount] : undefined;
  }

  /**
   * Whether the failed checks may fail without these tasks too: none of the checks is a criterion
   * of theirs.
   */
  #mayFailOnBranch(tasks: readonly Task[]): boolean {
    const isOwnFailure = (task: Task): boolean =>
      this.#failed.some((check) => this.#isOwnCriterion(task, check));

    return this.#failed.length > 0 && !tasks.some(isOwnFailure);
  }

  #failsOnBranch(): boolean {
    return this.#failed.every((check) => this.#failedOnBranch?.includes(check) === true);
  }

  /** Takes tasks that are decided on out of the search (S3). */
  #drop(count: number): void {
    this.#remaining = this.#remaining.slice(count);
    this.#passedCount = 0;
    this.#failedCount = this.#remaining.length + 1;
  }
}
