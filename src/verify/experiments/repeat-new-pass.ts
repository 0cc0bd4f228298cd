// repeat-new-pass: runs a check again that did not pass before the work, with tests that mean the
// same, in another world, and with marks in the work's branches: one run answers all of it.
// Invariants T1 and on: verify/experiments/try-out.ts.
// Invariants K1 and on: verify/experiments/canary.ts.

import type { Experiment } from "../../contracts/evidence.ts";
import type { BranchMarks } from "./branches/branch.ts";
import { findOmittableTests } from "./broken-expectations/candidates.ts";
import { withoutStyleReaders } from "./broken-expectations/code-readers.ts";
import { rewriteTestFiles, tryEquivalentTests } from "./equivalent-tests/equivalent-tests.ts";
import {
  type CheckTrial,
  type ExperimentRuns,
  mayRepeat,
  type PassingCheck,
} from "./experiment-runs.ts";
import type { Lab } from "./lab.ts";

type RepeatInput = {
  readonly trial: CheckTrial;
  readonly subject: PassingCheck;
  readonly runs: ExperimentRuns;
  readonly lab: Lab;
  readonly marks: BranchMarks | null;
};

/** Whether it did not pass before the work, so that it has to pass more than once. */
export const isNewPass = ({ parts }: CheckTrial, { baseline }: PassingCheck): boolean =>
  baseline !== null && baseline.status !== "passed" && mayRepeat(parts);

export type Repetition = {
  readonly repeated: Experiment | null;
  /** Tests that can be left out of further runs, since it passes without them too (K4). */
  readonly omitted: readonly string[];
  /** The marks of branches that were left; null if that is not known. */
  readonly covered: ReadonlySet<string> | null;
};

/** Runs a check again that passes for the first time (T6). */
export async function repeatNewPass(
  { trial, subject, runs, lab, marks }: RepeatInput,
  isMutated: boolean,
): Promise<Repetition> {
  const { check, tests } = subject.result;
  const owesRepeat = isNewPass(trial, subject) && runs.repeats.length === 1; // T6
  runs.announce("does it pass again?");

  const maySelect = (tests?.ran ?? 0) > 0 && (owesRepeat || isMutated);
  const { omitted, kept } = maySelect
    ? await findOmittableTests(check, lab)
    : { omitted: [], kept: [] };
  if (omitted.length > 0 || (owesRepeat && marks !== null)) {
    const edits = await rewriteTestFiles(lab, kept);
    const marked = marks?.edits((path) => !kept.includes(path)) ?? [];
    const plain = withoutStyleReaders(check.command);
    const narrow = await runs.elsewhereFirst({
      edits: [...edits, ...marked],
      without: omitted,
      command: marks?.wrap(plain) ?? plain,
    });
    if (narrow?.passed === true) {
      return { repeated: null, omitted, covered: marks?.read(narrow) ?? null }; // K4
    }
  }

  const repeated = owesRepeat ? await tryEquivalentTests(lab, kept, []) : null;
  if (repeated?.outcome === "unknown") {
    runs.late.push(`${runs.describeObstacle()} to find out whether it passes every time`);
  }

  return { repeated, omitted: [], covered: null };
}
