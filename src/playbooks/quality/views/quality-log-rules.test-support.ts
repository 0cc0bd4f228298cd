// quality-log-rules: whole logs to break in a test, and the fields of every event copied by hand from
// the format's own description: the code's list and this one were written apart, so that a field
// forgotten in one shows.

import { openViolations, type Violation } from "../../../documents/line-rules.ts";
import { openQualityLogRules, type QualityLogFacts } from "./quality-log-rules.ts";

export type Event = Readonly<Record<string, unknown>>;

const ts = "2026-05-15T14:32:01Z";
const runTypes = [
  "_index",
  "run_start",
  "phase_start",
  "pattern_walked",
  "pass_started",
  "pass_ended",
  "finding_logged",
  "artifact_written",
  "gate_check",
  "phase_end",
  "error",
  "documentation_state",
  "aborted_missing_docs",
  "run_end",
];
const cycleTypes = [
  "_index",
  "cycle_start",
  "benchmark_start",
  "lever_change_applied",
  "lever_change_reverted",
  "benchmark_end",
  "cycle_end",
  "error",
];

export const runIndex: Event = {
  event: "_index",
  ts,
  schema_version: "1.5.6",
  event_types: runTypes,
  benchmark: "chi-1.3.45",
  lever_state: "baseline",
  started_at: ts,
};
export const runStart: Event = {
  event: "run_start",
  ts,
  runner: "claude",
  playbook_version: "1.5.6",
  target_path: ".",
};
export const cycleIndex: Event = {
  event: "_index",
  ts,
  schema_version: "1.5.6",
  event_types: cycleTypes,
  cycle_name: "2026-05-15-slug",
  lever_under_test: "lever-1",
  benchmarks: ["chi-1.5.1", "virtio-1.5.1"],
  iteration: 1,
};
export const cycleStart: Event = {
  event: "cycle_start",
  ts,
  hypothesis: "less is more",
  noise_floor_threshold: 0.05,
};

const counts: Readonly<Record<number, Event>> = {
  1: { findings_total: 12, patterns_walked: 7 },
  2: { findings_promoted: 9, findings_dropped: 3 },
  3: { bugs_identified: 6, bug_writeups: 6 },
  4: { req_count: 89, uc_count: 12, passes_complete: 4 },
  5: { gate_checks_total: 9, gate_failures: 0 },
  6: { bugs_md_count: 6, gate_verdict: "pass" },
};

export const phaseStart = (phase: number): Event => ({ event: "phase_start", ts, phase });
export const phaseEnd = (phase: number): Event => ({
  event: "phase_end",
  ts,
  phase,
  key_counts: counts[phase],
  artifacts_produced: [`quality/${phase}.md`],
  duration_seconds: 1.5,
});
export const runEnd: Event = {
  event: "run_end",
  ts,
  status: "success",
  total_findings: 12,
  final_verdict: "pass",
};

/** A whole run with one of every event that a successful one can have. */
export const wholeRun: readonly Event[] = [
  runIndex,
  runStart,
  { event: "documentation_state", ts, state: "code_only", reason: "reference_docs/ empty" },
  phaseStart(1),
  { event: "pattern_walked", ts, phase: 1, pattern: 7, findings_count: 3, duration_seconds: 61 },
  {
    event: "artifact_written",
    ts,
    relative_path: "quality/EXPLORATION.md",
    byte_size: 12_034,
    line_count: 196,
  },
  phaseEnd(1),
  phaseStart(2),
  { event: "error", ts, phase: 2, message: "CONTRACTS.md is empty", recoverable: true },
  phaseEnd(2),
  phaseStart(3),
  { event: "finding_logged", ts, phase: 3, finding_id: "BUG-007", category: "code-bug" },
  phaseEnd(3),
  phaseStart(4),
  { event: "pass_started", ts, phase: 4, pass: "A" },
  { event: "pass_ended", ts, phase: 4, pass: "A", output_artifact: "quality/spec_audits/a.md" },
  phaseEnd(4),
  phaseStart(5),
  { event: "gate_check", ts, gate_name: "terminal_gate", verdict: "pass", reason: "all there" },
  phaseEnd(5),
  phaseStart(6),
  phaseEnd(6),
  runEnd,
];

export const abortedRun: readonly Event[] = [
  runIndex,
  runStart,
  { event: "aborted_missing_docs", ts, reason: "reference_docs/ empty and --require-docs set" },
  { event: "run_end", ts, status: "aborted" },
];

export const wholeCycle: readonly Event[] = [
  cycleIndex,
  cycleStart,
  { event: "benchmark_start", ts, benchmark: "chi-1.5.1", lever_state: "pre-lever" },
  {
    event: "benchmark_end",
    ts,
    benchmark: "chi-1.5.1",
    lever_state: "pre-lever",
    recall: 0.5,
    bugs_found: ["BUG-001"],
    bugs_missed: ["BUG-002"],
    historical_baseline_path: "baselines/chi/BUGS.md",
  },
  {
    event: "lever_change_applied",
    ts,
    lever_id: "lever-1",
    files_changed: ["a.md"],
    commit_sha: "abc123",
    description: "cap 3-5 to 2-3",
  },
  { event: "error", ts, message: "a benchmark hung", recoverable: true },
  { event: "lever_change_reverted", ts, files_changed: ["a.md"], commit_sha: null },
  {
    event: "cycle_end",
    ts,
    verdict: "revert",
    recall_before: { "chi-1.5.1": 0.5 },
    recall_after: { "chi-1.5.1": null },
    delta: { "chi-1.5.1": null },
    cross_benchmark_check: { clean: true, regressions: [] },
  },
];

export type Spec = {
  readonly required: readonly string[];
  readonly optional?: readonly string[];
  /** A value of the right kind that the format does not allow. */
  readonly enums?: Readonly<Record<string, unknown>>;
};

/** `ts` and `event` are every event's, and not repeated here. */
export const runSpecs: Readonly<Record<string, Spec>> = {
  _index: { required: ["schema_version", "event_types", "benchmark", "lever_state", "started_at"] },
  run_start: { required: ["runner", "playbook_version", "target_path"] },
  phase_start: { required: ["phase"], enums: { phase: 7 } },
  pattern_walked: {
    required: ["phase", "pattern", "findings_count"],
    optional: ["duration_seconds"],
    enums: { phase: 2, pattern: 8 },
  },
  pass_started: {
    required: ["phase", "pass"],
    optional: ["output_artifact"],
    enums: { phase: 1, pass: "E" },
  },
  pass_ended: {
    required: ["phase", "pass"],
    optional: ["output_artifact"],
    enums: { phase: 1, pass: "E" },
  },
  finding_logged: { required: ["phase", "finding_id", "category"], enums: { phase: 0 } },
  artifact_written: { required: ["relative_path"], optional: ["byte_size", "line_count"] },
  gate_check: {
    required: ["gate_name", "verdict"],
    optional: ["reason"],
    enums: { verdict: "passed" },
  },
  phase_end: {
    required: ["phase", "key_counts", "artifacts_produced"],
    optional: ["duration_seconds"],
    enums: { phase: 7 },
  },
  error: { required: ["message", "recoverable"], optional: ["phase"], enums: { phase: 7 } },
  documentation_state: { required: ["state", "reason"] },
  aborted_missing_docs: { required: ["reason"] },
  run_end: {
    required: ["status"],
    optional: ["total_findings", "final_verdict"],
    enums: { status: "done" },
  },
};

export const cycleSpecs: Readonly<Record<string, Spec>> = {
  _index: {
    required: [
      "schema_version",
      "event_types",
      "cycle_name",
      "lever_under_test",
      "benchmarks",
      "iteration",
    ],
    enums: { iteration: 4 },
  },
  cycle_start: { required: ["hypothesis", "noise_floor_threshold"] },
  benchmark_start: { required: ["benchmark", "lever_state"], enums: { lever_state: "mid-lever" } },
  lever_change_applied: { required: ["lever_id", "files_changed", "commit_sha", "description"] },
  lever_change_reverted: { required: ["files_changed"], optional: ["commit_sha"] },
  benchmark_end: {
    required: [
      "benchmark",
      "lever_state",
      "recall",
      "bugs_found",
      "bugs_missed",
      "historical_baseline_path",
    ],
    enums: { lever_state: "mid-lever" },
  },
  cycle_end: {
    required: ["verdict", "recall_before", "recall_after", "delta", "cross_benchmark_check"],
    enums: { verdict: "keep" },
  },
  error: { required: ["message", "recoverable"], optional: ["phase"], enums: { phase: 7 } },
};

export type Judged = {
  readonly violations: readonly Violation[];
  readonly errors: number;
  readonly facts: QualityLogFacts;
};

/** Judges lines as they are in a file, blank ones included. */
export function judgeLines(lines: readonly string[]): Judged {
  const violations = openViolations();
  const rules = openQualityLogRules(violations);
  for (const [index, line] of lines.entries()) rules.checkLine(line, index + 1);
  rules.finish();

  return { violations: violations.list(), errors: violations.countErrors(), facts: rules.facts() };
}

export const judge = (events: readonly Event[]): Judged =>
  judgeLines(events.map((event) => JSON.stringify(event)));

export const without = (event: Event, key: string): Event =>
  Object.fromEntries(Object.entries(event).filter(([name]) => name !== key));
export const reported = ({ violations }: Judged): readonly string[] =>
  violations.map(({ line, rule }) => `${line} ${rule}`);
