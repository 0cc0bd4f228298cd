// roadmap-state: `.autopilot/state.json`, generated from the journal. The journal is the source of truth; this file is for other readers.
//
// Invariants:
//   S1. It is always valid against its own schema, for any run of any flow.
//   S2. Generating it decides nothing and triggers nothing.

import type { Entry } from "../../../contracts/event.ts";
import type { RoadmapState } from "../../../contracts/roadmap-state.ts";
import { findLastError } from "../../../views/breaker-view.ts";
import { circuitBreakerDefaults, type CircuitBreakerConfig } from "../../../contracts/roadmap-values.ts";
import { runThresholds } from "../../../core/breaker.ts";
import { hasFailed, runNumber, stepsOfPhase } from "../../../core/selectors.ts";
import { own } from "../../../core/record.ts";
import type { RunView } from "../../../core/state.ts";
import { rounded } from "../../../insight/metrics.ts";
import type { ClaimOf } from "./roadmap-audit.ts";
import { mergedPhases, newlyAmong, wasDeferred, wasProcessed } from "./roadmap-carried.ts";
import { type PhaseHistory, openPhaseHistory } from "./phase-history.ts";
import { type LogExtra, openRoadmapLog } from "./roadmap-log.ts";
import { runRecord } from "./roadmap-phase.ts";
import { pipelineName } from "./roadmap-steps.ts";

export type RoadmapStateExtra = LogExtra & {
  /** A moment after the last entry at which the run is known to be alive; a step that takes long isn't a crash. */
  readonly aliveAt?: string;
};

export type RoadmapStateBook = {
  readonly history: PhaseHistory;
  apply(entry: Entry): void;
  stateOf(run: RunView, aliveAt?: string): RoadmapState;
  /** The same as the file's text: the earlier part of the log is not serialised again. */
  textOf(run: RunView, aliveAt?: string): string;
};

const unknownClaim: ClaimOf = () => undefined;
const roadmapPathDefault = ".planning/ROADMAP.md";

/** Whether there is a file at all: a draft has none. */
export const hasRoadmapState = (run: RunView): boolean => run.status !== "draft";

/** Keeps up with a journal, so that drawing it again costs what came since. */
export function openRoadmapState(extra: LogExtra = {}): RoadmapStateBook {
  const history = openPhaseHistory();
  const log = openRoadmapLog(history, extra);
  let specPath = roadmapPathDefault;
  const lines: string[] = [];
  const draw = (run: RunView, events: RoadmapState["event_log"], aliveAt: string | undefined): RoadmapState =>
    drawn(run, { history, claimOf: extra.claimOf ?? unknownClaim, carried: extra.carried ?? null }, events, aliveAt);
  return {
    history,
    apply(entry) {
      if (entry.event === "run_drafted") specPath = getSpecPath(entry.options);
      history.apply(entry);
      log.take(entry, specPath);
    },
    stateOf: (run, aliveAt) => draw(run, [...log.events] as RoadmapState["event_log"], aliveAt),
    textOf: (run, aliveAt) => {
      for (const event of log.events.slice(lines.length)) lines.push(`    ${JSON.stringify(event)}`);
      const around = JSON.stringify(draw(run, [], aliveAt), null, 2);
      const events = lines.length === 0 ? "[]" : `[\n${lines.join(",\n")}\n  ]`;
      return `${around.replace(emptyLog, () => `\n  "event_log": ${events},\n`)}\n`;
    },
  };
}

/** Where the log is in the text: two spaces deep, where no foreign name can be. */
const emptyLog = /\n {2}"event_log": \[\],\n/;

export function buildRoadmapState(run: RunView, entries: Iterable<Entry>, { aliveAt, ...extra }: RoadmapStateExtra = {}): RoadmapState {
  const book = openRoadmapState(extra);
  for (const entry of entries) book.apply(entry);
  return book.stateOf(run, aliveAt);
}

type Reported = { readonly history: PhaseHistory; readonly claimOf: ClaimOf; readonly carried: RoadmapState | null };

function drawn(
  run: RunView,
  { history, claimOf, carried }: Reported,
  event_log: RoadmapState["event_log"],
  aliveAt: string | undefined,
): RoadmapState {
  const { drafted, ledger, breaker } = run;
  const listed = run.phases.filter(({ group }) => group === "phases");
  const ours = Object.fromEntries(
    listed.map((phase) => [`phase_${phase.id}`, runRecord(run, phase, history.phases.get(phase.id), claimOf)]),
  );
  const phases = carried === null ? ours : mergedPhases(run, carried, ours);
  const records = Object.values(phases);
  const count = (status: string): number => records.filter((record) => record.status === status && record.started_at !== null).length;
  const startedAt = carried?._meta.started_at ?? run.startedAt ?? history.beganAt ?? run.updatedAt;
  const [deferred, processed] = [history.deferred, history.processed].map((ids) => listed.flatMap(({ id }) => (ids.has(id) ? [id] : [])));
  return {
    _meta: {
      version: "1.0",
      run_id: drafted.run_id,
      started_at: startedAt,
      last_checkpoint: aliveAt !== undefined && aliveAt > run.updatedAt ? aliveAt : run.updatedAt,
      status: runStatus(run),
      total_phases: records.length,
      ...runPlace(run),
      orchestrator_context_pct: 0, // Deciding is done by code and takes no part of any model's context.
      human_deferred_count: counted(deferred, carried, "human_deferred_count", wasDeferred),
      total_phases_processed: counted(processed, carried, "total_phases_processed", wasProcessed),
    },
    spec: runSpec(run, history, startedAt),
    roadmap_path: findText(drafted.options, "roadmap_path") ?? roadmapPathDefault,
    phases,
    circuit_breaker: {
      state: breaker.state,
      consecutive_no_progress: breaker.no_progress,
      consecutive_same_error: breaker.same,
      last_error: findLastError(run),
      cooldown_until: breaker.cooldown_until,
    },
    circuit_breaker_config: buildBreakerConfig(run),
    event_log,
    metrics: {
      total_tokens_used: ledger.run.tokens,
      total_duration_minutes: rounded(ledger.run.minutes),
      phases_completed: count("completed"),
      phases_failed: count("failed"),
      debug_loops_total: records.reduce((sum, record) => sum + record.debug_attempts, 0),
      replan_count: records.reduce((sum, record) => sum + record.replan_attempts, 0),
    },
  };
}

function counted(
  ids: readonly string[] = [],
  carried: RoadmapState | null,
  name: "human_deferred_count" | "total_phases_processed",
  isCounted: typeof wasDeferred,
): number {
  return carried === null ? ids.length : carried._meta[name] + newlyAmong(ids, carried, isCounted);
}

/** One state, in the roadmap's terms. A draft has no file; for one, nothing is under way. */
export function runStatus(run: RunView): RoadmapState["_meta"]["status"] {
  if (run.status === "running" || run.status === "completed") return run.status;
  if (run.status === "stopped") return "failed";
  return hasFailed(run) ? "failed" : "paused";
}

/**
 * Where it continues: the phase under way, else one that waits for a person, else the next. What the run does before its phases is part of
 * the next one's preflight; after all of them there is neither phase nor step, and the log says what is done.
 */
function runPlace(run: RunView): Pick<RoadmapState["_meta"], "current_phase" | "current_step"> {
  const open = run.phases.filter(({ status }) => status === "open");
  const isWaiting = (id: string): boolean => (own(run.cursors, id)?.block ?? null) !== null;
  const at = open.find(({ id }) => !isWaiting(id)) ?? open[0];
  if (at?.group !== "phases") {
    const next =
      run.status === "completed" ? undefined : run.phases.find(({ status, group }) => group === "phases" && status === "waiting");
    if (at === undefined || next === undefined) return { current_phase: next?.id ?? null, current_step: null };
    const resumed = run.drafted.resumes?.phases.find(({ id }) => id === next.id)?.step;
    return { current_phase: next.id, current_step: pipelineName(resumed ?? "preflight") };
  }
  const step = stepsOfPhase(run.drafted.flow, at.id)[own(run.cursors, at.id)?.at ?? 0]?.id ?? null;
  return { current_phase: at.id, current_step: step === null ? null : pipelineName(step) };
}

/** The specification's hash when the run began, or the one accepted since. */
function runSpec(run: RunView, history: PhaseHistory, startedAt: string): RoadmapState["spec"] {
  const path = getSpecPath(run.drafted.options);
  const accepted = history.accepted.get(path);
  const hash = accepted?.hash ?? findText(run.drafted.options, "spec_hash")?.replace(/^sha256:/, "");
  return { path, hash: hash !== undefined && /^[0-9a-f]{64}$/.test(hash) ? `sha256:${hash}` : null, locked_at: accepted?.at ?? startedAt };
}

type Options = RunView["drafted"]["options"];
const getSpecPath = (options: Options): string => findText(options, "spec_path") ?? findText(options, "roadmap_path") ?? roadmapPathDefault;

function findText(options: Options, name: string): string | undefined {
  const value = own(options, name);
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The eleven thresholds as they are in force, raised ones included. */
export function buildBreakerConfig(run: RunView): CircuitBreakerConfig {
  const { run: ofRun, phase: ofPhase } = run.limits;
  const { noProgressMax, sameErrorMax, cooldownMinutes } = runThresholds(run);
  const config: CircuitBreakerConfig = {
    no_progress_threshold: noProgressMax,
    same_error_threshold: sameErrorMax,
    output_degradation_pct: ofRun["output_degradation_pct"] ?? circuitBreakerDefaults.output_degradation_pct,
    max_debug_attempts_per_phase:
      ofRun["max_debug_attempts_per_phase"] ?? atMostOf(run, "debug") ?? circuitBreakerDefaults.max_debug_attempts_per_phase,
    max_replan_attempts_per_phase:
      ofRun["max_replan_attempts_per_phase"] ?? atMostOf(run, "replan") ?? circuitBreakerDefaults.max_replan_attempts_per_phase,
    max_total_retries_per_run: ofRun["retries"] ?? circuitBreakerDefaults.max_total_retries_per_run,
    cooldown_minutes: cooldownMinutes,
    cost_cap_tokens_per_phase: ofPhase["tokens"] ?? circuitBreakerDefaults.cost_cap_tokens_per_phase,
    cost_cap_tokens_total: ofRun["tokens"] ?? circuitBreakerDefaults.cost_cap_tokens_total,
    wall_clock_timeout_minutes_per_phase: ofPhase["minutes"] ?? circuitBreakerDefaults.wall_clock_timeout_minutes_per_phase,
    wall_clock_timeout_minutes_total: ofRun["minutes"] ?? circuitBreakerDefaults.wall_clock_timeout_minutes_total,
  };
  return {
    ...config,
    no_progress_threshold: Math.floor(config.no_progress_threshold),
    same_error_threshold: Math.floor(config.same_error_threshold),
    output_degradation_pct: Math.min(100, config.output_degradation_pct),
    max_debug_attempts_per_phase: Math.floor(config.max_debug_attempts_per_phase),
    max_replan_attempts_per_phase: Math.floor(config.max_replan_attempts_per_phase),
    max_total_retries_per_run: Math.floor(config.max_total_retries_per_run),
  }; // S1
}

function atMostOf(run: RunView, count: string): number | undefined {
  const rule = own(run.drafted.flow.counts ?? {}, count);
  return rule === undefined ? undefined : runNumber(run, rule.at_most);
}
