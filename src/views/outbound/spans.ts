// spans: a run's trace, from its journal alone: the run, its phases, attempts, turns, checks and waits for people.
//
// Invariants:
//   S1. A span's key follows from the journal, so that sending a trace twice sends the same spans.
//   S2. Only what is over is reported, with the times of its lines; text of agents and of the repository isn't an attribute.

import type { Entry, EventOf } from "../../contracts/event.ts";
import type { CheckResult } from "../../contracts/evidence.ts";
import { phaseOfPath } from "../../insight/places.ts";
import { parseIsoTime } from "../../kit/iso-time.ts";
import { genAi, names, providers, spanNames } from "./otel-names.ts";

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

export type SpanBook = {
  /** Spans that the entry closes. */
  readonly take: (entry: Entry) => readonly Span[];
  /** The run as far as it has come, if it is not over. */
  readonly root: () => Span | null;
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
  readonly phases: Map<string, { readonly key: string; readonly visit: number; readonly startMs: number }>;
  readonly steps: Map<string, OpenStep>;
  /** Waits for people, by block. */
  readonly waits: Map<string, { readonly startMs: number; readonly walk: string }>;
  /** Agents' sessions, by attempt. */
  readonly sessions: Map<string, string>;
};

export const runKey = "run";
/** The key of a turn's span, passed to the agent as its parent. */
export const turnKey = (attempt: string, tries: number): string => `turn:${attempt}:${tries}`;

export function openSpans(isGenAi: boolean): SpanBook {
  const trace: OpenTrace = { isGenAi, run: null, phases: new Map(), steps: new Map(), waits: new Map(), sessions: new Map() };
  return {
    take: (entry) => {
      const atMs = parseIsoTime(entry.ts) ?? 0;
      const spans = takeEntry(trace, entry, atMs);
      if (trace.run !== null) trace.run.lastMs = Math.max(trace.run.lastMs, atMs);
      return spans;
    },
    root: () => endRun(trace, trace.run?.lastMs ?? 0)[0] ?? null,
  };
}

function takeEntry(trace: OpenTrace, entry: Entry, atMs: number): readonly Span[] {
  switch (entry.event) {
    case "run_drafted":
      trace.run = { drafted: entry, startMs: atMs, lastMs: atMs };
      return [];
    case "run_started":
      if (trace.run !== null) trace.run.startMs = atMs;
      return [];
    case "run_completed":
      return endRun(trace, atMs, { attributes: { [names.verdict]: entry.verdict, [names.reasonCode]: entry.reason_code } });
    case "run_stopped":
      return endRun(trace, atMs, { attributes: { [names.reasonCode]: entry.reason_code }, error: entry.reason_code });
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
      return endPhase(trace, entry.walk, { endMs: atMs, error: entry.reason_code === "ok" ? "phase_failed" : entry.reason_code });
    case "step_started":
      trace.steps.set(entry.attempt, { ...entry, key: `step:${entry.attempt}:${entry.try}`, startMs: atMs });
      return [];
    case "session_opened":
      trace.sessions.set(entry.attempt, entry.session);
      return [];
    case "turn_ended":
      return endTurn(trace, entry, atMs);
    case "step_completed":
      return endStep(trace, entry.attempt, { endMs: atMs, error: null, checks: entry.checks, tree: entry.tree });
    case "step_failed":
      return endStep(trace, entry.attempt, { endMs: atMs, error: entry.reason_code, checks: entry.checks });
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

function endRun({ run, isGenAi }: OpenTrace, endMs: number, end: Partial<Pick<Span, "attributes" | "error">> = {}): readonly Span[] {
  if (run === null) return [];
  const { flow, run_id } = run.drafted;
  const conventional = isGenAi ? { [genAi.operation]: "invoke_workflow", [genAi.workflow]: flow.flow } : {};
  return [
    closeSpan({
      key: runKey,
      parent: null,
      name: spanNames.run(flow.flow, isGenAi),
      startMs: run.startMs,
      endMs,
      attributes: { ...conventional, [names.runId]: run_id, [names.flow]: flow.flow, ...end.attributes },
      error: end.error ?? null,
    }),
  ];
}

function endPhase({ phases }: OpenTrace, id: string, { endMs, error }: Pick<Span, "endMs" | "error">): readonly Span[] {
  const phase = phases.get(id);
  phases.delete(id);
  if (phase === undefined) return [];
  const attributes = { [names.phase]: id, [names.visit]: phase.visit };
  return [closeSpan({ key: phase.key, parent: runKey, name: spanNames.phase, startMs: phase.startMs, endMs, attributes, error })];
}

type StepEnd = Pick<Span, "endMs" | "error"> & {
  readonly checks?: readonly CheckResult[] | undefined;
  readonly tree?: string | undefined;
};

function endStep(trace: OpenTrace, attempt: string, { endMs, error, checks = [], tree }: StepEnd): readonly Span[] {
  const step = trace.steps.get(attempt);
  trace.steps.delete(attempt);
  if (step === undefined) return [];
  const passed = checks.filter(({ status }) => status === "passed").length;
  const attributes = {
    [names.attempt]: attempt,
    [names.walk]: phaseOfPath(attempt),
    [names.try]: step.try,
    [names.stepKind]: step.kind,
    ...(checks.length === 0 ? {} : { [names.checksPassed]: passed, [names.checksFailed]: checks.length - passed }),
    ...optional(names.tree, tree),
  };
  const parent = parentKey(trace, attempt);
  return [
    ...checkSpans(step, checks, endMs),
    closeSpan({ key: step.key, parent, name: spanNames.step(step.step), startMs: step.startMs, endMs, attributes, error }),
  ];
}

/** One after the other, the last of them ending with the step. */
function checkSpans(step: OpenStep, checks: readonly CheckResult[], endMs: number): readonly Span[] {
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
        [names.checkId]: check.id,
        [names.checkStatus]: status,
        ...optional(names.exitCode, exit_code ?? undefined),
        ...optional(names.quarantined, quarantined === undefined ? undefined : true),
      },
      error: status === "passed" ? null : status,
    });
  });
}

function endTurn({ steps, sessions, run, isGenAi }: OpenTrace, entry: EventOf<"turn_ended">, endMs: number): readonly Span[] {
  const step = steps.get(entry.attempt);
  if (step === undefined) return [];
  const { usage, agent } = entry;
  const model = Object.values(run?.drafted.cast ?? {}).find((cast) => cast.agent === agent)?.override?.model;
  const counts: Partial<typeof usage> = usage.source === "estimated" ? {} : usage;
  const conventional = {
    [genAi.operation]: "invoke_agent",
    [genAi.agent]: agent,
    [genAi.provider]: providers[agent] ?? "_OTHER",
    ...optional(genAi.model, model),
    ...optional(genAi.conversation, sessions.get(entry.attempt)),
    ...optional(genAi.input, counts.input),
    ...optional(genAi.output, counts.output),
    ...optional(genAi.cacheRead, counts.cached),
  };
  return [
    closeSpan({
      key: turnKey(step.attempt, step.try),
      parent: step.key,
      name: spanNames.turn(agent, isGenAi),
      kind: "client",
      startMs: step.startMs,
      endMs,
      attributes: {
        ...(isGenAi ? conventional : {}),
        [names.agent]: agent,
        [names.usageSource]: usage.source,
        [names.tokens]: usage.tokens,
        ...optional(names.costUsd, usage.usd),
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
  const attributes = { [names.block]: block };
  const parent = parentKey(trace, walk);
  return [closeSpan({ key: `wait:${block}:${startMs}`, parent, name: spanNames.wait, startMs, endMs, attributes, error: null })];
}

/** The key of the span above a path: a task's attempts are below the attempt that runs the tasks, other ones below their phase. */
function parentKey({ steps, phases }: OpenTrace, path: string): string {
  const [nearest] = [...steps.values()]
    .filter(({ attempt }) => path.startsWith(`${attempt}/`))
    .toSorted((a, b) => b.attempt.length - a.attempt.length);
  return nearest?.key ?? phases.get(phaseOfPath(path))?.key ?? runKey;
}

/** A wall clock may be set back: no span ends before it starts. */
const closeSpan = (span: Omit<Span, "kind"> & Partial<Pick<Span, "kind">>): Span => ({
  kind: "internal",
  ...span,
  endMs: Math.max(span.startMs, span.endMs),
});

const optional = (name: string, value: string | number | boolean | undefined): Attributes => (value === undefined ? {} : { [name]: value });

/** Every span of a journal; of a run that is not over also the run itself, as far as it has come. */
export function entrySpans(entries: readonly Entry[], isGenAi: boolean): readonly Span[] {
  const book = openSpans(isGenAi);
  const spans = entries.flatMap((entry) => book.take(entry));
  const root = spans.some(({ key }) => key === runKey) ? null : book.root();
  return root === null ? spans : [...spans, root];
}
