// learnings: `.autopilot/learnings.md` in the format's own words (section 7), each entry with where it comes from and how to check it again.

import type { Learning } from "../insight/learnings.ts";
import { inCode } from "../../../views/markdown.ts";
import { oneLine } from "../../../views/wording.ts";

export const learningsHeader = "# Learnings (current run)";

export function learningsPage(learnings: readonly Learning[]): string {
  return [learningsHeader, ...learnings.flatMap((learning) => ["", ...learningLines(learning)]), ""].join("\n");
}

/** One entry. Agents are shown the same lines, so nothing in a name may pass for its own entry. */
export function learningLines(learning: Learning): readonly string[] {
  const { phase_id, phase_name, provenance, recheck } = learning;
  const phase = oneLine(phase_id);
  const name = oneLine(phase_name);
  const origin = `**Provenance:** ${oneLine(provenance.run_id)}, ${oneLine(provenance.source)}, ${oneLine(provenance.recorded_at)}.`;
  const tail = [origin, ...(recheck === null ? [] : [`**Re-check:** ${inCode(recheck)}`])];
  if (learning.kind === "failure") {
    return [
      `### Phase ${phase} failure -- ${learning.category}`,
      `**Prevention rule:** ${oneLine(learning.prevention_rule, 500)}`,
      `**Context:** Phase ${phase} (${name}) failed with category \`${learning.category}\`. Recorded: ${oneLine(provenance.recorded_at)}.`,
      ...tail,
    ];
  }
  const head = `### Human Verdict: Phase ${phase} -- ${learning.verdict.toUpperCase()} (confidence calibration)`;
  if (learning.verdict === "pass") {
    return [
      head,
      `Phase ${phase} (${name}) was deferred to human review but passed without issues.`,
      "**Calibration:** Future phases with similar characteristics should increase autonomous completion confidence.",
      ...tail,
    ];
  }
  const issues = learning.issues.map((issue) => oneLine(issue)).join("; ") || "none named";
  return [
    head,
    `Phase ${phase} (${name}) was deferred to human review. Human found issues: ${issues}.`,
    `**Calibration:** Tighten quality checks for similar phases. Specific issues to watch for: ${issues}.`,
    ...tail,
  ];
}
