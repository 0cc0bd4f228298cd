// staged-corrections: how the state file that a run finds differs from where the run begins: both values, and why the second holds.
//
// Invariant:
//   J1. Every part of the found file that the first writing would change is named here, so that it is journaled before it is written.

import { retriesMax, type StagedState } from "../../../contracts/staged-state.ts";
import { differedFields, points, type StagedDifference, stagedDifferences, stepText } from "./staged-differences.ts";
import { findMidStep } from "./staged-sub-step.ts";
import type { StagedRead } from "./staged-state-read.ts";

type Found = StagedRead["state"];
/** Where the run begins; null if every step is done. */
export type Begin = {
  readonly flow: string;
  readonly step: string;
  readonly name: string;
  /** Some of its documents are there: it was begun. */
  readonly isBegun?: boolean;
} | null;

/** Whether the file shows a step that failed and whose retries are used up: then nothing happens before a person has decided. */
export const isSpent = (found: Found | null): boolean => found?.current?.status === "failed" && found.current.retry_count >= retriesMax;

/** `because`: why the step where the run begins holds, if it isn't the file's own. */
export function correctionsOf(found: Found, begin: Begin, because: string | null): readonly StagedDifference[] {
  const wasSpent = isSpent(found);
  const to: Found = {
    ...found,
    current: begin === null ? null : beginning(begin, found),
    retry_log: [],
    blockers: found.blockers.filter((blocker) => !(wasSpent && isAbout(blocker, found))),
  };
  const isSame = stepText(found.current) === stepText(to.current);
  const held = because ?? (wasSpent ? "a person has decided what becomes of the failed step" : "the step is begun anew, with its retries");
  return stagedDifferences(found, to, { step: begin === null ? "every step is proved" : beginText(begin), because: held })
    .filter(({ field }) => field !== differedFields.current || !isSame)
    .map((difference) => ({
      ...difference,
      ...(difference.field === differedFields.blockers ? { kept: points(to.blockers) } : {}),
      because: held,
    }));
}

const beginText = ({ flow, step, name, isBegun = false }: NonNullable<Begin>): string =>
  `${flow} step ${step} ${name}${isBegun ? ", in_progress" : ""}`;

/** A step that an earlier session stopped in continues at its sub-step. */
function beginning({ flow, step, name, isBegun = false }: NonNullable<Begin>, { current }: Found): StagedState["current"] {
  const sub_step = String(current?.step) === step ? findMidStep(current, flow) : null;
  const status = sub_step === null && !isBegun ? "not_started" : "in_progress";
  return { flow, step: Number(step), name, status, sub_step, retry_count: 0 };
}

/** Whether a blocker reports the step that failed: it goes once a person has decided; every other one stays. */
function isAbout(blocker: string, { current }: Found): boolean {
  const name = current?.name.toLowerCase() ?? "";
  return name !== "" && blocker.toLowerCase().includes(name) && /\bfail/i.test(blocker);
}
