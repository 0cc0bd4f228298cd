// roadmap-triage: builds `.planning/phases/<id>/TRIAGE.json`: which criteria passed before any work
// on a phase, and how it was routed.

import type { Entry, EventOf } from "../../../contracts/event.ts";
import type { TriageFile } from "../../../contracts/roadmap-reports.ts";
import { parseAttempt, phaseOfPath } from "../../../insight/attempt-path.ts";
import type { FindEvidence } from "../../../views/phase-trace.ts";
import { oneLine } from "../../../views/wording.ts";

const triageStep = "triage";
const outputCharsMax = 200;
/** The steps that are skipped if everything passes already, and if a plan exists. */
const skippedSteps = {
  verify_only: ["research", "plan", "plan_check", "execute"],
  with_plan: ["research", "plan"],
} as const;

/** The file if the entry is the end of a phase's triage; null for every other entry. */
export function buildTriage(entry: Entry, readEvidence: FindEvidence): TriageFile | null {
  if (entry.event !== "step_completed" && entry.event !== "step_failed") return null;
  const parts = parseAttempt(entry.attempt);
  if (parts?.step !== triageStep || parts.cursor.includes("/")) return null;
  const { facts } = entry;
  const criteria = (entry.checks ?? []).filter(({ check }) => check.kind === "criterion");
  const passed =
    countFact(facts, "criteria_passed") ??
    criteria.filter(({ status }) => status === "passed").length;

  const total = Math.max(
    criteria.length,
    countFact(facts, "total_criteria") ?? countFact(facts, "criteria") ?? 0,
  );

  const isVerifyOnly = facts["route"] === "verify_only";
  const withPlan = facts["plan_exists"] === true ? skippedSteps.with_plan : [];
  return {
    phase_id: phaseOfPath(entry.attempt),
    timestamp: entry.ts,
    criteria_source: criteriaSource(facts, criteria.length),
    criteria_checked: criteria.map(({ check, status, evidence }) => ({
      criterion: check.title,
      command: check.command,
      result: status === "passed" ? "pass" : "fail",
      output: lastPart(readEvidence(evidence)?.output_excerpt ?? ""),
    })),
    total_criteria: total,
    passed_criteria: passed,
    pass_ratio: total === 0 ? 0 : passed / total,
    routing_decision: isVerifyOnly ? "verify_only" : "full_pipeline",
    skipped_steps: [...(isVerifyOnly ? skippedSteps.verify_only : withPlan)],
    note:
      typeof facts["note"] === "string"
        ? facts["note"]
        : (entry.detail ?? describeResult(total, criteria.length, passed)),
  };
}

type Facts = EventOf<"step_completed">["facts"];

function countFact(facts: Facts, name: string): number | undefined {
  const value = facts[name];
  return typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : undefined;
}

function criteriaSource(facts: Facts, checkedCount: number): TriageFile["criteria_source"] {
  const source = facts["criteria_source"];
  if (source === "plan" || source === "roadmap" || source === "none") return source;
  if (checkedCount === 0) return "none";

  return facts["plan_exists"] === true ? "plan" : "roadmap";
}

function describeResult(total: number, checkedCount: number, passed: number): string {
  if (checkedCount === 0) {
    return total === 0
      ? "No criterion is written down."
      : "No criterion has a command, so nothing could be tried.";
  }

  return `${passed} of ${total} criteria hold; ${checkedCount} of them have a command and were run.`;
}

/** The end of an output, where a command usually reports its result. */
function lastPart(output: string): string {
  const line = oneLine(output.slice(-4 * outputCharsMax), Number.POSITIVE_INFINITY); // more than is shown, since runs of spaces shrink
  return line.length <= outputCharsMax
    ? line
    : line.slice(-outputCharsMax).replace(/^[\uDC00-\uDFFF]/, ""); // no half of a character
}
