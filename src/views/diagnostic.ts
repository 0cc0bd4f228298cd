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

export function diagnosticPage(input: DiagnosticInput): string {
  const { state, at, postMortems } = input;
  const { _meta: meta } = state;

  return [
    `# Diagnostic: ${meta.run_id}`,
    "",
    `Written ${at}. Status: ${meta.status}.`,
    ...markdownSection("What happened", reasonLines(input)),
    ...markdownSection("Why it matters", [progressSentence(state)]),
    ...markdownSection("What to do now", markdownList(listHints(input))),
    ...markdownSection("Where it stood", placeLines(state)),
    ...markdownSection("Skipped phases", markdownList(skippedLines(state))),
    ...markdownSection("Circuit breaker", breakerLines(state)),
    ...markdownSection("Used", [usageSentence(state)]),
    ...markdownSection("Post-mortems", markdownList(postMortems.map(causeLine))),
    ...markdownSection("Last events", eventTable(state)),
    "",
  ].join("\n");
}

function reasonLines({ reason, detail }: DiagnosticInput): readonly string[] {
  const meaning = isReasonCode(reason) ? reasons[reason].meaning : "The run halted.";
  const line = `${markdownCode(reason)}: ${meaning}`;
  return detail === null ? [line] : [line, "", escapeMarkdown(detail, detailCharsMax)];
}

function listHints({ reason, remediation }: DiagnosticInput): readonly string[] {
  if (remediation.length > 0) return remediation.map((hint) => escapeMarkdown(hint));

  const ownHint = isReasonCode(reason) ? reasons[reason].hint : "";
  return [ownHint === "" ? "autopilot report" : escapeMarkdown(ownHint)];
}

function placeLines({ _meta: meta, phases }: RoadmapState): readonly string[] {
  const begunPhases = Object.entries(phases).filter(([, { status }]) => status !== "not_started");
  const rows = begunPhases.map(([key, phase]) => [
    escapeMarkdown(key.replace(/^phase_/, "")),
    phase.status,
    String(phase.debug_attempts),
    String(phase.replan_attempts),
    formatNumber(phase.tokens_used),
  ]);

  return [
    `Phase ${nameOrNone(meta.current_phase)}, step ${nameOrNone(meta.current_step)}; last checkpoint ${meta.last_checkpoint}.`,
    "",
    ...markdownTable(["Phase", "Status", "Debug", "Replan", "Tokens"], rows),
  ];
}

function breakerLines({ circuit_breaker: breaker }: RoadmapState): readonly string[] {
  const lines = [
    `${breaker.state}; no progress ${breaker.consecutive_no_progress} times, the same error ${breaker.consecutive_same_error} times in a row.`,
  ];

  if (breaker.last_error !== null) {
    lines.push("", `Last error: ${escapeMarkdown(breaker.last_error)}`);
  }

  if (breaker.cooldown_until !== null) {
    lines.push("", `Cooldown until ${breaker.cooldown_until}.`);
  }

  return lines;
}

function usageSentence({ metrics }: RoadmapState): string {
  const tokens = `${formatNumber(metrics.total_tokens_used)} tokens`;
  const duration = `${formatNumber(metrics.total_duration_minutes)} min`;
  const loops = `${metrics.debug_loops_total} debug loops, ${metrics.replan_count} replans`;
  return `${tokens}, ${duration}, ${loops}.`;
}

function eventTable({ event_log }: RoadmapState): readonly string[] {
  const rows = event_log
    .slice(-eventsMax)
    .map(({ timestamp, event, phase, step }) => [
      timestamp,
      event,
      escapeMarkdown(phase ?? "–"),
      escapeMarkdown(step ?? "–"),
    ]);

  return markdownTable(["Time", "Event", "Phase", "Step"], rows);
}

const nameOrNone = (name: string | null): string => (name === null ? "none" : escapeMarkdown(name));

/**
 * Why a phase failed, and the file of its post-mortem: the reader should not have to open that file
 * to know why.
 */
function causeLine({ phase_id, phase_name, root_cause: cause }: PostMortem): string {
  const phase = `Phase ${escapeMarkdown(phase_id)}, ${escapeMarkdown(phase_name)}`;
  const failure = `${cause.category} in the step ${escapeMarkdown(cause.step)}, first seen ${cause.first_observed_at}`;
  const description = escapeMarkdown(cause.description, detailCharsMax);
  return `${phase}: ${failure}. ${description} (${escapeMarkdown(postMortemName(phase_id))})`;
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

function progressSentence({ phases }: RoadmapState): string {
  const statuses = Object.values(phases).map(({ status }) => status);
  const total = statuses.length;
  const openCount = statuses.filter((status) => status !== "completed").length;
  const failedCount = statuses.filter((status) => status === "failed").length;
  const failedText = failedCount === 0 ? "" : ` ${failedCount} failed.`;
  return `${total - openCount} of ${total} phases are completed; ${openCount} are not, and nothing goes on by itself.${failedText}`;
}
