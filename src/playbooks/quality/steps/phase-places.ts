// phase-places: where each phase of a quality run leaves what it makes, and whether this run has made any of it.

import { runOption } from "../../../core/selectors.ts";
import type { RunView } from "../../../core/state.ts";

const places: Readonly<Record<string, RegExp>> = {
  "1": /^quality\/EXPLORATION\.md$/,
  "2": /^quality\/(?:(?:REQUIREMENTS|QUALITY|CONTRACTS|COVERAGE_MATRIX|COMPLETENESS_REPORT|RUN_[A-Z_]+)\.md|test_functional\.[^/]+)$/,
  "3": /^quality\/(?:code_reviews\/|patches\/|BUGS\.md$)/,
  "4": /^quality\/spec_audits\//,
  "5": /^quality\/(?:writeups\/|results\/BUG-|results\/tdd-results\.json$)/,
  "6": /^quality\/results\/phase6/,
};

export const placeOfPhase = (phase: string): RegExp => places[phase] ?? /^$/;

/** Whether a phase was closed by documents that were there when the run began. */
export const isClosedByEarlierDocuments = (state: RunView, phase: string): boolean =>
  state.cursors[phase]?.last["earlier"]?.facts["proved"] === true;

/**
 * The phases of which this run has changed no document though some exist: their agent has done nothing, or none was run. What another tool
 * left of the continued run counts as this run's.
 */
export function phasesNotMade(state: RunView, there: readonly string[], changed: ReadonlySet<string>): readonly string[] {
  const isGoneOn = (phase: string): boolean => runOption(state, "earlier_log") === "continued" && isClosedByEarlierDocuments(state, phase);
  const isOld = (paths: readonly string[]): boolean => paths.length > 0 && !paths.some((path) => changed.has(path));
  return state.phases
    .filter(({ id, group }) => group === "phases" && !isGoneOn(id))
    .filter(({ id }) => isOld(there.filter((path) => placeOfPhase(id).test(path))))
    .map(({ id }) => id);
}
