// branch: the types of branches (places in code that the work wrote where it goes one way or the
// other) and of the marks that they leave.

import type { Observed } from "../broken-expectations/noticed-flips.ts";
import type { Edit } from "../lab.ts";
import type { Span } from "../source-text/brackets.ts";

/**
 * `condition`: something that is true or false. `nullish`: something that may be missing (`a ?? b`).
 * `default`: what stands in for a parameter that is missing. `arm`: code behind `case`, `catch`.
 */
export type BranchKind = "condition" | "nullish" | "default" | "arm";
/** A default and an arm are only ever reached: that is `true`. */
export type Outcome = "true" | "false";

/** A branch in one file. A span without length is where code is added: that of an arm. */
export type FoundBranch = Span & {
  readonly kind: BranchKind;
  /** Those that end in an error are left out: whoever meets one is told. */
  readonly outcomes: readonly Outcome[];
};

export type Branch = FoundBranch & {
  readonly path: string;
  /** From 1. */
  readonly line: number;
  /** The code that decides. */
  readonly text: string;
};

/** One of those with the same span: the first. */
export const unique = (branches: readonly FoundBranch[]): readonly FoundBranch[] => [
  ...new Map(
    branches.toReversed().map((branch) => [`${branch.from} ${branch.to}`, branch]),
  ).values(),
];

/** One outcome of a branch: `7T`. */
export const toMark = (index: number, outcome: Outcome): string =>
  `${index}${outcome === "true" ? "T" : "F"}`;

export type MarkedOutcome = {
  readonly mark: string;
  readonly branch: Branch;
  readonly outcome: Outcome;
};

export type BranchMarks = {
  /** Every outcome that a check should meet. */
  readonly outcomes: readonly MarkedOutcome[];
  /** The work's files, which leave marks; in these paths alone, if given. */
  readonly edits: (isWanted?: (path: string) => boolean) => readonly Edit[];
  /** The work's files, which end the process where one of these outcomes is met. */
  readonly traps: (outcomes: readonly MarkedOutcome[]) => readonly Edit[];
  /** The command, which prints the marks that were left at its end. */
  readonly wrap: (command: string) => string;
  /** The marks that were left; null if none was printed. */
  readonly read: (observed: Observed) => ReadonlySet<string> | null;
};

/** What is known when the question is asked. `covered`: marks of a run that was made anyway. */
export type MarkedBranches = {
  readonly marks: BranchMarks;
  readonly covered: ReadonlySet<string> | null;
};
