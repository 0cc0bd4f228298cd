// roadmap-triage: `.planning/phases/<id>/TRIAGE.json`: what already held before any work on a phase, and which way it was routed.

import type { Entry, EventOf } from "../../../contracts/event.ts";
import type { TriageFile } from "../../../contracts/roadmap-reports.ts";
import { attemptParts, phaseOfPath } from "../../../insight/places.ts";
import type { EvidenceOf } from "../../../views/phase-trace.ts";
import { oneLine } from "../../../views/wording.ts";

const triageStep = "triage";
const outputCharsMax = 200;
/** What is not run where everything is there already, and where a plan is. */
const skippedFor = { verify_only: ["research", "plan", "plan_check", "execute"], with_plan: ["research", "plan"] } as const;

/** The file, where the entry is the end of a phase's triage that found something; null for every other entry. */
export function entryTriage(entry: Entry, evidenceOf: EvidenceOf): TriageFile | null {
  if (entry.event !== "step_completed" && entry.event !== "step_failed") return null;
  const parts = attemptParts(entry.attempt);
  if (parts?.step !== triageStep || parts.cursor.includes("/")) return null;
  const { facts } = entry;
  const checked = (entry.checks ?? []).filter(({ check }) => check.kind === "criterion");
  const passed = wholeIn(facts, "criteria_passed") ?? checked.filter(({ status }) => status === "passed").length;
  const total = Math.max(checked.length, wholeIn(facts, "total_criteria") ?? wholeIn(facts, "criteria") ?? 0);
  const isVerifyOnly = facts["route"] === "verify_only";
  return {
    phase_id: phaseOfPath(entry.attempt),
    timestamp: entry.ts,
    criteria_source: sourceOf(facts, checked.length),
    criteria_checked: checked.map(({ check, status, evidence }) => ({
      criterion: check.title,
      command: check.command,
      result: status === "passed" ? "pass" : "fail",
      output: cut(evidenceOf(evidence)?.output_excerpt ?? ""),
    })),
    total_criteria: total,
    passed_criteria: passed,
    pass_ratio: total === 0 ? 0 : passed / total,
    routing_decision: isVerifyOnly ? "verify_only" : "full_pipeline",
    skipped_steps: [...(isVerifyOnly ? skippedFor.verify_only : facts["plan_exists"] === true ? skippedFor.with_plan : [])],
    note: typeof facts["note"] === "string" ? facts["note"] : (entry.detail ?? noteOf(total, checked.length, passed)),
  };
}

type Facts = EventOf<"step_completed">["facts"];

function wholeIn(facts: Facts, name: string): number | undefined {
  const value = facts[name];
  return typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : undefined;
}

function sourceOf(facts: Facts, checked: number): TriageFile["criteria_source"] {
  const reported = facts["criteria_source"];
  if (reported === "plan" || reported === "roadmap" || reported === "none") return reported;
  return checked === 0 ? "none" : facts["plan_exists"] === true ? "plan" : "roadmap";
}

function noteOf(total: number, checked: number, passed: number): string {
  if (checked === 0) return total === 0 ? "No criterion is written down." : "No criterion has a command, so nothing could be tried.";
  return `${passed} of ${total} criteria hold; ${checked} of them have a command and were run.`;
}

/** The end of an output: what a command says last says most. */
function cut(output: string): string {
  const line = oneLine(output.slice(-4 * outputCharsMax), Number.POSITIVE_INFINITY);
  return line.length <= outputCharsMax ? line : line.slice(-outputCharsMax).replace(/^[\uDC00-\uDFFF]/, "");
}
