// staged-corrections: lists what a new run changes in the state file it finds: old value, new value
// and the reason.
//
// Invariant:
//   J1. Every part that the first write would change is listed, so that it is journaled before it
//       is written.

import { retriesMax, type StagedState } from "../../../contracts/staged-state.ts";
import {
  differedFields,
  renderList,
  type StagedDifference,
  findStagedDifferences,
  describeStep,
} from "./staged-differences.ts";
import { findOpenSubStep } from "./staged-sub-step.ts";
import type { ParsedStagedState } from "./parse-staged-state.ts";

type ParsedState = ParsedStagedState["state"];
/** Where the run begins; null if every step is done. */
export type BeginStep = {
  readonly flow: string;
  readonly step: string;
  readonly name: string;
  /** Some of its documents exist already. */
  readonly isBegun?: boolean;
} | null;

/** Whether the current step failed and its retries are used up: then a person must decide first. */
export const areRetriesSpent = (recorded: ParsedState | null): boolean =>
  recorded?.current?.status === "failed" && recorded.current.retry_count >= retriesMax;

/**
 * Every part that the first write changes. `because`: why the run begins at another step than the
 * file says, if it does. J1
 */
export function findCorrections(
  recorded: ParsedState,
  begin: BeginStep,
  because: string | null,
): readonly StagedDifference[] {
  const wereRetriesSpent = areRetriesSpent(recorded);
  const corrected: ParsedState = {
    ...recorded,
    current: begin === null ? null : buildCurrentStep(begin, recorded),
    retry_log: [],
    blockers: recorded.blockers.filter(
      (blocker) => !(wereRetriesSpent && isAboutFailedStep(blocker, recorded)),
    ),
  };
  const isSameStep = describeStep(recorded.current) === describeStep(corrected.current);

  const reason =
    because ??
    (wereRetriesSpent
      ? "a person has decided what becomes of the failed step"
      : "the step is begun anew, with its retries");

  const keptStep = {
    step: begin === null ? "every step is proved" : beginText(begin),
    because: reason,
  };
  return findStagedDifferences(recorded, corrected, keptStep)
    .filter(({ field }) => field !== differedFields.current || !isSameStep)
    .map((difference) => ({
      ...difference,
      ...(difference.field === differedFields.blockers
        ? { kept: renderList(corrected.blockers) }
        : {}),
      because: reason,
    }));
}

/** `greenfield step 3 Plan, in_progress` */
const beginText = ({ flow, step, name, isBegun = false }: NonNullable<BeginStep>): string =>
  `${flow} step ${step} ${name}${isBegun ? ", in_progress" : ""}`;

/** A step that an earlier session stopped in continues at its sub-step. */
function buildCurrentStep(
  { flow, step, name, isBegun = false }: NonNullable<BeginStep>,
  { current }: ParsedState,
): StagedState["current"] {
  const sub_step = String(current?.step) === step ? findOpenSubStep(current, flow) : null;
  const status = sub_step === null && !isBegun ? "not_started" : "in_progress";
  return { flow, step: Number(step), name, status, sub_step, retry_count: 0 };
}

/**
 * Whether a blocker is about the failed step: it is removed once a person has decided; others stay.
 */
function isAboutFailedStep(blocker: string, { current }: ParsedState): boolean {
  const name = current?.name.toLowerCase() ?? "";
  return name !== "" && blocker.toLowerCase().includes(name) && /\bfail/i.test(blocker);
}
