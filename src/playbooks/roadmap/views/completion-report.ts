// completion-report: renders `.autopilot/completion-report.md` and its JSON: what was accomplished,
// what failed, what is left. It is written at the end of every run; the part about the whole
// roadmap only with --complete.

import type {
  CompletionFile,
  CompletionReport,
  RunMetrics,
  SelfAuditSummary,
  SkippedPhase,
  TrendSummary,
} from "../../../contracts/roadmap-reports.ts";
import type { RoadmapState } from "../../../contracts/roadmap-state.ts";
import { getAlignment, computeMinutes } from "../../../insight/metrics.ts";
import { describeTrendWarning } from "../../../insight/trend.ts";
import type { RoadmapWarning } from "../insight/warnings.ts";
import {
  escapeMarkdown,
  markdownList,
  markdownSection,
  markdownTable,
} from "../../../views/markdown.ts";
import { formatAmount, formatNumber, plural } from "../../../views/wording.ts";

export type CompletionInput = {
  readonly state: RoadmapState;
  /** Names of phases by id. */
  readonly names: Readonly<Record<string, string>>;
  readonly metrics: RunMetrics;
  readonly trend: TrendSummary | null;
  /** Null if no audit was made. */
  readonly selfAudit: SelfAuditSummary | null;
  /** The part about the whole roadmap: --complete only. */
  readonly batch: CompletionReport | null;
  /** Requested phases that were skipped, including blocked ones. */
  readonly skipped: readonly SkippedPhase[];
  readonly warnings: readonly RoadmapWarning[];
  /**
   * Differences from the previous run: flow, prompts, agents, models; null if its journal is gone.
   */
  readonly configChanges?: readonly string[] | null;
  /** One sentence: the verdict, and where the work is. */
  readonly ending?: string;
};

/**
 * The JSON file beside the page. With --complete it starts with the fields of the whole roadmap.
 */
export function buildCompletionFile({
  state,
  metrics,
  trend,
  selfAudit,
  batch,
  skipped,
  warnings,
}: CompletionInput): CompletionFile {
  const { run_id, timestamp } = metrics;
  return {
    ...(batch ?? { run_id, timestamp, mode: null, phases_skipped: [...skipped] }),
    status: state._meta.status,
    metrics,
    trend_summary: trend,
    self_audit: selfAudit,
    warnings: warnings.map(({ code, message }) => ({ code, message })),
  };
}

export function renderCompletionPage(input: CompletionInput): string {
  const { state, metrics, trend, selfAudit, batch, warnings } = input;
  const skipped = batch?.phases_skipped ?? input.skipped;
  const endingText = input.ending === undefined ? "" : ` ${escapeMarkdown(input.ending)}`;
  const trendText = trend === null ? null : describeTrendWarning(trend);
  const warningTexts = [
    ...warnings.map(({ message }) => escapeMarkdown(message)),
    ...(trendText === null ? [] : [trendText]),
  ];

  return [
    `# Completion report: ${metrics.run_id}`,
    "",
    `Written ${metrics.timestamp}. The run is ${state._meta.status}.${endingText}`,
    ...(batch === null ? [] : markdownSection("Roadmap", roadmapLines(batch))),
    ...markdownSection("Attempted phases", attemptedLines(input)),
    ...markdownSection("Skipped phases", skippedLines(skipped)),
    ...(batch === null ? [] : markdownSection("Dependency gaps", gapLines(batch))),
    ...markdownSection("Self-audit", auditLines(selfAudit, warnings)),
    ...markdownSection("Summary", summaryLines(metrics, skipped.length)),
    ...markdownSection("Trend", [...trendLines(trend), ...changeLines(input)]),
    ...markdownSection("Warnings", markdownList(warningTexts)),
    ...markdownSection("Files", fileLines),
    "",
  ].join("\n");
}

/** Explains the untracked files that a user may find after a run. */
const fileLines: readonly string[] = [
  "What agents wrote is where the work is. The runner's own pages of a phase in `.planning/phases/` (TRIAGE.json, EXECUTION-LOG.md, " +
    "VERIFICATION.md, the traces) are no changes of yours to any run. Those of landed phases are committed to your branch when the run ends, " +
    "unless your config says `roadmap: { commit_pages: false }` or a landing would not be possible then. To commit them yourself: " +
    '`git add .planning/phases && git commit -m "pages of the phases"`.',
];

const roadmapLines = (batch: CompletionReport): readonly string[] => [
  `${batch.completed_phases_total} of ${plural(batch.total_phases_in_roadmap, "phase")} are completed: **${batch.completion_percentage.toFixed(1)} %**.`,
];

function attemptedLines({ state, names, metrics }: CompletionInput): readonly string[] {
  const attempted = Object.entries(state.phases).filter(
    ([, { started_at }]) => started_at !== null,
  );
  const rows = attempted.map(([key, phase]) => {
    const id = key.replace(/^phase_/, "");
    const endedAt = phase.completed_at ?? metrics.timestamp;
    const minutes = computeMinutes(phase.started_at ?? endedAt, endedAt);

    return [
      escapeMarkdown(id),
      escapeMarkdown(nameOf(names, id)),
      phase.status,
      String(getAlignment(phase) ?? "–"),
      formatAmount("minutes", minutes),
      formatNumber(phase.tokens_used),
      String(phase.debug_attempts),
      String(phase.replan_attempts),
    ];
  });

  return markdownTable(
    ["Phase", "Name", "Status", "Alignment", "Duration", "Tokens", "Debug", "Replan"],
    rows,
  );
}

const nameOf = (names: CompletionInput["names"], id: string): string =>
  Object.hasOwn(names, id) ? (names[id] ?? id) : id;

function skippedLines(skipped: readonly SkippedPhase[]): readonly string[] {
  const rows = skipped.map(({ phase_id, phase_name, reason, original_run_timestamp }) => [
    escapeMarkdown(phase_id),
    escapeMarkdown(phase_name),
    escapeMarkdown(reason),
    original_run_timestamp ?? "–",
  ]);

  return markdownTable(["Phase", "Name", "Reason", "Completed earlier"], rows);
}

function gapLines({ dependency_gaps }: CompletionReport): readonly string[] {
  const rows = dependency_gaps.map((gap) => {
    const blocked = gap.blocked_phases.map((phase) => idAndName(phase.phase_id, phase.phase_name));

    return [
      idAndName(gap.failed_phase_id, gap.failed_phase_name),
      escapeMarkdown(gap.failure_reason),
      blocked.join(", ") || "none",
    ];
  });

  return markdownTable(["Failed phase", "Why", "Blocked phases"], rows);
}

const idAndName = (id: string, name: string): string =>
  `${escapeMarkdown(id)}: ${escapeMarkdown(name)}`;

function auditLines(
  audit: SelfAuditSummary | null,
  warnings: readonly RoadmapWarning[],
): readonly string[] {
  if (audit === null) return ["No self-audit was made."];

  const lines: string[] = [];
  const auditFailure = warnings.find(({ code }) => code === "audit_failed");
  if (auditFailure !== undefined) lines.push(escapeMarkdown(auditFailure.message), "");

  const checked = plural(audit.total_requirements_checked, "requirement");
  const gaps = plural(audit.gaps_found, "gap");
  lines.push(
    `${checked} checked, ${audit.passed_on_first_check} passed on the first check, ` +
      `${gaps} found, ${audit.gaps_fixed} fixed, ${audit.gaps_remaining} remaining, ` +
      `${plural(audit.audit_cycles, "re-audit")}.`,
  );

  const fixes = audit.fix_commits.map((commit) => escapeMarkdown(commit));
  if (fixes.length > 0) lines.push("", `Fixes: ${fixes.join(", ")}.`);

  const gapItems = audit.remaining_gap_details.map(
    ({ requirement_id, description }) =>
      `- ${escapeMarkdown(requirement_id)}: ${escapeMarkdown(description)}`,
  );
  if (gapItems.length > 0) lines.push("", ...gapItems);
  return lines;
}

function summaryLines(metrics: RunMetrics, skipped: number): readonly string[] {
  const rate =
    metrics.success_rate === null
      ? "none: nothing was attempted"
      : `${Math.round(metrics.success_rate * 100)} %`;

  const failureCounts = Object.entries(metrics.failure_taxonomy_histogram).map(
    ([category, times]) => `${category}: ${times}`,
  );

  return markdownList([
    `attempted: ${metrics.phases_attempted}`,
    `succeeded: ${metrics.phases_succeeded}`,
    `failed: ${metrics.phases_failed}`,
    `deferred to a person: ${metrics.phases_human_deferred}`,
    `skipped: ${skipped}`,
    `success rate: ${rate}`,
    `average alignment: ${metrics.avg_alignment_score ?? "none"}`,
    `duration: ${formatAmount("minutes", metrics.total_duration_minutes)}`,
    `estimated tokens: ${formatNumber(metrics.total_estimated_tokens)}`,
    `debug loops: ${metrics.total_debug_loops}, replans: ${metrics.total_replan_attempts}`,
    ...(failureCounts.length === 0 ? [] : [`failures: ${failureCounts.join(", ")}`]),
  ]);
}

function changeLines({ trend, configChanges = null }: CompletionInput): readonly string[] {
  if (trend === null || configChanges === null) return [];
  const changesText =
    configChanges.length === 0
      ? "nothing that is recorded"
      : escapeMarkdown(configChanges.join("; "));

  return ["", `Different from the run before: ${changesText}.`];
}

function trendLines(trend: TrendSummary | null): readonly string[] {
  if (trend === null) return ["One run alone is no trend."];
  const { historical } = trend;
  const recurring = trend.recurring_failures.join(", ") || "none";
  const rows = [
    ["success rate", ...rangeCells(historical.success_rate)],
    ["alignment", ...rangeCells(historical.avg_alignment)],
    ["estimated tokens", ...rangeCells(historical.total_cost)],
  ];

  return [
    `Against the run before: success rate ${signedText(trend.success_rate_delta)}, alignment ${signedText(trend.avg_alignment_delta)}, ` +
      `estimated tokens ${signedText(trend.estimated_cost_delta)}.`,
    `Failures that came back: ${recurring}.`,
    "",
    ...markdownTable(
      [`Over ${plural(historical.total_runs, "run")}`, "Least", "Most", "Average"],
      rows,
    ),
  ];
}

function signedText(value: number | null): string {
  if (value === null) return "unknown";
  return `${value > 0 ? "+" : ""}${formatNumber(value)}`;
}

function rangeCells(range: TrendSummary["historical"]["success_rate"]): readonly string[] {
  if (range === null) return ["–", "–", "–"];
  return [formatNumber(range.min), formatNumber(range.max), formatNumber(range.avg)];
}
