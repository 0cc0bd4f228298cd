// quality-phases: finds which of the six quality phases a cursor or attempt belongs to, and says
// why a phase is repeated.

import { type PhaseNumber, phaseNumbers } from "../../../contracts/quality/quality-run.ts";

/** Sentences on why a phase is repeated, by reason code. */
export const reopenReasons: Readonly<Record<string, string>> = {
  artifacts_gone: "Artifacts of a phase that had ended are gone; it is done again.",
  operator_retry: "The run had failed and was taken up again.",
};

/** The quality phase of a cursor; null if the cursor is not one of the six phases. */
export const findPhaseNumber = (path: string): PhaseNumber | null =>
  phaseNumbers.find((phase) => String(phase) === path) ?? null;

/** An attempt's cursor and step: `1@1/do#2` is the step `do` of cursor `1`. */
export function parseAttempt(attempt: string): { readonly cursor: string; readonly step: string } {
  const [, cursor = "", step = ""] = /^(.*)@\d+\/([^/]+)#\d+$/.exec(attempt) ?? [];
  return { cursor, step };
}
