// phase-artifacts: the paths that each phase of a quality run writes to, and which phases changed
// none of them.

import { optionValue } from "../../../core/selectors.ts";
import type { RunView } from "../../../core/state.ts";

const artifactPatterns: Readonly<Record<string, RegExp>> = {
  "1": /^quality\/EXPLORATION\.md$/,
  "2": /^quality\/(?:(?:REQUIREMENTS|QUALITY|CONTRACTS|COVERAGE_MATRIX|COMPLETENESS_REPORT|RUN_[A-Z_]+)\.md|test_functional\.[^/]+)$/,
  "3": /^quality\/(?:code_reviews\/|patches\/|BUGS\.md$)/,
  "4": /^quality\/spec_audits\//,
  "5": /^quality\/(?:writeups\/|results\/BUG-|results\/tdd-results\.json$)/,
  "6": /^quality\/results\/phase6/,
};

/** Matches no path if the phase is none of the six. */
export const getArtifactPattern = (phase: string): RegExp => artifactPatterns[phase] ?? /^$/;

/** Whether documents from before the run proved this phase. */
export const isClosedByEarlierDocuments = (state: RunView, phase: string): boolean =>
  state.cursors[phase]?.last["earlier"]?.facts["proved"] === true;

/**
 * The phases that have documents of which this run changed none: their agent did nothing, or was
 * not run. If this run continues the log of another tool, documents of that tool count as changed.
 */
export function findUnchangedPhases(
  state: RunView,
  existingPaths: readonly string[],
  changed: ReadonlySet<string>,
): readonly string[] {
  const isContinued = (phase: string): boolean =>
    optionValue(state, "earlier_log") === "continued" && isClosedByEarlierDocuments(state, phase);
  const isUnchanged = (paths: readonly string[]): boolean =>
    paths.length > 0 && !paths.some((path) => changed.has(path));
  return state.phases
    .filter(({ id, group }) => group === "phases" && !isContinued(id))
    .filter(({ id }) =>
      isUnchanged(existingPaths.filter((path) => getArtifactPattern(id).test(path))),
    )
    .map(({ id }) => id);
}
