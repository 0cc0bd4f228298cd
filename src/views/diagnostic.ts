// diagnostic: renders `.autopilot/diagnostics/diagnostic-<time>.md`, written whenever a run halts:
// what happened, why it matters, what to do now.

import { isReasonCode, reasons } from "../contracts/reason.ts";
import type { PostMortem } from "../contracts/roadmap-reports.ts";
import type { RoadmapState } from "../contracts/roadmap-state.ts";
import { listSkippedPhases } from "../insight/completion.ts";
import {
  markdownCode,
  escapeMarkdown,
  markdownList,
  markdownSection,
  markdownTable,
} from "./markdown.ts";
import { postMortemName } from "./post-mortem.ts";
import { formatNumber } from "./wording.ts";

export type DiagnosticInput = {
  readonly state: RoadmapState;
  readonly reason: string;
  readonly detail: string | null;
  readonly at: string;
  /** Commands and hints; if empty, the reason's own hint is shown. */
  readonly remediation: readonly string[];
  /** The newest of each phase that failed in this run. */
  readonly postMortems: readonly PostMortem[];
};

const eventsMax = 15;
const detailCharsMax = 500;

/** `2026-02-09T16:45:12Z` → `diagnostic-2026-02-09T164512.md`. */
export const diagnosticName = (at: string): string =>
  `diagnostic-${at.slice(0, 19).replaceAll(":", "")}.md`;

export function diagnosticPage({
  state,
  reason,
  detail,
  at,
  remediation,
  postMortems,
}: DiagnosticInput): string {
  const reasonInfo = isReasonCode(reason) ? reasons[reason] : null;
  const { _meta: meta, circuit_breaker: breaker, metrics } = state;
  const failed = Object.entries(state.phases).filter(([, { status }]) => status === "failed");
  const hints =
    remediation.length > 0 || reasonInfo === null || reasonInfo.hint === ""
      ? remediation
      : [reasonInfo.hint];

  return [
    `# Diagnostic: ${meta.run_id}`,
    "",
    `Written ${at}. Status: ${meta.status}.`,
    ...markdownSection("What happened", [
      `${markdownCode(reason)}: ${reasonInfo?.meaning ?? "The run halted."}`,
      ...(detail === null ? [] : ["", escapeMarkdown(detail, detailCharsMax)]),
    ]),
    ...markdownSection("Why it matters", [progressSentence(state, failed.length)]),
    ...markdownSection(
      "What to do now",
      markdownList(
        hints.length === 0 ? ["autopilot report"] : hints.map((hint) => escapeMarkdown(hint)),
      ),
    ),
    ...markdownSection("Where it stood", [
      `Phase ${nameOrNone(meta.current_phase)}, step ${nameOrNone(meta.current_step)}; last checkpoint ${meta.last_checkpoint}.`,
      "",
      ...markdownTable(
        ["Phase", "Status", "Debug", "Replan", "Tokens"],
        Object.entries(state.phases)
          .filter(([, { status }]) => status !== "not_started")
          .map(([key, phase]) => [
            escapeMarkdown(key.replace(/^phase_/, "")),
            phase.status,
            String(phase.debug_attempts),
            String(phase.replan_attempts),
            formatNumber(phase.tokens_used),
          ]),
      ),
    ]),
    ...markdownSection("Skipped phases", markdownList(skippedLines(state))),
    ...markdownSection("Circuit breaker", [
      `${breaker.state}; no progress ${breaker.consecutive_no_progress} times, the same error ${breaker.consecutive_same_error} times in a row.`,
      ...(breaker.last_error === null
        ? []
        : ["", `Last error: ${escapeMarkdown(breaker.last_error)}`]),
      ...(breaker.cooldown_until === null ? [] : ["", `Cooldown until ${breaker.cooldown_until}.`]),
    ]),
    ...markdownSection("Used", [
      `${formatNumber(metrics.total_tokens_used)} tokens, ${formatNumber(metrics.total_duration_minutes)} min, ${metrics.debug_loops_total} debug loops, ${metrics.replan_count} replans.`,
    ]),
    ...markdownSection("Post-mortems", markdownList(postMortems.map(causeLine))),
    ...markdownSection(
      "Last events",
      markdownTable(
        ["Time", "Event", "Phase", "Step"],
        state.event_log
          .slice(-eventsMax)
          .map(({ timestamp, event, phase, step }) => [
            timestamp,
            event,
            escapeMarkdown(phase ?? "–"),
            escapeMarkdown(step ?? "–"),
          ]),
      ),
    ),
    "",
  ].join("\n");
}

const nameOrNone = (name: string | null): string => (name === null ? "none" : escapeMarkdown(name));

/**
 * Why a phase failed, and the file of its post-mortem: the reader should not have to open that file
 * to know why.
 */
function causeLine({ phase_id, phase_name, root_cause: cause }: PostMortem): string {
  const failure = `${cause.category} in the step ${escapeMarkdown(cause.step)}, first seen ${cause.first_observed_at}`;
  return `Phase ${escapeMarkdown(phase_id)}, ${escapeMarkdown(phase_name)}: ${failure}. ${escapeMarkdown(cause.description, detailCharsMax)} (${escapeMarkdown(postMortemName(phase_id))})`;
}

/** Skipped phases are in no other row; a phase blocked by a failed one counts as left to do. */
function skippedLines(state: RoadmapState): readonly string[] {
  const phases = Object.keys(state.phases).map((key) => ({
    id: key.replace(/^phase_/, ""),
    name: "",
  }));
  return listSkippedPhases(state, phases).map(
    ({ phase_id, reason }) =>
      `Phase ${escapeMarkdown(phase_id)}: ${escapeMarkdown(reason.replaceAll("_", " "))}`,
  );
}

function progressSentence(state: RoadmapState, failed: number): string {
  const openCount = Object.values(state.phases).filter(
    ({ status }) => status !== "completed",
  ).length;

  const total = Object.keys(state.phases).length;
  const failedText = failed === 0 ? "" : ` ${failed} failed.`;
  return `${total - openCount} of ${total} phases are completed; ${openCount} are not, and nothing goes on by itself.${failedText}`;
}
