// run-state-places: maps attempts to the six quality phases, and words why a phase is repeated.

import { type PhaseNumber, phaseNumbers } from "../../../contracts/quality-run.ts";

/** Why a phase is done again, in words. */
export const reopenings: Readonly<Record<string, string>> = {
  artifacts_gone: "Artifacts of a phase that had ended are gone; it is done again.",
  operator_retry: "The run had failed and was taken up again.",
};

/** The phase of the six that a cursor is of; null for every other cursor. */
export const pathPhase = (path: string): PhaseNumber | null => phaseNumbers.find((phase) => String(phase) === path) ?? null;

/** An attempt's cursor and step: `1@1/do#2` is the step `do` of cursor `1`. */
export function attemptPlace(attempt: string): { readonly cursor: string; readonly step: string } {
  const [, cursor = "", step = ""] = /^(.*)@\d+\/([^/]+)#\d+$/.exec(attempt) ?? [];
  return { cursor, step };
}
