// compare-checks: what all checks of a proof have shown together, and what each leaves open after
// that. Pure.
//
// Invariants:
//   C1. What a check leaves open is no gap if another check that decides shows the work: it failed
//       without it, or before it, and runs new code.
//   C2. A function of the work that one check's tests notice needs no other check's.

import type { Check, CheckResult, Evidence } from "../../contracts/evidence.ts";
import { isReadOnly } from "../protected/programs.ts";
import type { ExperimentFindings } from "./experiment-on-check.ts";
import type { WrittenFunction } from "./questions/change-functions.ts";
import { listFunctions } from "./questions/mutations.ts";

export const triedKinds: ReadonlySet<Check["kind"]> = new Set([
  "criterion",
  "project",
  "red_green",
  "holdout",
]);

/** A result with what its experiments found; null if none were made now. */
export type Examined = {
  readonly result: CheckResult;
  readonly baseline: Evidence | null;
  readonly findings: ExperimentFindings | null;
};
/** What a check found out by itself. */
export type OwnFindings = Omit<ExperimentFindings, "open" | "mutated">;

export type ShownByAll = {
  readonly isWorkShown: boolean;
  /** The functions of which a test noticed that they answer something else. */
  readonly noticed: ReadonlySet<string>;
};

export const listShown = (examined: readonly Examined[]): ShownByAll => ({
  isWorkShown: examined.some(showsWork),
  noticed: new Set(
    examined.flatMap(({ findings }) => (findings?.mutated?.noticed ?? []).map(toPlace)),
  ),
});

/**
 * Whether a check fails without the work, or failed before it and does more than look at files. One
 * that runs nothing of the new code may fail for what stands beside that.
 */
function showsWork({ result, baseline, findings }: Examined): boolean {
  if (result.status !== "passed" || !triedKinds.has(result.check.kind)) return false;
  const isNoticed = (findings ?? result).without_work?.outcome === "noticed";
  if (isReadOnly(result.check.command)) return isNoticed;
  return findings?.open === undefined && (isNoticed || baseline?.status !== "passed");
}

/** The findings of a check with the gaps that no other check closes (C1, C2). */
export function addWhatOthersLeave(
  { open, mutated, ...findings }: ExperimentFindings,
  { isWorkShown, noticed }: ShownByAll,
): OwnFindings {
  const unnoticed = (mutated?.unnoticed ?? []).filter((one) => !noticed.has(toPlace(one)));
  const gaps = [
    ...(unnoticed.length === 0
      ? []
      : [`no test notices when ${listFunctions(unnoticed)} answers something else`]),
    ...(findings.gap === undefined ? [] : [findings.gap]),
    ...(open === undefined || isWorkShown ? [] : [open]),
  ];
  return gaps.length === 0 ? findings : { ...findings, gap: gaps.join("; ") };
}

const toPlace = ({ path, name, line }: WrittenFunction): string => `${path}:${line} ${name}`;
