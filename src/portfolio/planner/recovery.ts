// recovery: the table that says what to do about a task that the journal says is running, by what
// is found out about it.
//
//   worker   alive: a process owns the run, or this pool drives it; gone: none does
//   lease    held: the run's lock is held; lapsed: it is free
//   run open: it could go on by itself; rested: it waits for something; ended: completed or stopped
//   result whether the result of the run is in the portfolio's journal merge none; queued;
//   verified: a batch with it was proved; landed: the branch holds the batch and the journal does
//   not say so

export const workerStates = ["alive", "gone"] as const;
export const leaseStates = ["held", "lapsed"] as const;
export const runStates = ["open", "rested", "ended"] as const;
export const resultStates = ["missing", "ingested"] as const;
export const mergeStates = ["none", "queued", "verified", "landed"] as const;

export type RecoveryFacts = {
  readonly worker: (typeof workerStates)[number];
  readonly lease: (typeof leaseStates)[number];
  readonly run: (typeof runStates)[number];
  readonly result: (typeof resultStates)[number];
  readonly merge: (typeof mergeStates)[number];
};

export type Remedy =
  | "leave"
  | "ingest"
  | "release"
  | "queue"
  | "verify"
  | "land"
  | "record_landing";

type RecoveryRow = {
  readonly when: Partial<RecoveryFacts>;
  readonly remedy: Remedy;
  readonly because: string;
};

/**
 * The first row that matches counts. What the branch itself shows comes first: it cannot be undone.
 */
export const recoveryRows: readonly RecoveryRow[] = [
  {
    when: { merge: "landed" },
    remedy: "record_landing",
    because: "the branch holds its work; only the line is missing",
  },
  {
    when: { merge: "verified" },
    remedy: "land",
    because: "its batch was proved; the branch is moved if it is still where it was",
  },
  {
    when: { merge: "queued" },
    remedy: "verify",
    because: "its work waits in the queue, and a proof that was cut short is made again",
  },
  { when: { worker: "alive", lease: "held" }, remedy: "leave", because: "somebody works on it" },
  {
    when: { worker: "alive", run: "open" },
    remedy: "leave",
    because: "its worker is about to take the run, or has just let go of it",
  },
  {
    when: { lease: "held" },
    remedy: "leave",
    because: "its run is in somebody's hand, a terminal's say",
  },
  {
    when: { result: "ingested" },
    remedy: "queue",
    because: "its result was accepted and never reached the queue",
  },
  {
    when: { run: "ended" },
    remedy: "ingest",
    because: "its run is over and nobody has looked at what it came to",
  },
  {
    when: { run: "rested" },
    remedy: "ingest",
    because: "its run waits for something, which is to be told",
  },
  {
    when: { run: "open" },
    remedy: "release",
    because: "its worker is gone; it is ready again and its finished steps are kept",
  },
];

/** A test walks every combination of facts, so the fallback is never taken. */
export function findRecovery(facts: RecoveryFacts): {
  readonly remedy: Remedy;
  readonly because: string;
} {
  const row = recoveryRows.find(({ when }) =>
    Object.entries(when).every(([key, value]) => facts[key as keyof RecoveryFacts] === value),
  );
  return row ?? { remedy: "leave", because: "nothing is known of it" };
}
