// phase-trace: turns journal entries and live events into the trace spans of a phase: turns, tool
// calls, commands, commits, decisions.
//
// Invariants:
//   T1. A span comes from a frame the agent sent while it worked or from the runner's own record,
//       never from what an agent says it did.
//   T2. Every span is valid against its schema: known words, summaries of at most 200 characters.
//   T3. Spans of entries depend on the journal and its evidence alone. Spans of tool calls come
//       from live events, which are lost if the process ends early.

import type { Entry, EventOf } from "../contracts/event.ts";
import type { CheckResult, Evidence } from "../contracts/evidence.ts";
import { isReasonCode } from "../contracts/reason.ts";
import type { TraceSpan } from "../contracts/roadmap-reports.ts";
import type { LiveEvent } from "../contracts/live-event.ts";
import {
  parseAttempt,
  isOutsideRoadmap,
  phaseOfEntry,
  phaseOfPath,
  taskOfCursor,
} from "../insight/attempt-path.ts";
import { formatIsoTime, parseIsoTime } from "../kit/iso-time.ts";
import { describeAttempt, oneLine, plural } from "./wording.ts";

/** Returns a piece of evidence by the hash that the journal names; null if it is missing. */
export type FindEvidence = (hash: string) => Pick<Evidence, "at" | "output_excerpt"> | null;
export type ToolEvent = Extract<LiveEvent, { signal: "tool" }>;

export type PhaseTrace = {
  spansOfEntry(entry: Entry): readonly TraceSpan[];
  /** A tool call becomes a span when it ends; null until then. */
  spanOfToolEvent(signal: ToolEvent, at: string): TraceSpan | null;
};

const callsOpenMax = 2_000;
/** Further calls of an attempt are counted, and the count is in its last span. */
const callsPerAttemptMax = 2_000;
const summaryCharsMax = 200;

type Step = TraceSpan["step"];
type OpenAttempt = { readonly at: string; calls: number };

/** The trace format's name of each step. Whatever else a phase does counts as the runner's own. */
const traceSteps: Readonly<Record<string, Step>> = {
  research: "research",
  plan: "plan",
  plan_check: "plan_check",
  execute: "execute",
  checks: "verify",
  confirm: "verify",
  verify: "verify",
  judge_blind: "judge",
  judge: "judge",
  debug: "debug",
};

const toolStatuses: Readonly<Record<string, TraceSpan["status"]>> = {
  completed: "success",
  cancelled: "skipped",
};

export const openPhaseTrace = (findEvidence: FindEvidence = () => null): PhaseTrace =>
  new PhaseTraceBuilder(findEvidence);

class PhaseTraceBuilder implements PhaseTrace {
  readonly #findEvidence: FindEvidence;
  readonly #openAttempts = new Map<string, OpenAttempt>();
  /** When each open tool call began. */
  readonly #callStarts = new Map<string, string>();

  constructor(findEvidence: FindEvidence) {
    this.#findEvidence = findEvidence;
  }

  spansOfEntry(entry: Entry): readonly TraceSpan[] {
    const phase = phaseOfEntry(entry);
    if (phase === null || isOutsideRoadmap(phase)) return [];
    const decision = phaseDecision(entry);
    if (decision !== null) {
      return [
        buildSpan(
          { at: entry.ts, path: phase, step: "phase_runner", action: "decision" },
          decision,
        ),
      ];
    }

    switch (entry.event) {
      case "step_started":
        this.#openAttempts.set(entry.attempt, { at: entry.ts, calls: 0 });
        return [];
      case "step_skipped":
        return [
          buildSpan(
            { at: entry.ts, path: phase, step: toTraceStep(entry.step), action: "decision" },
            { input: entry.step, output: "skipped", status: "skipped" },
          ),
        ];
      case "turn_ended":
        return [turnSpan(entry, this.#startTime(entry.attempt, entry.ts))];
      case "changes_applied":
        return [
          buildSpan(attemptPlace(entry.attempt, entry.ts, "file_write"), {
            input: entry.paths.join(", "),
            output: `commit ${entry.commit.slice(0, 12)}, ${plural(entry.paths.length, "file")}`,
            status: "success",
          }),
        ];
      case "step_interrupted":
        return [interruptionSpan(entry, this.#startTime(entry.attempt, entry.ts))];
      case "step_completed":
      case "step_failed":
        return this.#stepEndSpans(entry);
      default:
        return [];
    }
  }

  #stepEndSpans(entry: EventOf<"step_completed" | "step_failed"> & Entry): readonly TraceSpan[] {
    const { attempt } = entry;
    const startedAt = this.#startTime(attempt, entry.ts);
    const droppedCalls = Math.max(
      0,
      (this.#openAttempts.get(attempt)?.calls ?? 0) - callsPerAttemptMax,
    );

    this.#openAttempts.delete(attempt);
    const isPassed = entry.event === "step_completed";
    const outcomeText = isPassed ? "passed" : `failed: ${entry.detail ?? entry.reason_code}`;
    const dropped =
      droppedCalls === 0 ? "" : `; ${plural(droppedCalls, "further tool call")} not kept`;

    return [
      ...listCommands(entry.checks ?? [], entry.ts, this.#findEvidence).map((command) =>
        buildSpan(attemptPlace(attempt, command.at, "command_run"), command),
      ),
      buildSpan(attemptPlace(attempt, startedAt, "decision"), {
        input: describeAttempt(attempt),
        output: `${outcomeText}${dropped}`,
        ms: msBetween(startedAt, entry.ts),
        status: isPassed ? "success" : "failure",
      }),
    ];
  }

  spanOfToolEvent(signal: ToolEvent, at: string): TraceSpan | null {
    if (isOutsideRoadmap(phaseOfPath(signal.attempt))) return null;
    const key = `${signal.attempt} ${signal.call ?? signal.title}`;
    const startedAt = this.#callStarts.get(key) ?? at;

    if (!endedStatuses.has(signal.status)) {
      if (!this.#callStarts.has(key) && this.#callStarts.size < callsOpenMax) {
        this.#callStarts.set(key, at);
      }

      return null;
    }

    this.#callStarts.delete(key);
    const attempt = this.#openAttempts.get(signal.attempt);
    if (attempt !== undefined && ++attempt.calls > callsPerAttemptMax) return null;
    const action = toTraceAction(signal.kind);
    const isFile = action === "file_read" || action === "file_write";

    return buildSpan(attemptPlace(signal.attempt, startedAt, action), {
      input: isFile && signal.path !== undefined ? signal.path : signal.title,
      output: signal.status,
      ms: msBetween(startedAt, at),
      status: toolStatuses[signal.status] ?? "failure",
    }); // T1
  }

  #startTime(attempt: string, ifUnknown: string): string {
    return this.#openAttempts.get(attempt)?.at ?? ifUnknown;
  }
}

/** Where a span belongs: when it began, its path in the run, its step and the kind of action. */
type SpanPlace = {
  readonly at: string;
  readonly path: string;
  readonly step: Step;
  readonly action: TraceSpan["action"];
};

const attemptPlace = (attempt: string, at: string, action: TraceSpan["action"]): SpanPlace => ({
  at,
  path: attempt,
  step: findTraceStep(attempt),
  action,
});

const buildSpan = (
  { at, path, step, action }: SpanPlace,
  { input, output, ms = 0, status }: SpanContent,
): TraceSpan => ({
  timestamp: at,
  phase_id: phaseOfPath(path),
  step,
  action,
  input_summary: toSummary(input),
  output_summary: toSummary(output), // T2
  duration_ms: Math.max(0, Math.round(ms)),
  status,
});

/**
 * What the runner or a person decided about the phase itself, if the entry records that; else null.
 */
function phaseDecision(entry: Entry): SpanContent | null {
  const decided = (
    input: string,
    output: string,
    status: TraceSpan["status"] = "success",
  ): SpanContent => ({ input, output, status });

  switch (entry.event) {
    case "phase_started":
      return decided("phase", "started");
    case "phase_reopened":
      return decided("phase", `started again: ${entry.because}`);
    case "phase_completed":
      return decided("gate", `completed${entry.because === undefined ? "" : `: ${entry.because}`}`);
    case "phase_failed":
    case "closing_failed":
      return decided("gate", `failed: ${entry.because ?? entry.reason_code}`, "failure");
    case "phase_skipped":
      return decided("gate", `skipped: ${entry.because}`, "skipped");
    case "route_taken":
      return decided(
        entry.step,
        `goes to ${entry.to}${entry.count === undefined ? "" : ` (counted as ${entry.count})`}`,
      );
    case "block_opened":
      return decided(entry.step, `asks a person: ${entry.question}`);
    case "block_answered":
      return decided("a person", `answers ${entry.answer}`);
    default:
      return null;
  }
}

const turnSpan = (entry: EventOf<"turn_ended"> & Entry, from: string): TraceSpan =>
  buildSpan(
    { at: from, path: entry.attempt, step: "phase_runner", action: "agent_spawn" },
    {
      input: `${entry.agent} for ${describeAttempt(entry.attempt)}`,
      output: `the turn ended with ${entry.stop}, ${plural(entry.usage.tokens, "token")} used`,
      ms: msBetween(from, entry.ts),
      status: isReasonCode(entry.stop) ? "failure" : "success", // a turn that failed has a reason code in place of the agent's word
    },
  );

const interruptionSpan = (entry: EventOf<"step_interrupted"> & Entry, from: string): TraceSpan =>
  buildSpan(attemptPlace(entry.attempt, from, "decision"), {
    input: describeAttempt(entry.attempt),
    output: `interrupted by ${entry.by}${entry.detail === undefined ? "" : `: ${entry.detail}`}`,
    ms: msBetween(from, entry.ts),
    status: "failure",
  });

type SpanContent = {
  readonly input: string;
  readonly output: string;
  readonly ms?: number;
  readonly status: TraceSpan["status"];
};

const endedStatuses: ReadonlySet<string> = new Set(["completed", "failed", "cancelled"]);
const traceActions: Readonly<Record<string, TraceSpan["action"]>> = {
  read: "file_read",
  edit: "file_write",
  delete: "file_write",
  move: "file_write",
  execute: "command_run",
};
const toTraceAction = (kind: string | undefined): TraceSpan["action"] =>
  kind !== undefined && Object.hasOwn(traceActions, kind)
    ? (traceActions[kind] ?? "tool_call")
    : "tool_call";

/**
 * The commands that ran, dated by their evidence; without it, as if they had run one after the
 * other until the step ended.
 */
function listCommands(
  results: readonly CheckResult[],
  endedAt: string,
  findEvidence: FindEvidence,
): readonly (SpanContent & { readonly at: string })[] {
  const endMs = parseIsoTime(endedAt) ?? 0;
  const executed = results.filter(({ cached }) => cached !== true);
  let leftMs = executed.reduce((sum, { duration_ms }) => sum + duration_ms, 0);

  return executed.map(({ check, status, exit_code, duration_ms, evidence }) => {
    const record = findEvidence(evidence);
    const at =
      record !== null && parseIsoTime(record.at) !== null
        ? record.at
        : formatIsoTime(Math.max(0, endMs - Math.round(leftMs)));

    leftMs -= duration_ms;
    const lastLine =
      status === "passed" ? "" : (record?.output_excerpt.trimEnd().split("\n").at(-1) ?? "");
    const exit = exit_code === null ? "" : ` (exit ${exit_code})`;

    return {
      at,
      input: check.command,
      output: `${status}${exit}${lastLine === "" ? "" : `: ${lastLine}`}`,
      ms: duration_ms,
      status: status === "passed" ? "success" : "failure",
    };
  });
}

/**
 * The step of the trace format that an attempt belongs to; an attempt of a task belongs to the step
 * that has the tasks.
 */
export function findTraceStep(attempt: string): Step {
  const parts = parseAttempt(attempt);
  if (parts === null) return "phase_runner";
  if (taskOfCursor(parts.cursor) === null) return toTraceStep(parts.step);

  // `1@1/execute#1/03-01`: the task 03-01 of the step `execute`
  return toTraceStep(/\/([^/#]+)#\d+\/[^/]+$/.exec(parts.cursor)?.[1] ?? parts.step);
}

const toTraceStep = (step: string): Step =>
  Object.hasOwn(traceSteps, step) ? (traceSteps[step] ?? "phase_runner") : "phase_runner";

const msBetween = (from: string, to: string): number =>
  (parseIsoTime(to) ?? 0) - (parseIsoTime(from) ?? 0);

/**
 * At most 200 UTF-16 code units, which is what JSON Schema validators count; a character of two
 * units is not cut in half.
 */
const toSummary = (text: string): string => {
  const line = oneLine(text, summaryCharsMax);
  return line.length <= summaryCharsMax
    ? line
    : line.slice(0, summaryCharsMax).replace(/[\uD800-\uDBFF]$/, "");
};
