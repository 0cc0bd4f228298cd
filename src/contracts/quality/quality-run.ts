// quality-run: schemas of every event of `run_state.jsonl`, the log of a quality run and of a
// calibration cycle.
//
// Invariants:
//   Q1. A field the format calls required is required; unknown fields are tolerated, because a
//       newer writer may have them.
//   Q2. An enum the format closes is a picklist. Three stay open, because the format or we leave
//       them so: the runner (another agent is recorded by its own name), the state of the
//       documentation (reserved for more), and the kind of a finding.
//   Q3. Times are ISO 8601 in UTC with a Z. Nothing here says that they grow: a real log's do not.

import * as v from "valibot";
import { Time } from "../roadmap-values.ts";

/** The version our logs declare. Another tool's may be newer. */
export const qualityLogVersion = "1.5.6";

export const qualityRunners = ["claude", "codex", "copilot", "cursor"] as const;
export const phaseNumbers = [1, 2, 3, 4, 5, 6] as const;
export type PhaseNumber = (typeof phaseNumbers)[number];
export const patternNumbers = [1, 2, 3, 4, 5, 6, 7] as const;
export const passNames = ["A", "B", "C", "D"] as const;
export const gateVerdicts = ["pass", "fail", "warn", "skip"] as const;
export const terminalVerdicts = ["pass", "fail", "partial"] as const;
export const documentationStates = ["code_only", "with_docs"] as const;
export const runEndings = ["success", "aborted", "failed"] as const;
export const leverStates = ["pre-lever", "post-lever"] as const;
export const cycleVerdicts = ["ship", "revert", "iterate", "halt-iterate-cap"] as const;
/** Written by the format's companion and absent from the format's list: read, never written. */
export const toleratedCycleVerdicts = ["halt-preflight-failed", "halt-playbook-hang"] as const;

const text = v.string();
const texts = v.array(text);
const Count = v.pipe(v.number(), v.integer(), v.minValue(0));
const Duration = v.pipe(v.number(), v.minValue(0));
const Phase = v.picklist(phaseNumbers);
/** By benchmark; null if a benchmark was interrupted or its baseline is empty. */
const recalls = v.record(text, v.nullable(v.number()));

/** The contents of `phase_end.key_counts`, by phase. Other counts may be present. */
export const keyCounts = {
  1: v.looseObject({ findings_total: Count, patterns_walked: Count }),
  2: v.looseObject({ findings_promoted: Count, findings_dropped: Count }),
  3: v.looseObject({ bugs_identified: Count, bug_writeups: Count }),
  4: v.looseObject({ req_count: Count, uc_count: Count, passes_complete: Count }),
  5: v.looseObject({ gate_checks_total: Count, gate_failures: Count }),
  6: v.looseObject({ bugs_md_count: Count, gate_verdict: v.picklist(terminalVerdicts) }),
} as const satisfies Readonly<Record<PhaseNumber, v.GenericSchema>>;
export type KeyCounts = { readonly [P in PhaseNumber]: v.InferOutput<(typeof keyCounts)[P]> };

const event = <const Name extends string, Fields extends v.ObjectEntries>(
  name: Name,
  fields: Fields,
) => v.looseObject({ event: v.literal(name), ts: Time, ...fields }); // Q1, Q3

const index = { schema_version: text, event_types: texts };
const failure = event("error", {
  phase: v.optional(Phase),
  message: text,
  recoverable: v.boolean(),
});
const pass = {
  phase: v.literal(4),
  pass: v.picklist(passNames),
  output_artifact: v.optional(text),
};

/** The run's own log, `quality/run_state.jsonl`, in the format's order. */
export const runEventSchemas = {
  _index: event("_index", { ...index, benchmark: text, lever_state: text, started_at: Time }),
  run_start: event("run_start", { runner: text, playbook_version: text, target_path: text }), // Q2
  phase_start: event("phase_start", { phase: Phase }),
  pattern_walked: event("pattern_walked", {
    phase: v.literal(1),
    pattern: v.picklist(patternNumbers),
    findings_count: Count,
    duration_seconds: v.optional(Duration),
  }),
  pass_started: event("pass_started", pass),
  pass_ended: event("pass_ended", pass),
  finding_logged: event("finding_logged", { phase: Phase, finding_id: text, category: text }),
  artifact_written: event("artifact_written", {
    relative_path: text,
    byte_size: v.optional(Count),
    line_count: v.optional(Count),
  }),
  gate_check: event("gate_check", {
    gate_name: text,
    verdict: v.picklist(gateVerdicts),
    reason: v.optional(text),
  }),
  phase_end: event("phase_end", {
    phase: Phase,
    key_counts: v.looseObject({}),
    artifacts_produced: texts,
    duration_seconds: v.optional(Duration),
  }),
  error: failure,
  documentation_state: event("documentation_state", { state: text, reason: text }),
  aborted_missing_docs: event("aborted_missing_docs", { reason: text }),
  run_end: event("run_end", {
    status: v.picklist(runEndings),
    total_findings: v.optional(Count),
    final_verdict: v.optional(text),
  }),
} as const;

export type RunEventName = keyof typeof runEventSchemas;
export const runEventNames = Object.keys(runEventSchemas) as RunEventName[];
export const isRunEventName = (name: string): name is RunEventName =>
  Object.hasOwn(runEventSchemas, name);
export type RunEventOf<Name extends RunEventName> = v.InferOutput<(typeof runEventSchemas)[Name]>;
/** One line of a run's log. */
export const QualityRunEvent = v.variant(
  "event",
  runEventNames.map((name) => runEventSchemas[name]),
);
export type QualityRunEvent = { [Name in RunEventName]: RunEventOf<Name> }[RunEventName];

/**
 * A cycle's log, `Calibration Cycles/<cycle>/run_state.jsonl`, in the format's order; an error
 * event is as in a run's.
 */
export const cycleEventSchemas = {
  _index: event("_index", {
    ...index,
    cycle_name: text,
    lever_under_test: text,
    benchmarks: texts,
    iteration: v.picklist([1, 2, 3]),
  }),
  cycle_start: event("cycle_start", { hypothesis: text, noise_floor_threshold: v.number() }),
  benchmark_start: event("benchmark_start", {
    benchmark: text,
    lever_state: v.picklist(leverStates),
  }),
  lever_change_applied: event("lever_change_applied", {
    lever_id: text,
    files_changed: texts,
    commit_sha: text,
    description: text,
  }),
  lever_change_reverted: event("lever_change_reverted", {
    files_changed: texts,
    commit_sha: v.optional(v.nullable(text)),
  }),
  benchmark_end: event("benchmark_end", {
    benchmark: text,
    lever_state: v.picklist(leverStates),
    /**
     * Null, beside a `metric_value`, for a benchmark that is judged by a metric and has no list of
     * known bugs.
     */
    recall: v.nullable(v.pipe(v.number(), v.minValue(0), v.maxValue(1))),
    bugs_found: texts,
    bugs_missed: texts,
    historical_baseline_path: text,
  }),
  cycle_end: event("cycle_end", {
    verdict: v.picklist([...cycleVerdicts, ...toleratedCycleVerdicts]),
    recall_before: recalls,
    recall_after: recalls,
    delta: recalls,
    cross_benchmark_check: v.looseObject({ clean: v.boolean(), regressions: v.array(v.unknown()) }),
  }),
  error: failure,
} as const;

export type CycleEventName = keyof typeof cycleEventSchemas;
export const cycleEventNames = Object.keys(cycleEventSchemas) as CycleEventName[];
export const isCycleEventName = (name: string): name is CycleEventName =>
  Object.hasOwn(cycleEventSchemas, name);
export type CycleEventOf<Name extends CycleEventName> = v.InferOutput<
  (typeof cycleEventSchemas)[Name]
>;
/** One line of a cycle's log. */
export const CalibrationCycleEvent = v.variant(
  "event",
  cycleEventNames.map((name) => cycleEventSchemas[name]),
);
export type CalibrationCycleEvent = {
  [Name in CycleEventName]: CycleEventOf<Name>;
}[CycleEventName];
