// check-run: one run of a check's command in a checkout, and why a run that exits with 0 may still
// not have passed.
// Invariants V1 and on: verify/verifier.ts.

import type { Evidence, Recorded, TestTally } from "../contracts/evidence.ts";
import type { GitSha, Hash } from "../contracts/ids.ts";
import type { CommandResult } from "./run-command.ts";
import type { ReportedNames } from "./detect/test-names.ts";
import type { ReporterRun } from "./reporter/reporter-trust.ts";
import { explainIgnoredFailures, explainLesserProof } from "./test-summaries.ts";
import { whyJudgeRewritten, type WrittenTo } from "./written-files.ts";

/** A folder with the commit's files. `tree`: its tree hash before a check ran in it. */
export type Checkout = {
  readonly folder: string;
  readonly tree: GitSha;
  readonly dependencies: Hash | null;
};

export type CheckRun = ReporterRun & {
  readonly result: CommandResult;
  readonly tests: TestTally | null;
  readonly names: ReportedNames;
  /** The lines of its output that report a failure. */
  readonly failing: readonly string[];
  readonly wrote: WrittenTo;
  /** Why it has not passed although it exited with 0; else null. */
  readonly why: string | null;
  /**
   * What its test runners reported over our own channel, and how many lines on that channel were
   * not theirs.
   */
  readonly recorded: Recorded | null;
  readonly foreignLines: number;
  readonly checkout: Checkout;
  readonly treeBefore: GitSha;
  readonly treeAfter: GitSha;
};

type RunFacts = {
  readonly tests: TestTally | null;
  readonly wrote: WrittenTo;
  /** What the check reported of its tests on the base; undefined if that is not compared. */
  readonly baseTally: TestTally | undefined;
  readonly baseEvidence: Evidence | null;
};

/** Why a command that exited with 0 has not passed; null if it has, or did not exit with 0. */
export function whyNotPassed(
  { status }: CommandResult,
  { tests, wrote, baseTally, baseEvidence }: RunFacts,
): string | null {
  if (status !== "passed") return null;
  const fewerTests = baseTally === undefined ? null : explainLesserProof(baseTally, tests); // V7
  return (
    fewerTests ??
    whyJudgeRewritten(wrote, baseEvidence) ??
    explainIgnoredFailures(tests, baseEvidence)
  ); // V9, V11
}
