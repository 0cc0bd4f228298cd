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

type Step = {
  readonly key: string;
  readonly attempt: string;
  readonly step: string;
  readonly kind: string;
  readonly try: number;
  readonly startMs: number;
};
type Wait = { readonly startMs: number; readonly walk: string };

export const runKey = "run";
/** The key of a turn's span, passed to the agent as its parent. */
export const turnKey = (attempt: string, tries: number): string => `turn:${attempt}:${tries}`;

export function openSpans(isGenAi: boolean): SpanBook {
  let run: { readonly drafted: EventOf<"run_drafted">; startMs: number; lastMs: number } | null = null;
  const phases = new Map<string, { readonly key: string; readonly visit: number; readonly startMs: number }>();
  const steps = new Map<string, Step>();
  const waits = new Map<string, Wait>();
  const sessions = new Map<string, string>();

  const span = (
    key: string,
    parent: string | null,
    name: string,
    startMs: number,
    endMs: number,
    attributes: Attributes,
    more: Partial<Span> = {},
  ): Span => ({
    key,
    parent,
    name,
    kind: "internal",
    startMs,
    endMs: Math.max(startMs, endMs), // a wall clock may be set back
    attributes,
    error: null,
    ...more,
  });
  const rootSpan = (endMs: number, ended: Attributes, error: string | null): readonly Span[] => {
    if (run === null) return [];
    const { flow, run_id } = run.drafted;
    const conventional = isGenAi ? { [genAi.operation]: "invoke_workflow", [genAi.workflow]: flow.flow } : {};
    return [
      span(
        runKey,
        null,
        spanNames.run(flow.flow, isGenAi),
        run.startMs,
        endMs,
        { ...conventional, [names.runId]: run_id, [names.flow]: flow.flow, ...ended },
        { error },
      ),
    ];
  };
  const parentOfPath = (path: string): string => {
    // A task's attempts are below the attempt that cursors the tasks.
    const above = [...steps.values()]
      .filter(({ attempt }) => path.startsWith(`${attempt}/`))
      .toSorted((a, b) => b.attempt.length - a.attempt.length)[0];
    return above?.key ?? phases.get(phaseOfPath(path))?.key ?? runKey;
  };
  const phaseEnd = (cursorPath: string, endMs: number, error: string | null): readonly Span[] => {
    const open = phases.get(cursorPath);
    phases.delete(cursorPath);
    return open === undefined
      ? []
      : [span(open.key, runKey, spanNames.phase, open.startMs, endMs, { [names.phase]: cursorPath, [names.visit]: open.visit }, { error })];
  };
  const stepEnd = (
    attempt: string,
    endMs: number,
    error: string | null,
    checks: readonly CheckResult[],
    more: Attributes = {},
  ): readonly Span[] => {
    const openStep = steps.get(attempt);
    steps.delete(attempt);
    if (openStep === undefined) return [];
    const passed = checks.filter(({ status }) => status === "passed").length;
    const checkCounts = checks.length === 0 ? {} : { [names.checksPassed]: passed, [names.checksFailed]: checks.length - passed };
    const attributes = {
      [names.attempt]: attempt,
      [names.walk]: phaseOfPath(attempt),
      [names.try]: openStep.try,
      [names.stepKind]: openStep.kind,
    };
    return [
      ...checkSpans(openStep, checks, endMs),
      span(
        openStep.key,
        parentOfPath(attempt),
        spanNames.step(openStep.step),
        openStep.startMs,
        endMs,
        { ...attributes, ...checkCounts, ...more },
        { error },
      ),
    ];
  };
  const turnEnd = (entry: EventOf<"turn_ended">, endMs: number): readonly Span[] => {
    const openStep = steps.get(entry.attempt);
    if (openStep === undefined) return [];
    const { usage, agent } = entry;
    const session = sessions.get(entry.attempt);
    const model = Object.values(run?.drafted.cast ?? {}).find((cast) => cast.agent === agent)?.override?.model;
    const tokenCounts =
      usage.source === "estimated"
        ? {}
        : { ...amount(genAi.input, usage.input), ...amount(genAi.output, usage.output), ...amount(genAi.cacheRead, usage.cached) };
    const conventional = {
      [genAi.operation]: "invoke_agent",
      [genAi.agent]: agent,
      [genAi.provider]: providers[agent] ?? "_OTHER",
      ...(model === undefined ? {} : { [genAi.model]: model }),
      ...(session === undefined ? {} : { [genAi.conversation]: session }),
      ...tokenCounts,
    };
    const ownAttributes = {
      [names.agent]: agent,
      [names.usageSource]: usage.source,
      [names.tokens]: usage.tokens,
      ...amount(names.costUsd, usage.usd),
    };
    return [
      span(
        turnKey(openStep.attempt, openStep.try),
        openStep.key,
        spanNames.turn(agent, isGenAi),
        openStep.startMs,
        endMs,
        { ...(isGenAi ? conventional : {}), ...ownAttributes },
        { kind: "client" },
      ),
    ];
  };

  const takeEntry = (entry: Entry, at: number): readonly Span[] => {
    switch (entry.event) {
      case "run_drafted":
        run = { drafted: entry, startMs: at, lastMs: at };
        return [];
      case "run_started":
        if (run !== null) run.startMs = at;
        return [];
      case "run_completed":
        return rootSpan(at, { [names.verdict]: entry.verdict, [names.reasonCode]: entry.reason_code }, null);
      case "run_stopped":
        return rootSpan(at, { [names.reasonCode]: entry.reason_code }, entry.reason_code);
      case "phase_started":
      case "phase_reopened": {
        const visit = entry.event === "phase_reopened" ? entry.visit : 1;
        phases.set(entry.walk, { key: `phase:${entry.walk}:${visit}`, visit, startMs: at });
        return [];
      }
      case "phase_completed":
      case "phase_skipped":
        return phaseEnd(entry.walk, at, null);
      case "phase_failed":
        return phaseEnd(entry.walk, at, entry.reason_code === "ok" ? "phase_failed" : entry.reason_code);
      case "step_started":
        steps.set(entry.attempt, { ...entry, key: `step:${entry.attempt}:${entry.try}`, startMs: at });
        return [];
      case "session_opened":
        sessions.set(entry.attempt, entry.session);
        return [];
      case "turn_ended":
        return turnEnd(entry, at);
      case "step_completed":
        return stepEnd(entry.attempt, at, null, entry.checks ?? [], entry.tree === undefined ? {} : { [names.tree]: entry.tree });
      case "step_failed":
        return stepEnd(entry.attempt, at, entry.reason_code, entry.checks ?? []);
      case "step_interrupted":
        return stepEnd(entry.attempt, at, `interrupted_${entry.by}`, []);
      case "block_opened":
        waits.set(entry.block, { startMs: at, walk: entry.walk });
        return [];
      case "block_answered": {
        const wait = waits.get(entry.block);
        waits.delete(entry.block);
        if (wait === undefined) return [];
        return [
          span(`wait:${entry.block}:${wait.startMs}`, parentOfPath(wait.walk), spanNames.wait, wait.startMs, at, {
            [names.block]: entry.block,
          }),
        ];
      }
      default:
        return [];
    }
  };

  /** One after the other, the last of them ending with the step. */
  const checkSpans = (openStep: Step, checks: readonly CheckResult[], endMs: number): readonly Span[] => {
    const ran = checks.filter(({ cached }) => cached !== true);
    let leftMs = ran.reduce((sum, { duration_ms }) => sum + duration_ms, 0);
    return ran.map(({ check, status, exit_code, duration_ms, quarantined }, index) => {
      const startMs = Math.max(openStep.startMs, Math.round(endMs - leftMs));
      leftMs -= duration_ms;
      const attributes = {
        [names.checkId]: check.id,
        [names.checkStatus]: status,
        ...amount(names.exitCode, exit_code ?? undefined),
        ...(quarantined === undefined ? {} : { [names.quarantined]: true }),
      };
      return span(`check:${openStep.key}:${index}`, openStep.key, spanNames.check, startMs, startMs + Math.round(duration_ms), attributes, {
        error: status === "passed" ? null : status,
      });
    });
  };

  return {
    take: (entry) => {
      const position = parseIsoTime(entry.ts) ?? 0;
      const spans = takeEntry(entry, position);
      if (run !== null) run.lastMs = Math.max(run.lastMs, position);
      return spans;
    },
    root: () => rootSpan(run?.lastMs ?? 0, {}, null)[0] ?? null,
  };
}

const amount = (name: string, value: number | undefined): Attributes => (value === undefined ? {} : { [name]: value });

/** Every span of a journal; of a run that is not over also the run itself, as far as it has come. */
export function entrySpans(entries: readonly Entry[], isGenAi: boolean): readonly Span[] {
  const book = openSpans(isGenAi);
  const spans = entries.flatMap((entry) => book.take(entry));
  const root = spans.some(({ key }) => key === runKey) ? null : book.root();
  return root === null ? spans : [...spans, root];
}
