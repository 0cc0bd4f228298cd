// spans: builds a run's trace from its journal alone: the run, its phases, attempts, turns, checks
// and waits for people.
//
// Invariants:
//   S1. A span's key follows from the journal, so that sending a trace twice sends the same spans.
//   S2. Only what is over becomes a span, with the times of its journal lines. Attributes are ids,
//       names, codes and numbers; no prose of agents or of the repository is among them.

import type { Entry, EventOf } from "../../contracts/event.ts";
import type { CheckResult } from "../../contracts/evidence.ts";
import { phaseOfPath } from "../../insight/attempt-path.ts";
import { parseIsoTime } from "../../kit/iso-time.ts";
import { genAiAttributes, attributeNames, genAiProviders, spanNames } from "./otel-names.ts";

/** Of a span or of its resource, by the names of otel-names.ts. */
export type Attributes = Readonly<Record<string, string | number | boolean>>;
export type Span = {
  readonly key: string;
  readonly parent: string | null;
  readonly name: string;
  readonly kind: "internal" | "client";
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Attributes;
  /** The reason code of a failure. */
  readonly error: string | null;
};

export type SpanCollector = {
  /** Adds the next entry; returns the spans that it closes. */
  readonly add: (entry: Entry) => readonly Span[];
  /** The run's own span as far as it has come, for a run that is not over. */
  readonly unfinishedRun: () => Span | null;
};

type OpenStep = {
  readonly key: string;
  readonly attempt: string;
  readonly step: string;
  readonly kind: string;
  readonly try: number;
  readonly startMs: number;
};

/** What has begun and not ended, as far as the journal was read. */
type OpenTrace = {
  readonly isGenAi: boolean;
  run: { readonly drafted: EventOf<"run_drafted">; startMs: number; lastMs: number } | null;
  readonly phases: Map<
    string,
    { readonly key: string; readonly visit: number; readonly startMs: number }
  >;
  readonly steps: Map<string, OpenStep>;
  /** Waits for people, by block. */
  readonly waits: Map<string, { readonly startMs: number; readonly walk: string }>;
  /** Agents' sessions, by attempt. */
  readonly sessions: Map<string, string>;
};

export const runSpanKey = "run";
/** The key of a turn's span, passed to the agent as its parent. */
export const turnSpanKey = (attempt: string, tries: number): string => `turn:${attempt}:${tries}`;

export function openSpanCollector(isGenAi: boolean): SpanCollector {
  const trace: OpenTrace = {
    isGenAi,
    run: null,
    phases: new Map(),
    steps: new Map(),
    waits: new Map(),
    sessions: new Map(),
  };

  return {
    add: (entry) => {
      const atMs = parseIsoTime(entry.ts) ?? 0;
      const spans = addEntry(trace, entry, atMs);
      if (trace.run !== null) trace.run.lastMs = Math.max(trace.run.lastMs, atMs);

      return spans;
    },
    unfinishedRun: () => endRun(trace, trace.run?.lastMs ?? 0)[0] ?? null,
  };
}

function addEntry(trace: OpenTrace, entry: Entry, atMs: number): readonly Span[] {
  switch (entry.event) {
    case "run_drafted":
      trace.run = { drafted: entry, startMs: atMs, lastMs: atMs };
      return [];
    case "run_started":
      if (trace.run !== null) trace.run.startMs = atMs;
      return [];
    case "run_completed":
      return endRun(trace, atMs, {
        attributes: {
          [attributeNames.verdict]: entry.verdict,
          [attributeNames.reasonCode]: entry.reason_code,
        },
      });
    case "run_stopped":
      return endRun(trace, atMs, {
        attributes: { [attributeNames.reasonCode]: entry.reason_code },
        error: entry.reason_code,
      });
    case "phase_started":
    case "phase_reopened": {
      const visit = entry.event === "phase_reopened" ? entry.visit : 1;
      trace.phases.set(entry.walk, { key: `phase:${entry.walk}:${visit}`, visit, startMs: atMs });
      return [];
    }
    case "phase_completed":
    case "phase_skipped":
      return endPhase(trace, entry.walk, { endMs: atMs, error: null });
    case "phase_failed":
      return endPhase(trace, entry.walk, {
        endMs: atMs,
        error: entry.reason_code === "ok" ? "phase_failed" : entry.reason_code,
      });
    case "step_started":
      trace.steps.set(entry.attempt, {
        ...entry,
        key: `step:${entry.attempt}:${entry.try}`,
        startMs: atMs,
      });
      return [];
    case "session_opened":
      trace.sessions.set(entry.attempt, entry.session);
      return [];
    case "turn_ended":
      return endTurn(trace, entry, atMs);
    case "step_completed":
      return endStep(trace, entry.attempt, {
        endMs: atMs,
        error: null,
        checks: entry.checks,
        tree: entry.tree,
      });
    case "step_failed":
      return endStep(trace, entry.attempt, {
        endMs: atMs,
        error: entry.reason_code,
        checks: entry.checks,
      });
    case "step_interrupted":
      return endStep(trace, entry.attempt, { endMs: atMs, error: `interrupted_${entry.by}` });
    case "block_opened":
      trace.waits.set(entry.block, { startMs: atMs, walk: entry.walk });
      return [];
    case "block_answered":
      return endWait(trace, entry.block, atMs);
    default:
      return [];
  }
}

function endRun(
  { run, isGenAi }: OpenTrace,
  endMs: number,
  end: Partial<Pick<Span, "attributes" | "error">> = {},
): readonly Span[] {
  if (run === null) return [];
  const { flow, run_id } = run.drafted;
  const genAiFields = isGenAi
    ? { [genAiAttributes.operation]: "invoke_workflow", [genAiAttributes.workflow]: flow.flow }
    : {};

  return [
    closeSpan({
      key: runSpanKey,
      parent: null,
      name: spanNames.run(flow.flow, isGenAi),
      startMs: run.startMs,
      endMs,
      attributes: {
        ...genAiFields,
        [attributeNames.runId]: run_id,
        [attributeNames.flow]: flow.flow,
        ...end.attributes,
      },
      error: end.error ?? null,
    }),
  ];
}

function endPhase(
  { phases }: OpenTrace,
  id: string,
  { endMs, error }: Pick<Span, "endMs" | "error">,
): readonly Span[] {
  const phase = phases.get(id);
  phases.delete(id);
  if (phase === undefined) return [];
  const attributes = { [attributeNames.phase]: id, [attributeNames.visit]: phase.visit };

  return [
    closeSpan({
      key: phase.key,
      parent: runSpanKey,
      name: spanNames.phase,
      startMs: phase.startMs,
      endMs,
      attributes,
      error,
    }),
  ];
}

type StepEnd = Pick<Span, "endMs" | "error"> & {
  readonly checks?: readonly CheckResult[] | undefined;
  readonly tree?: string | undefined;
};

function endStep(
  trace: OpenTrace,
  attempt: string,
  { endMs, error, checks = [], tree }: StepEnd,
): readonly Span[] {
  const step = trace.steps.get(attempt);
  trace.steps.delete(attempt);
  if (step === undefined) return [];
  const passed = checks.filter(({ status }) => status === "passed").length;

  const attributes = {
    [attributeNames.attempt]: attempt,
    [attributeNames.walk]: phaseOfPath(attempt),
    [attributeNames.try]: step.try,
    [attributeNames.stepKind]: step.kind,
    ...(checks.length === 0
      ? {}
      : {
          [attributeNames.checksPassed]: passed,
          [attributeNames.checksFailed]: checks.length - passed,
        }),
    ...attributeIfSet(attributeNames.tree, tree),
  };

  const parent = parentKey(trace, attempt);
  return [
    ...checkSpans(step, checks, endMs),
    closeSpan({
      key: step.key,
      parent,
      name: spanNames.step(step.step),
      startMs: step.startMs,
      endMs,
      attributes,
      error,
    }),
  ];
}

/**
 * The journal has only the durations of checks: they are dated as if they ran one after the other,
 * the last ending with the step.
 */
function checkSpans(
  step: OpenStep,
  checks: readonly CheckResult[],
  endMs: number,
): readonly Span[] {
  const executed = checks.filter(({ cached }) => cached !== true);
  let leftMs = executed.reduce((sum, { duration_ms }) => sum + duration_ms, 0);
  return executed.map(({ check, status, exit_code, duration_ms, quarantined }, index) => {
    const startMs = Math.max(step.startMs, Math.round(endMs - leftMs));
    leftMs -= duration_ms;
    return closeSpan({
      key: `check:${step.key}:${index}`,
      parent: step.key,
      name: spanNames.check,
      startMs,
      endMs: startMs + Math.round(duration_ms),
      attributes: {
        [attributeNames.checkId]: check.id,
        [attributeNames.checkStatus]: status,
        ...attributeIfSet(attributeNames.exitCode, exit_code ?? undefined),
        ...attributeIfSet(attributeNames.quarantined, quarantined === undefined ? undefined : true),
      },
      error: status === "passed" ? null : status,
    });
  });
}

function endTurn(
  { steps, sessions, run, isGenAi }: OpenTrace,
  entry: EventOf<"turn_ended">,
  endMs: number,
): readonly Span[] {
  const step = steps.get(entry.attempt);
  if (step === undefined) return [];
  const { usage, agent } = entry;
  const model = Object.values(run?.drafted.cast ?? {}).find((cast) => cast.agent === agent)
    ?.override?.model;
  const counts: Partial<typeof usage> = usage.source === "estimated" ? {} : usage;

  const genAiFields = {
    [genAiAttributes.operation]: "invoke_agent",
    [genAiAttributes.agent]: agent,
    [genAiAttributes.provider]: genAiProviders[agent] ?? "_OTHER",
    ...attributeIfSet(genAiAttributes.model, model),
    ...attributeIfSet(genAiAttributes.conversation, sessions.get(entry.attempt)),
    ...attributeIfSet(genAiAttributes.input, counts.input),
    ...attributeIfSet(genAiAttributes.output, counts.output),
    ...attributeIfSet(genAiAttributes.cacheRead, counts.cached),
  };

  return [
    closeSpan({
      key: turnSpanKey(step.attempt, step.try),
      parent: step.key,
      name: spanNames.turn(agent, isGenAi),
      kind: "client",
      startMs: step.startMs,
      endMs,
      attributes: {
        ...(isGenAi ? genAiFields : {}),
        [attributeNames.agent]: agent,
        [attributeNames.usageSource]: usage.source,
        [attributeNames.tokens]: usage.tokens,
        ...attributeIfSet(attributeNames.costUsd, usage.usd),
      },
      error: null,
    }),
  ];
}

function endWait(trace: OpenTrace, block: string, endMs: number): readonly Span[] {
  const wait = trace.waits.get(block);
  trace.waits.delete(block);
  if (wait === undefined) return [];
  const { startMs, walk } = wait;
  const attributes = { [attributeNames.block]: block };
  const parent = parentKey(trace, walk);

  return [
    closeSpan({
      key: `wait:${block}:${startMs}`,
      parent,
      name: spanNames.wait,
      startMs,
      endMs,
      attributes,
      error: null,
    }),
  ];
}

/**
 * The key of the span that a path's span is below: for a task's attempt the attempt that runs the
 * tasks, for any other its phase.
 */
function parentKey({ steps, phases }: OpenTrace, path: string): string {
  const [nearest] = [...steps.values()]
    .filter(({ attempt }) => path.startsWith(`${attempt}/`))
    .toSorted((a, b) => b.attempt.length - a.attempt.length);
  return nearest?.key ?? phases.get(phaseOfPath(path))?.key ?? runSpanKey;
}

/** A wall clock may be set back: no span ends before it starts. */
const closeSpan = (span: Omit<Span, "kind"> & Partial<Pick<Span, "kind">>): Span => ({
  kind: "internal",
  ...span,
  endMs: Math.max(span.startMs, span.endMs),
});

const attributeIfSet = (name: string, value: string | number | boolean | undefined): Attributes =>
  value === undefined ? {} : { [name]: value };

/**
 * Every span of a journal. For a run that is not over, the run's own span ends with its last entry.
 */
export function collectSpans(entries: readonly Entry[], isGenAi: boolean): readonly Span[] {
  const collector = openSpanCollector(isGenAi);
  const spans = entries.flatMap((entry) => collector.add(entry));
  const runSpan = spans.some(({ key }) => key === runSpanKey) ? null : collector.unfinishedRun();

  return runSpan === null ? spans : [...spans, runSpan];
}
