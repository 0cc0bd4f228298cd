// roadmap-log: translates the journal into the 29 events of the state.json format. One entry may
// give none, one or several events.
//
// Invariants:
//   G1. The log is a pure function of the journal and the given options.
//   G2. Only phases of the roadmap appear as phases; those before and after them have events of
//       their own.
//   G3. A step has its name in the format's pipeline; if ours differs, it is in the details.

import type { Entry } from "../../../contracts/event.ts";
import { isReasonCode, reasons } from "../../../contracts/reason.ts";
import type { RoadmapEvent, RoadmapEventName } from "../../../contracts/roadmap-events.ts";
import { stateFile } from "../../../contracts/roadmap-places.ts";
import type { RoadmapState } from "../../../contracts/roadmap-state.ts";
import { isCategory } from "../../../insight/metrics.ts";
import {
  parseAttempt,
  isOutsideRoadmap,
  phaseOfEntry,
  taskOfCursor,
} from "../../../insight/attempt-path.ts";
import { type RootCause, findRootCause } from "../../../insight/root-cause.ts";
import { readField } from "../../contract/agent-return.ts";
import { findHighDeferRate, findUnnecessaryDeferral } from "../insight/warnings.ts";
import { AuditLog, type ReadClaim, listOrEmpty } from "./roadmap-audit.ts";
import { selectEarlierEvents } from "./merge-earlier-state.ts";
import { type PhaseHistory, type PhaseSummary, roadmapSteps } from "./phase-history.ts";
import { toPipelineName } from "./roadmap-steps.ts";

export type LogOptions = {
  readonly readClaim?: ReadClaim;
  /** When phases were completed in earlier runs, by id. */
  readonly completedBefore?: Readonly<Record<string, string>>;
  /** The state of another tool's run that this one continues. */
  readonly earlierState?: RoadmapState | null;
};
type Details = Readonly<Record<string, unknown>>;

/** An event without its time and phase, which are those of the entry. */
type Translated = {
  readonly event: RoadmapEventName;
  readonly details?: Details;
  readonly step?: string;
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
    const phase = phaseId === null || isOutsideRoadmap(phaseId) ? null : phaseId;
    const translated = [
      ...this.#translateRun(entry),
      ...(phase === null ? [] : this.#translatePhase(entry, phase)),
    ]; // G2

    for (const { event, details = {}, step } of translated) {
      this.#events.push({
        timestamp: entry.ts,
        ...(phase === null ? {} : { phase }),
        ...stepFields(step, details),
        event,
      });
    }

    for (const { event, details } of this.#audit.linesOf(entry, {
      completed: this.#completed,
      specPath,
    })) {
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
  #translateRun(entry: Entry): readonly Translated[] {
    switch (entry.event) {
      case "run_drafted":
        if (entry.resumes !== undefined) {
          this.#resumes = { run: entry.resumes.run, status: entry.resumes.status };
        }
        return [];
      case "run_started":
        this.#wasRequested = true;
        if (this.#resumes === null) return [{ event: "run_started" }];
        return [
          {
            event: "run_resumed",
            details: { reason: "foreign_run", from: this.#resumes.run, was: this.#resumes.status },
          },
        ];
      case "run_opened": {
        const isRequested = this.#wasRequested;
        this.#wasRequested = false;
        return isRequested
          ? []
          : [{ event: "run_resumed", details: { reason: "crashed", opening: entry.opening } }];
      }
      case "document_differed":
        if (entry.path !== stateFile) return [];
        return [
          {
            event: "checkpoint_written",
            details: { reason: "state_rebuilt", found: entry.found, kept: entry.kept },
          },
        ];
      case "run_completed":
        return [
          {
            event: "run_completed",
            details: { verdict: entry.verdict, reason: entry.reason_code },
          },
        ];
      case "run_paused":
        if (!isHaltReason(entry.reason_code)) return [];
        return [
          {
            event: "run_halted",
            details: dropUndefined({ reason: entry.reason_code, detail: entry.detail }),
          },
        ];
      case "run_stopped":
        return [
          {
            event: "run_halted",
            details: dropUndefined({ reason: entry.reason_code, detail: entry.detail }),
          },
        ];
      case "run_resumed":
        this.#wasRequested = true;
        return [{ event: "run_resumed", details: { reason: entry.reason_code } }];
      case "circuit_breaker_opened": {
        const details = dropUndefined({
          reason: entry.because,
          cooldown_until: entry.cooldown_until,
          detail: entry.detail,
        });

        return [{ event: "circuit_breaker_opened", details }];
      }
      case "circuit_breaker_closed":
        return [{ event: "circuit_breaker_closed" }];
      case "phases_read":
        return this.#translateSkipped(entry.phases);
      default:
        return [];
    }
  }

  #translateSkipped(phases: EntryOf<"phases_read">["phases"]): readonly Translated[] {
    return phases.flatMap(({ id, skip }): Translated[] =>
      skip === undefined
        ? []
        : [{ event: "phase_skipped", details: skippedDetails(id, skip, this.#completedBefore) }],
    );
  }

  /** Events of a phase of the roadmap: its visits, then its steps, tasks and questions. */
  #translatePhase(entry: Entry, phase: string): readonly Translated[] {
    const summary = this.#history.phases.get(phase);
    switch (entry.event) {
      case "phase_started":
        return [{ event: "phase_started" }];
      case "phase_reopened":
        this.#completed.delete(phase);
        return [{ event: "phase_started", details: { visit: entry.visit, reason: entry.because } }];
      case "phase_skipped":
        return [
          {
            event: "phase_skipped",
            details: skippedDetails(phase, entry.because, this.#completedBefore),
          },
        ];
      case "phase_completed": {
        this.#completed.add(phase);
        const name = summary?.name === phase ? undefined : summary?.name; // recorded because an id may be given to another phase later
        const alignment_score = summary?.steps.get("judge")?.says["alignment_score"];

        return [
          {
            event: "phase_completed",
            details: dropUndefined({ name, reason: entry.because, alignment_score }),
          },
        ];
      }
      case "phase_failed":
      case "closing_failed": {
        this.#completed.delete(phase);
        const rootCause = findRootCause(summary?.visit ?? [], phase, this.#readClaim);
        return [
          {
            event: "phase_failed",
            details: failureDetails(entry.because ?? entry.reason_code, rootCause),
          },
        ];
      }
      case "step_completed":
      case "step_failed":
        return this.#translateStepEnd(entry, summary);
      default:
        return translateStep(entry, phase, summary);
    }
  }

  #translateStepEnd(
    entry: EntryOf<"step_completed" | "step_failed">,
    summary: PhaseSummary | undefined,
  ): readonly Translated[] {
    const parts = parseAttempt(entry.attempt);
    if (parts === null || taskOfCursor(parts.cursor) !== null) return [];
    const { step } = parts;
    const categories = findCategories(this.#readClaim, summary?.steps.get(step)?.claim ?? null);
    const reason =
      entry.event === "step_failed"
        ? dropUndefined({ reason: entry.reason_code, detail: entry.detail })
        : {};

    const details = {
      attempt: entry.attempt,
      ...reason,
      ...(categories.length === 0 ? {} : { failure_categories: categories }),
    };

    const isUndone = entry.event === "step_completed" && step === roadmapSteps.undo;
    return [
      { event: entry.event, details, step },
      ...(isUndone
        ? [{ event: "rollback_completed", details: { ...entry.facts }, step } as const]
        : []),
    ];
  }
}

type EntryOf<Name extends Entry["event"]> = Extract<Entry, { event: Name }>;

/** Events of a phase's steps, tasks and questions, except the ends of steps. */
function translateStep(
  entry: Entry,
  phase: string,
  summary: PhaseSummary | undefined,
): readonly Translated[] {
  switch (entry.event) {
    case "step_started": {
      if (taskOfCursor(entry.walk) !== null) return [];
      const started: Translated = {
        event: "step_started",
        details: { attempt: entry.attempt },
        step: entry.step,
      };
      return entry.step === roadmapSteps.undo
        ? [started, { event: "rollback_initiated", step: entry.step }]
        : [started];
    }
    case "task_completed":
    case "task_failed": {
      const task = taskOfCursor(entry.walk) ?? entry.walk;
      const reason =
        entry.event === "task_failed" ? { reason: entry.because ?? entry.reason_code } : {};

      const details = {
        task: `task_${task}`,
        commit: summary?.tasks.get(task)?.commit ?? null,
        ...reason,
      };

      return [{ event: entry.event, details, step: "execute" }];
    }
    case "step_retried": {
      const task = taskOfCursor(entry.walk);
      return task === null
        ? []
        : [
            {
              event: "task_retried",
              details: { task: `task_${task}`, retry: entry.n },
              step: "execute",
            },
          ];
    }
    case "route_taken":
      if (entry.count === "debug") {
        return [
          {
            event: "debug_attempt",
            details: { attempt: summary?.debugs ?? 1, from: entry.step },
            step: roadmapSteps.debug,
          },
        ];
      }
      if (entry.count !== "replan") return [];
      return [
        {
          event: "replan_attempt",
          details: { attempt: summary?.replans ?? 1, from: entry.step },
          ...(entry.to === undefined ? {} : { step: entry.to }),
        },
      ];
    case "block_opened": {
      const justification = summary?.justification ?? null;
      if (entry.step !== roadmapSteps.human || entry.house === true || justification === null) {
        return [];
      }

      const { auto_tasks_passed: autoPassed, auto_tasks_total: autoTotal } = justification;
      const warning = findUnnecessaryDeferral({ phase, autoPassed, autoTotal });
      if (warning === null) return [];

      return [
        {
          event: "unnecessary_deferral_warning",
          details: { ...justification, message: warning.message },
          step: entry.step,
        },
      ];
    }
    case "block_answered": {
      const verdict = summary?.verdict ?? null;
      if (verdict === null || verdict.timestamp !== entry.ts || verdict.verdict !== entry.answer) {
        return [];
      }

      const details = { verdict: verdict.verdict, issues: [...verdict.issues] };
      return [{ event: "human_verdict_recorded", details, step: roadmapSteps.human }];
    }
    default:
      return [];
  }
}

/**
 * The event for the completion report, from the facts of the step that wrote it; only with
 * --complete.
 */
function batchReportEvents(entry: Entry): readonly RoadmapEvent[] {
  if (entry.event !== "step_completed" || !isOutsideRoadmap(phaseOfEntry(entry) ?? "")) return [];
  const { report_path, completion_percentage } = entry.facts;
  if (typeof report_path !== "string" || typeof completion_percentage !== "number") return [];
  const counts = Object.fromEntries(
    batchCounts.map((name) => [name, countOrZero(entry.facts[name])]),
  );

  return [
    {
      timestamp: entry.ts,
      event: "batch_completion_report",
      details: { ...counts, completion_percentage, report_path },
    },
  ];
}

const batchCounts = [
  "phases_attempted",
  "phases_succeeded",
  "phases_failed",
  "phases_skipped",
] as const;
const countOrZero = (value: unknown): number =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : 0;

/** The step by its name in the pipeline; our own name, if it differs, goes into the details. G3 */
function stepFields(
  step: string | undefined,
  details: Details,
): { readonly step?: string; readonly details: Details } {
  if (step === undefined) return { details };
  const name = toPipelineName(step);
  return { step: name, details: name === step ? details : { ...details, step } };
}

/** Each step that ends is a transition: the files are generated from the journal at that point. */
function checkpointEvents(entry: Entry): readonly RoadmapEvent[] {
  if (entry.event !== "step_completed" && entry.event !== "step_failed") return [];
  const parts = parseAttempt(entry.attempt);
  if (parts === null || taskOfCursor(parts.cursor) !== null) return [];
  const { ts: timestamp, seq } = entry;
  const event = "checkpoint_written";
  const phase = phaseOfEntry(entry) ?? "";
  if (isOutsideRoadmap(phase)) {
    return [{ timestamp, event, details: { seq, step: parts.step, group: phase } }];
  } // G2

  return [{ timestamp, phase, ...stepFields(parts.step, { seq }), event }];
}

/** Whether a pause is a halt: the user's choice and a question to a person are not. */
export const isHaltReason = (reason: string): boolean =>
  !isReasonCode(reason) || reasons[reason].result === "FAIL";

/** The reason of the failure, and its root cause: the first fault that was never fixed. */
const failureDetails = (reason: string, rootCause: RootCause | null): Details => ({
  reason,
  category: rootCause?.category ?? "coordination_failure",
  ...dropUndefined({ description: rootCause?.description }),
});

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
    ...dropUndefined({ original_run_timestamp: completedAt, blocking_phase: blockingPhase }),
  };
}

/** The categories that a verifier or debugger put its failures into. */
function findCategories(readClaim: ReadClaim, hash: string | null): readonly string[] {
  if (hash === null) return [];
  return listOrEmpty(readField(readClaim(hash), "failure_categories"))
    .map((item) => (typeof item === "string" ? item : readField(item, "category")))
    .filter(isCategory);
}

const dropUndefined = (fields: Details): Details =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
