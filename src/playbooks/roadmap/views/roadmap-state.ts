// roadmap-state: generates `.autopilot/state.json` from the journal, for other tools. The journal
// is the source of truth.
//
// Invariants:
//   S1. It is always valid against its own schema, for any run of any flow.
//   S2. Generating it decides nothing and triggers nothing.

import type { Entry } from "../../../contracts/event.ts";
import type { RoadmapState } from "../../../contracts/roadmap-state.ts";
import { findLastError } from "../../../views/breaker-view.ts";
import { roadmapFile } from "../../../contracts/roadmap-places.ts";
import {
  circuitBreakerDefaults,
  type CircuitBreakerConfig,
} from "../../../contracts/roadmap-values.ts";
import { breakerLimits } from "../../../core/breaker.ts";
import { hasFailed, numberValue, stepsOfPhase } from "../../../core/selectors.ts";
import { ownValue } from "../../../core/own-values.ts";
import type { RunView } from "../../../core/state.ts";
import { roundToHundredths } from "../../../insight/metrics.ts";
import type { ReadClaim } from "./roadmap-audit.ts";
import {
  mergePhases,
  countNewlyProcessed,
  wasDeferred,
  wasProcessed,
} from "./merge-earlier-state.ts";
import { PhaseHistory } from "./phase-history.ts";
import { type LogOptions, RoadmapLog } from "./roadmap-log.ts";
import { buildPhaseRecord } from "./roadmap-phase.ts";
import { toPipelineName } from "./roadmap-steps.ts";

export type StateOptions = LogOptions & {
  /**
   * A time after the last entry at which the run was alive, so that a long step does not look like
   * a crash.
   */
  readonly aliveAt?: string;
};

export type RoadmapStateProjection = {
  readonly history: PhaseHistory;
  apply(entry: Entry): void;
  buildState(run: RunView, aliveAt?: string): RoadmapState;
  /** The text of the file. Events that were serialised before are not serialised again. */
  renderText(run: RunView, aliveAt?: string): string;
};

const noClaims: ReadClaim = () => undefined;

/** A draft has no state file. */
export const hasRoadmapState = (run: RunView): boolean => run.status !== "draft";

/** Follows a journal, so that generating the file again costs only the new entries. S2 */
export function openRoadmapState(options: LogOptions = {}): RoadmapStateProjection {
  const history = new PhaseHistory();
  const log = new RoadmapLog(history, options);

  const sources: StateSources = {
    history,
    readClaim: options.readClaim ?? noClaims,
    earlierState: options.earlierState ?? null,
  };

  let specPath = roadmapFile;
  /** The events as text. */
  const eventLines: string[] = [];
  return {
    history,
    apply(entry) {
      if (entry.event === "run_drafted") specPath = getSpecPath(entry.options);
      history.apply(entry);
      log.add(entry, specPath);
    },
    buildState: (run, aliveAt) =>
      assembleState(run, sources, [...log.events] as RoadmapState["event_log"], aliveAt),
    renderText: (run, aliveAt) => {
      for (const event of log.events.slice(eventLines.length)) {
        eventLines.push(`    ${JSON.stringify(event)}`);
      }

      const textWithoutEvents = JSON.stringify(assembleState(run, sources, [], aliveAt), null, 2);
      const eventsText = eventLines.length === 0 ? "[]" : `[\n${eventLines.join(",\n")}\n  ]`;
      return `${textWithoutEvents.replace(emptyLogPattern, () => `\n  "event_log": ${eventsText},\n`)}\n`;
    },
  };
}

/** Where the log goes in the text. The indentation makes sure that no other name matches. */
const emptyLogPattern = /\n {2}"event_log": \[\],\n/;

/** The state of a run from its whole journal. */
export function buildRoadmapState(
  run: RunView,
  entries: Iterable<Entry>,
  { aliveAt, ...options }: StateOptions = {},
): RoadmapState {
  const projection = openRoadmapState(options);
  for (const entry of entries) projection.apply(entry);
  return projection.buildState(run, aliveAt);
}

type StateSources = {
  readonly history: PhaseHistory;
  readonly readClaim: ReadClaim;
  readonly earlierState: RoadmapState | null;
};

function assembleState(
  run: RunView,
  { history, readClaim, earlierState }: StateSources,
  event_log: RoadmapState["event_log"],
  aliveAt: string | undefined,
): RoadmapState {
  const { drafted, ledger, breaker } = run;
  const listedPhases = run.phases.filter(({ group }) => group === "phases");

  const ownRecords = Object.fromEntries(
    listedPhases.map((phase) => [
      `phase_${phase.id}`,
      buildPhaseRecord(run, phase, history.phases.get(phase.id), readClaim),
    ]),
  );
  const phases = earlierState === null ? ownRecords : mergePhases(run, earlierState, ownRecords);
  const records = Object.values(phases);
  const count = (status: string): number =>
    records.filter((record) => record.status === status && record.started_at !== null).length;
  const startedAt =
    earlierState?._meta.started_at ?? run.startedAt ?? history.startedAt ?? run.updatedAt;
  const listedIds = listedPhases.map(({ id }) => id);
  const deferredIds = listedIds.filter((id) => history.deferred.has(id));
  const processedIds = listedIds.filter((id) => history.processed.has(id));

  return {
    _meta: {
      version: "1.0",
      run_id: drafted.run_id,
      started_at: startedAt,
      last_checkpoint: aliveAt !== undefined && aliveAt > run.updatedAt ? aliveAt : run.updatedAt,
      status: toStateStatus(run),
      total_phases: records.length,
      ...findCurrentStep(run),
      orchestrator_context_pct: 0, // deciding is done by code, outside of any model's context
      human_deferred_count: countProcessed(
        deferredIds,
        earlierState,
        "human_deferred_count",
        wasDeferred,
      ),
      total_phases_processed: countProcessed(
        processedIds,
        earlierState,
        "total_phases_processed",
        wasProcessed,
      ),
    },
    spec: findSpec(run, history, startedAt),
    roadmap_path: findText(drafted.options, "roadmap_path") ?? roadmapFile,
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
      total_duration_minutes: roundToHundredths(ledger.run.minutes),
      phases_completed: count("completed"),
      phases_failed: count("failed"),
      debug_loops_total: records.reduce((sum, record) => sum + record.debug_attempts, 0),
      replan_count: records.reduce((sum, record) => sum + record.replan_attempts, 0),
    },
  };
}

/** The count of the earlier run, if there is one, and of the phases that it had not counted. */
function countProcessed(
  ids: readonly string[],
  earlierState: RoadmapState | null,
  name: "human_deferred_count" | "total_phases_processed",
  isCounted: typeof wasDeferred,
): number {
  return earlierState === null
    ? ids.length
    : earlierState._meta[name] + countNewlyProcessed(ids, earlierState, isCounted);
}

/** The status of the run in the terms of the format. */
export function toStateStatus(run: RunView): RoadmapState["_meta"]["status"] {
  if (run.status === "running" || run.status === "completed") return run.status;
  if (run.status === "stopped") return "failed";
  return hasFailed(run) ? "failed" : "paused";
}

/**
 * The current phase: one in progress, else one that waits for a person, else the next; null after
 * all phases.
 */
function findCurrentStep(
  run: RunView,
): Pick<RoadmapState["_meta"], "current_phase" | "current_step"> {
  const openPhases = run.phases.filter(({ status }) => status === "open");
  const waitsForPerson = (id: string): boolean =>
    (ownValue(run.cursors, id)?.block ?? null) !== null;
  const openPhase = openPhases.find(({ id }) => !waitsForPerson(id)) ?? openPhases[0];
  if (openPhase?.group === "phases") {
    return { current_phase: openPhase.id, current_step: stepInPhase(run, openPhase.id) };
  }

  const nextPhase = run.phases.find(
    ({ status, group }) => group === "phases" && status === "waiting",
  );
  if (nextPhase === undefined || run.status === "completed") {
    return { current_phase: null, current_step: null };
  }

  // Work before the phases is shown as the first step of the next one.
  return {
    current_phase: nextPhase.id,
    current_step: openPhase === undefined ? null : firstStep(run, nextPhase.id),
  };
}

/** The step that an open phase is at. */
function stepInPhase(run: RunView, phase: string): string | null {
  const step = stepsOfPhase(run.drafted.flow, phase)[ownValue(run.cursors, phase)?.at ?? 0]?.id;
  return step === undefined ? null : toPipelineName(step);
}

/** The step with which a phase will begin: where another tool's run left it, else the preflight. */
const firstStep = (run: RunView, phase: string): string =>
  toPipelineName(run.drafted.resumes?.phases.find(({ id }) => id === phase)?.step ?? "preflight");

/** The specification's hash when the run began, or the one accepted since. */
function findSpec(run: RunView, history: PhaseHistory, startedAt: string): RoadmapState["spec"] {
  const path = getSpecPath(run.drafted.options);
  const accepted = history.accepted.get(path);
  const hash =
    accepted?.hash ?? findText(run.drafted.options, "spec_hash")?.replace(/^sha256:/, "");
  const isSha256 = hash !== undefined && /^[0-9a-f]{64}$/.test(hash);

  return { path, hash: isSha256 ? `sha256:${hash}` : null, locked_at: accepted?.at ?? startedAt };
}

type Options = RunView["drafted"]["options"];
const getSpecPath = (options: Options): string =>
  findText(options, "spec_path") ?? findText(options, "roadmap_path") ?? roadmapFile;

function findText(options: Options, name: string): string | undefined {
  const value = ownValue(options, name);
  return typeof value === "string" && value !== "" ? value : undefined;
}

/**
 * The eleven thresholds in force: the run's own, raised ones included, else the flow's, else the
 * defaults.
 */
export function buildBreakerConfig(run: RunView): CircuitBreakerConfig {
  const { run: runLimits, phase: phaseLimits } = run.limits;
  const { noProgressMax, sameErrorMax, cooldownMinutes } = breakerLimits(runLimits);
  const degradationPct =
    runLimits["output_degradation_pct"] ?? circuitBreakerDefaults.output_degradation_pct;
  const debugMax =
    runLimits["max_debug_attempts_per_phase"] ??
    findMaximum(run, "debug") ??
    circuitBreakerDefaults.max_debug_attempts_per_phase;

  const replanMax =
    runLimits["max_replan_attempts_per_phase"] ??
    findMaximum(run, "replan") ??
    circuitBreakerDefaults.max_replan_attempts_per_phase;

  // S1: a person may have set fractions, or more than 100 percent, which the format does not allow.
  return {
    no_progress_threshold: Math.floor(noProgressMax),
    same_error_threshold: Math.floor(sameErrorMax),
    output_degradation_pct: Math.min(100, degradationPct),
    max_debug_attempts_per_phase: Math.floor(debugMax),
    max_replan_attempts_per_phase: Math.floor(replanMax),
    max_total_retries_per_run: Math.floor(
      runLimits["retries"] ?? circuitBreakerDefaults.max_total_retries_per_run,
    ),
    cooldown_minutes: cooldownMinutes,
    cost_cap_tokens_per_phase:
      phaseLimits["tokens"] ?? circuitBreakerDefaults.cost_cap_tokens_per_phase,
    cost_cap_tokens_total: runLimits["tokens"] ?? circuitBreakerDefaults.cost_cap_tokens_total,
    wall_clock_timeout_minutes_per_phase:
      phaseLimits["minutes"] ?? circuitBreakerDefaults.wall_clock_timeout_minutes_per_phase,
    wall_clock_timeout_minutes_total:
      runLimits["minutes"] ?? circuitBreakerDefaults.wall_clock_timeout_minutes_total,
  };
}

/** The flow's own limit of a count; undefined if it does not have that count. */
function findMaximum(run: RunView, count: string): number | undefined {
  const rule = ownValue(run.drafted.flow.counts ?? {}, count);
  return rule === undefined ? undefined : numberValue(run, rule.at_most);
}
