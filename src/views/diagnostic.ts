// diagnostic: `.autopilot/diagnostics/diagnostic-<time>.md`, written whenever a run halts: what happened, why it matters, what to do now.

import { isReasonCode, reasons } from "../contracts/reason.ts";
import type { PostMortem } from "../contracts/roadmap-reports.ts";
import type { RoadmapState } from "../contracts/roadmap-state.ts";
import { skippedPhases } from "../insight/completion.ts";
import { inCode, inText, list, section, table } from "./markdown.ts";
import { postMortemName } from "./post-mortem.ts";
import { figure } from "./wording.ts";

export type DiagnosticInput = {
  readonly state: RoadmapState;
  readonly reason: string;
  readonly detail: string | null;
  readonly at: string;
  /** Commands and hints; without any, the reason's own hint. */
  readonly remediation: readonly string[];
  /** The newest of each phase that failed in this run. */
  readonly postMortems: readonly PostMortem[];
};

const eventsMax = 15;

/** `2026-02-09T16:45:12Z` → `diagnostic-2026-02-09T164512.md`. */
export const diagnosticName = (at: string): string => `diagnostic-${at.slice(0, 19).replaceAll(":", "")}.md`;

export function diagnosticPage({ state, reason, detail, at, remediation, postMortems }: DiagnosticInput): string {
  const reasonInfo = isReasonCode(reason) ? reasons[reason] : null;
  const { _meta: meta, circuit_breaker: breaker, metrics } = state;
  const failed = Object.entries(state.phases).filter(([, { status }]) => status === "failed");
  const hints = remediation.length > 0 || reasonInfo === null || reasonInfo.hint === "" ? remediation : [reasonInfo.hint];
  return [
    `# Diagnostic: ${meta.run_id}`,
    "",
    `Written ${at}. Status: ${meta.status}.`,
    ...section("What happened", [
      `${inCode(reason)}: ${reasonInfo?.meaning ?? "The run halted."}`,
      ...(detail === null ? [] : ["", inText(detail, 500)]),
    ]),
    ...section("Why it matters", [progressSentence(state, failed.length)]),
    ...section("What to do now", list(hints.length === 0 ? ["autopilot report"] : hints.map((hint) => inText(hint)))),
    ...section("Where it stood", [
      `Phase ${meta.current_phase === null ? "none" : inText(meta.current_phase)}, step ${meta.current_step === null ? "none" : inText(meta.current_step)}; ` +
        `last checkpoint ${meta.last_checkpoint}.`,
      "",
      ...table(
        ["Phase", "Status", "Debug", "Replan", "Tokens"],
        Object.entries(state.phases)
          .filter(([, { status }]) => status !== "not_started")
          .map(([key, phase]) => [
            inText(key.replace(/^phase_/, "")),
            phase.status,
            String(phase.debug_attempts),
            String(phase.replan_attempts),
            figure(phase.tokens_used),
          ]),
      ),
    ]),
    ...section("Skipped phases", list(skippedLines(state))),
    ...section("Circuit breaker", [
      `${breaker.state}; no progress ${breaker.consecutive_no_progress} times, the same error ${breaker.consecutive_same_error} times in a row.`,
      ...(breaker.last_error === null ? [] : ["", `Last error: ${inText(breaker.last_error)}`]),
      ...(breaker.cooldown_until === null ? [] : ["", `Cooldown until ${breaker.cooldown_until}.`]),
    ]),
    ...section("Used", [
      `${figure(metrics.total_tokens_used)} tokens, ${figure(metrics.total_duration_minutes)} min, ${metrics.debug_loops_total} debug loops, ${metrics.replan_count} replans.`,
    ]),
    ...section("Post-mortems", list(postMortems.map(causeLine))),
    ...section(
      "Last events",
      table(
        ["Time", "Event", "Phase", "Step"],
        state.event_log
          .slice(-eventsMax)
          .map(({ timestamp, event, phase, step }) => [timestamp, event, inText(phase ?? "–"), inText(step ?? "–")]),
      ),
    ),
    "",
  ].join("\n");
}

/** Why a phase failed, with its page: the reader should not have to open another file to know. */
function causeLine({ phase_id, phase_name, root_cause: cause }: PostMortem): string {
  const failure = `${cause.category} in the step ${inText(cause.step)}, first seen ${cause.first_observed_at}`;
  return `Phase ${inText(phase_id)}, ${inText(phase_name)}: ${failure}. ${inText(cause.description, 500)} (${inText(postMortemName(phase_id))})`;
}

/** Skipped phases are in no other row; a phase blocked by a failed one counts as left to do. */
function skippedLines(state: RoadmapState): readonly string[] {
  const phases = Object.keys(state.phases).map((key) => ({ id: key.replace(/^phase_/, ""), name: "" }));
  return skippedPhases(state, phases).map(({ phase_id, reason }) => `Phase ${inText(phase_id)}: ${inText(reason.replaceAll("_", " "))}`);
}

function progressSentence(state: RoadmapState, failed: number): string {
  const open = Object.values(state.phases).filter(({ status }) => status !== "completed").length;
  const all = Object.keys(state.phases).length;
  const blame = failed === 0 ? "" : ` ${failed} failed.`;
  return `${all - open} of ${all} phases are completed; ${open} are not, and nothing goes on by itself.${blame}`;
}
