// run-state-places: maps attempts to the six quality phases, and words why a phase is repeated.

import { type PhaseNumber, phaseNumbers } from "../../../contracts/quality-run.ts";

/** Why a phase is done again, in words. */
export const reopenings: Readonly<Record<string, string>> = {
  artifacts_gone: "Artifacts of a phase that had ended are gone; it is done again.",
  operator_retry: "The run had failed and was taken up again.",
};

/** The phase of the six that a walk is of; null for every other walk. */
export const phaseOf = (walk: string): PhaseNumber | null => phaseNumbers.find((phase) => String(phase) === walk) ?? null;

/** An attempt's walk and step: `1@1/do#2` is the step `do` of walk `1`. */
export function placeOf(attempt: string): { readonly walk: string; readonly step: string } {
  const [, walk = "", step = ""] = /^(.*)@\d+\/([^/]+)#\d+$/.exec(attempt) ?? [];
  return { walk, step };
}
