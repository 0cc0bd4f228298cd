// roadmap-log: translates the journal into the 29 events of the state.json format. One entry may
// give none, one or several events.
//
// Invariants:
//   G1. The log is a pure function of the journal and the given options.
//   G2. Only phases of the roadmap appear as phases; those before and after them have events of
//       their own.
//   G3. A step has its name in the format's pipeline; if ours differs, it is in the details.

import type { Entry, EntryOf } from "../../../contracts/event.ts";
import { isReasonCode, reasons } from "../../../contracts/reason.ts";
import type { RoadmapEvent } from "../../../contracts/roadmap-events.ts";
import { stateFile } from "../../../contracts/roadmap-places.ts";
import type { RoadmapState } from "../../../contracts/roadmap-state.ts";
import { isOutsideRoadmap, phaseOfEntry } from "../../../insight/attempt-path.ts";
import { type RootCause, findRootCause } from "../../../insight/root-cause.ts";
import { findHighDeferRate } from "../insight/warnings.ts";
import { omitUndefined } from "../../../kit/omit-undefined.ts";
import { selectEarlierEvents } from "./merge-earlier-state.ts";
import type { PhaseHistory, PhaseSummary } from "./phase-history.ts";
import { AuditLog, type ReadClaim } from "./roadmap-audit.ts";
import { type Details, toStepFields, type UntimedRoadmapEvent } from "./roadmap-log-event.ts";
import { batchReportEvents, checkpointEvents, translateStep } from "./roadmap-step-log.ts";

export type LogOptions = {
  readonly readClaim?: ReadClaim;
  /** When phases were completed in earlier runs, by id. */
  readonly completedBefore?: Readonly<Record<string, string>>;
  /** The state of another tool's run that this one continues. */
  readonly earlierState?: RoadmapState | null;
};

/** Translates entries one by one. Every entry must be applied to `history` first. */
export class RoadmapLog {
  readonly #history: PhaseHistory;
  readonly #readClaim: ReadClaim;
  readonly #completedBefore: Readonly<Record<string, string>>;
  readonly #events: RoadmapEvent[];
  readonly #audit: AuditLog;
  readonly #completed = new Set<string>();
  #isDeferRateHigh = false;
  #resumes: { readonly run: string; readonly status: string } | null = null;
  /**
   * The run was just started or resumed on request; if it is opened without that, it recovers from
   * a crash.
   */
  #wasRequested = false;

  constructor(
    history: PhaseHistory,
    { readClaim = () => undefined, completedBefore = {}, earlierState }: LogOptions = {},
  ) {
    this.#history = history;
    this.#readClaim = readClaim;
    this.#completedBefore = completedBefore;
    this.#events = [...selectEarlierEvents(earlierState)];
    this.#audit = new AuditLog(readClaim);
  }

  get events(): readonly RoadmapEvent[] {
    return this.#events;
  }

  /** Adds the events that an entry gives. G1 */
  add(entry: Entry, specPath: string): void {
    const phaseId = phaseOfEntry(entry);
    const phase = phaseId === null || isOutsideRoadmap(phaseId) ? null : phaseId; // G2
    const translated = [
      ...this.#translateRun(entry),
      ...(phase === null ? [] : this.#translatePhase(entry, phase)),
    ];

    for (const { event, details = {}, step } of translated) {
      this.#events.push({
        timestamp: entry.ts,
        ...(phase === null ? {} : { phase }),
        ...toStepFields(step, details),
        event,
      });
    }

    const auditLines = this.#audit.linesOf(entry, { completed: this.#completed, specPath });
    for (const { event, details } of auditLines) {
      this.#events.push({ timestamp: entry.ts, event, details });
    }

    this.#events.push(...batchReportEvents(entry), ...checkpointEvents(entry));
    this.#warnOfDeferRate(entry);
  }

  #warnOfDeferRate({ ts }: Entry): void {
    const [deferred, processed] = [this.#history.deferred.size, this.#history.processed.size];
    const warning = findHighDeferRate(deferred, processed);
    if (warning !== null && !this.#isDeferRateHigh) {
      this.#events.push({
        timestamp: ts,
        event: "high_defer_rate_warning",
        details: { deferred, processed, message: warning.message },
      });
    }

    this.#isDeferRateHigh = warning !== null;
  }

  /** Events of the run as a whole. */
  #translateRun(entry: Entry): readonly UntimedRoadmapEvent[] {
    switch (entry.event) {
      case "run_drafted":
        if (entry.resumes !== undefined) {
          this.#resumes = { run: entry.resumes.run, status: entry.resumes.status };
        }
        return [];
      case "run_started":
        this.#wasRequested = true;
        return [this.#translateStart()];
      case "run_opened":
        return this.#translateOpening(entry);
      case "run_resumed":
        this.#wasRequested = true;
        return [{ event: "run_resumed", details: { reason: entry.reason_code } }];
      case "run_completed": {
        const details = { verdict: entry.verdict, reason: entry.reason_code };
        return [{ event: "run_completed", details }];
      }
      case "run_paused":
        return isHaltReason(entry.reason_code) ? [translateHalt(entry)] : [];
      case "run_stopped":
        return [translateHalt(entry)];
      case "document_differed": {
        if (entry.path !== stateFile) return [];
        const details = { reason: "state_rebuilt", found: entry.found, kept: entry.kept };
        return [{ event: "checkpoint_written", details }];
      }
      case "circuit_breaker_opened": {
        const { because: reason, cooldown_until, detail } = entry;
        const details = omitUndefined({ reason, cooldown_until, detail });
        return [{ event: "circuit_breaker_opened", details }];
      }
      case "circuit_breaker_closed":
        return [{ event: "circuit_breaker_closed" }];
      case "phases_read":
        return entry.phases.flatMap(({ id, skip }) =>
          skip === undefined ? [] : [this.#translateSkip(id, skip)],
        );
      default:
        return [];
    }
  }

  #translateStart(): UntimedRoadmapEvent {
    if (this.#resumes === null) return { event: "run_started" };
    const { run, status } = this.#resumes;
    return { event: "run_resumed", details: { reason: "foreign_run", from: run, was: status } };
  }

  /** A run that is opened and was not just started or resumed on request had crashed. */
  #translateOpening({ opening }: EntryOf<"run_opened">): readonly UntimedRoadmapEvent[] {
    const isRequested = this.#wasRequested;
    this.#wasRequested = false;
    if (isRequested) return [];

    return [{ event: "run_resumed", details: { reason: "crashed", opening } }];
  }

  #translateSkip(phase: string, reason: string): UntimedRoadmapEvent {
    return {
      event: "phase_skipped",
      details: skippedDetails(phase, reason, this.#completedBefore),
    };
  }

  /** Events of a phase of the roadmap: its visits, then its steps, tasks and questions. */
  #translatePhase(entry: Entry, phase: string): readonly UntimedRoadmapEvent[] {
    const summary = this.#history.phases.get(phase);
    switch (entry.event) {
      case "phase_started":
        return [{ event: "phase_started" }];
      case "phase_reopened":
        this.#completed.delete(phase);
        return [{ event: "phase_started", details: { visit: entry.visit, reason: entry.because } }];
      case "phase_skipped":
        return [this.#translateSkip(phase, entry.because)];
      case "phase_completed":
        this.#completed.add(phase);
        return [translateCompletion(entry, phase, summary)];
      case "phase_failed":
      case "closing_failed": {
        this.#completed.delete(phase);
        const rootCause = findRootCause(summary?.visit ?? [], phase, this.#readClaim);
        const details = failureDetails(entry.because ?? entry.reason_code, rootCause);
        return [{ event: "phase_failed", details }];
      }
      default:
        return translateStep(entry, { phase, summary, readClaim: this.#readClaim });
    }
  }
}

const translateHalt = ({
  reason_code: reason,
  detail,
}: EntryOf<"run_paused" | "run_stopped">): UntimedRoadmapEvent => ({
  event: "run_halted",
  details: omitUndefined({ reason, detail }),
});

/** Whether a pause is a halt: the user's choice and a question to a person are not. */
export const isHaltReason = (reason: string): boolean =>
  !isReasonCode(reason) || reasons[reason].result === "FAIL";

/** The name is recorded because the id may be given to another phase later. */
function translateCompletion(
  { because: reason }: EntryOf<"phase_completed">,
  phase: string,
  summary: PhaseSummary | undefined,
): UntimedRoadmapEvent {
  const name = summary?.name === phase ? undefined : summary?.name;
  const alignment_score = summary?.steps.get("judge")?.says["alignment_score"];
  return { event: "phase_completed", details: omitUndefined({ name, reason, alignment_score }) };
}

/** The reason of the failure, and its root cause: the first fault that was never fixed. */
const failureDetails = (reason: string, rootCause: RootCause | null): Details => ({
  reason,
  category: rootCause?.category ?? "coordination_failure",
  ...omitUndefined({ description: rootCause?.description }),
});

/** `reason`: such as `blocked_by_phase_3`, whose phase is named in a field of its own. */
function skippedDetails(
  id: string,
  reason: string,
  completedBefore: Readonly<Record<string, string>>,
): Details {
  const blockingPhase = /^blocked_by_phase_(.+)$/.exec(reason)?.[1];
  const completedAt =
    blockingPhase === undefined && Object.hasOwn(completedBefore, id)
      ? completedBefore[id]
      : undefined;

  return {
    phase_id: id,
    reason,
    ...omitUndefined({ original_run_timestamp: completedAt, blocking_phase: blockingPhase }),
  };
}
