// learnings: renders `.autopilot/learnings.md`, with the source and re-check of each entry. Other
// tools read it: its headings are fixed.

import type { Learning } from "../insight/learnings.ts";
import { markdownCode } from "../../../views/markdown.ts";
import { oneLine } from "../../../views/wording.ts";

export const learningsHeader = "# Learnings (current run)";

export function renderLearnings(learnings: readonly Learning[]): string {
  return [
    learningsHeader,
    ...learnings.flatMap((learning) => ["", ...renderLearningLines(learning)]),
    "",
  ].join("\n");
}

/**
 * One entry. Agents see the same lines, so every value is reduced to one line and cannot look like
 * another entry.
 */
export function renderLearningLines(learning: Learning): readonly string[] {
  const { phase_id, phase_name, provenance, recheck } = learning;
  const phase = oneLine(phase_id);
  const name = oneLine(phase_name);
  const origin = `**Provenance:** ${oneLine(provenance.run_id)}, ${oneLine(provenance.source)}, ${oneLine(provenance.recorded_at)}.`;
  const footer = [origin, ...(recheck === null ? [] : [`**Re-check:** ${markdownCode(recheck)}`])];

  if (learning.kind === "failure") {
    return [
      `### Phase ${phase} failure -- ${learning.category}`,
      `**Prevention rule:** ${oneLine(learning.prevention_rule, 500)}`,
      `**Context:** Phase ${phase} (${name}) failed with category \`${learning.category}\`. Recorded: ${oneLine(provenance.recorded_at)}.`,
      ...footer,
    ];
  }

  const heading = `### Human Verdict: Phase ${phase} -- ${learning.verdict.toUpperCase()} (confidence calibration)`;
  if (learning.verdict === "pass") {
    return [
      heading,
      `Phase ${phase} (${name}) was deferred to human review but passed without issues.`,
      "**Calibration:** Future phases with similar characteristics should increase autonomous completion confidence.",
      ...footer,
    ];
  }

  const issues = learning.issues.map((issue) => oneLine(issue)).join("; ") || "none named";
  return [
    heading,
    `Phase ${phase} (${name}) was deferred to human review. Human found issues: ${issues}.`,
    `**Calibration:** Tighten quality checks for similar phases. Specific issues to watch for: ${issues}.`,
    ...footer,
  ];
}
