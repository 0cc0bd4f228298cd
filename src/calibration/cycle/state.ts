// state: folds a cycle's log into its state: which runs are done, whether the lever is applied, how
// it ended.
//
// Invariants:
//   C1. A run that has its `benchmark_end` is never run again.
//   C2. Fields that are not ours are left alone: a log of another tool folds as far as it goes.

import * as v from "valibot";
import {
  type CalibrationCycleEvent,
  CalibrationCycleEvent as CycleEvent,
  type CycleEventOf,
  type leverStates,
} from "../../contracts/quality/quality-run.ts";
import type { BugMatch } from "./bugs.ts";
import { CyclePlan } from "./plan.ts";

export type LeverState = (typeof leverStates)[number];
export type RunKey = {
  readonly benchmark: string;
  readonly lever_state: LeverState;
  readonly repeat: number;
};
export const runKeyText = ({ benchmark, lever_state, repeat }: RunKey): string =>
  `${benchmark}/${lever_state}/${repeat}`;

export type BenchmarkRun = RunKey & {
  status: "started" | "ended" | "given_up";
  /** How often it hung or died and was started again. */
  restarts: number;
  recall: number | null;
  metric: number | null;
  matches: readonly BugMatch[];
  /** Why it was given up. */
  because: string | null;
  startedAt: string;
  endedAt: string | null;
  /** From the run's own journals; null if they don't tell. */
  spent: BenchmarkSpending | null;
};
export type BenchmarkSpending = { readonly tokens: number; readonly usd: number };

export type Cycle = {
  name: string;
  lever: string;
  iteration: number;
  benchmarks: readonly string[];
  hypothesis: string;
  noiseFloor: number;
  startedAt: string;
  plan: CyclePlan | null;
  /** Benchmarks that never run, with the reason. */
  excluded: Map<string, string>;
  runs: Map<string, BenchmarkRun>;
  applied: {
    readonly commit: string;
    readonly files: readonly string[];
    readonly description: string;
  } | null;
  reverted: { readonly commit: string | null } | null;
  /** The error that stopped the cycle; cleared by the next step. */
  stopped: string | null;
  errors: { readonly ts: string; readonly message: string; readonly recoverable: boolean }[];
  end: CycleEventOf<"cycle_end"> | null;
  lastEvent: string;
  lastAt: string;
};

export const ErrorDetail = v.looseObject({
  benchmark: v.optional(v.string()),
  lever_state: v.optional(v.picklist(["pre-lever", "post-lever"])),
  repeat: v.optional(v.number()),
  kind: v.optional(v.string()),
});

const Matches = v.array(
  v.object({
    baseline: v.string(),
    found: v.string(),
    by: v.picklist(["id", "place", "title"]),
    detail: v.string(),
  }),
);

export function newCycle(): Cycle {
  return {
    name: "",
    lever: "",
    iteration: 1,
    benchmarks: [],
    hypothesis: "",
    noiseFloor: 0.05,
    startedAt: "",
    plan: null,
    excluded: new Map(),
    runs: new Map(),
    applied: null,
    reverted: null,
    stopped: null,
    errors: [],
    end: null,
    lastEvent: "",
    lastAt: "",
  };
}

/** Folds one line into the cycle; returns why it isn't an event of a cycle, or null. */
export function foldLine(cycle: Cycle, line: string): string | null {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return "is not JSON";
  }

  const parsed = v.safeParse(CycleEvent, value);
  if (!parsed.success) return `is no event of a calibration cycle: ${parsed.issues[0].message}`;
  fold(cycle, parsed.output);

  return null;
}

export function fold(cycle: Cycle, event: CalibrationCycleEvent): void {
  cycle.lastEvent = event.event;
  cycle.lastAt = event.ts;
  if (event.event !== "error") cycle.stopped = null;
  switch (event.event) {
    case "_index":
      cycle.name = event.cycle_name;
      cycle.lever = event.lever_under_test;
      cycle.benchmarks = event.benchmarks;
      cycle.iteration = event.iteration;
      return;
    case "cycle_start": {
      cycle.startedAt = event.ts;
      cycle.hypothesis = event.hypothesis;
      cycle.noiseFloor = event.noise_floor_threshold;
      const plan = v.safeParse(CyclePlan, (event as Record<string, unknown>)["plan"]); // C2
      cycle.plan = plan.success ? plan.output : null;

      return;
    }
    case "benchmark_start":
      return startRun(cycle, event);
    case "benchmark_end":
      return endRun(cycle, event);
    case "lever_change_applied":
      cycle.applied = {
        commit: event.commit_sha,
        files: event.files_changed,
        description: event.description,
      };
      return;
    case "lever_change_reverted":
      cycle.reverted = { commit: event.commit_sha ?? null };
      return;
    case "cycle_end":
      cycle.end = event;
      return;
    case "error":
      foldError(cycle, event);
  }
}

function startRun(cycle: Cycle, event: CycleEventOf<"benchmark_start">): void {
  const key = runKey(event);
  if (cycle.runs.get(runKeyText(key))?.status === "ended") return; // C1
  cycle.runs.set(runKeyText(key), {
    ...key,
    status: "started",
    restarts: 0,
    recall: null,
    metric: null,
    matches: [],
    because: null,
    startedAt: event.ts,
    endedAt: null,
    spent: null,
  });
}

function endRun(cycle: Cycle, event: CycleEventOf<"benchmark_end">): void {
  const key = runKey(event);
  const fields = event as Record<string, unknown>;
  const matches = v.safeParse(Matches, fields["matches"]);
  const startedRun = cycle.runs.get(runKeyText(key));
  cycle.runs.set(runKeyText(key), {
    ...key,
    status: "ended",
    restarts: startedRun?.restarts ?? 0,
    recall: event.recall,
    metric: typeof fields["metric_value"] === "number" ? fields["metric_value"] : null,
    matches: matches.success ? matches.output : [],
    because: null,
    startedAt: startedRun?.startedAt ?? event.ts,
    endedAt: event.ts,
    spent: parseSpending(fields),
  });
}

/** An error stops the cycle, or says what became of one benchmark or run. */
function foldError(cycle: Cycle, event: CycleEventOf<"error">): void {
  cycle.errors.push({ ts: event.ts, message: event.message, recoverable: event.recoverable });
  if (!event.recoverable) cycle.stopped = event.message;
  const detail = v.safeParse(ErrorDetail, event);
  if (!detail.success || detail.output.benchmark === undefined) return;
  const { benchmark, lever_state, repeat = 1, kind } = detail.output;
  if (kind === "excluded") cycle.excluded.set(benchmark, event.message);
  const run =
    lever_state === undefined
      ? undefined
      : cycle.runs.get(runKeyText({ benchmark, lever_state, repeat }));
  if (run === undefined || run.status === "ended") return;
  if (kind === "hung") run.restarts += 1; // also of one that died
  if (kind === "given_up") {
    Object.assign(run, {
      status: "given_up",
      because: event.message,
      endedAt: event.ts,
      spent: parseSpending(event as Record<string, unknown>),
    });
  }
}

const SpentField = v.object({
  tokens: v.pipe(v.number(), v.minValue(0)),
  usd: v.pipe(v.number(), v.minValue(0)),
});
const parseSpending = (event: Readonly<Record<string, unknown>>): BenchmarkSpending | null => {
  const parsed = v.safeParse(SpentField, event["spent"]);
  return parsed.success ? parsed.output : null;
};

/** A log of another tool has no `repeat`. */
const runKey = (event: CycleEventOf<"benchmark_start"> | CycleEventOf<"benchmark_end">): RunKey => {
  const repeat = (event as Record<string, unknown>)["repeat"];
  return {
    benchmark: event.benchmark,
    lever_state: event.lever_state,
    repeat: typeof repeat === "number" ? repeat : 1,
  };
};
