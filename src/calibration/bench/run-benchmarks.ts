// run-benchmarks: runs a cycle's benchmarks side by side, each until it is measured, has failed, or
// was started again too often; the log has every start and every result.
// Invariants R1 and on: calibration/bench/drive.ts.

import { type CyclePlan, restartsMax } from "../cycle/plan.ts";
import { runKeyText, type RunKey } from "../cycle/state.ts";
import {
  type BenchmarkContext,
  type BenchmarkOutcome,
  dropCopies,
  readRunState,
  runBenchmark,
  runFolder,
} from "./benchmark.ts";
import type { CycleLog } from "./log-file.ts";
import type { DrivenCycle } from "./open-cycle.ts";
import { readKeptBaseline } from "./preflight.ts";
import { readSpending } from "./spent.ts";

type Run = Pick<DrivenCycle, "log" | "context"> & {
  readonly plan: CyclePlan;
  readonly key: RunKey;
  /** The run in words: `parser, post-lever, run 2 of 3`. */
  readonly text: string;
  readonly folder: string;
};

type Measured = Extract<BenchmarkOutcome, { readonly kind: "measured" }>;

/** Runs benchmarks, as many at once as there are jobs. */
export async function runBenchmarks(
  input: DrivenCycle,
  plan: CyclePlan,
  keys: readonly RunKey[],
  commit: string,
): Promise<void> {
  const waitingKeys = keys.values(); // shared: each worker takes the next
  const worker = async (): Promise<void> => {
    for (const key of waitingKeys) {
      if (input.context.interrupted.aborted) return;
      await runOne(input, plan, key, commit);
    }
  };

  const workerCount = Math.max(1, Math.min(input.jobs, keys.length));
  await Promise.all(Array.from({ length: workerCount }, worker));
}

/** Runs one benchmark until it is measured, has failed, or was started again too often. */
async function runOne(
  input: DrivenCycle,
  plan: CyclePlan,
  key: RunKey,
  commit: string,
): Promise<void> {
  const run = describeRun(input, plan, key);
  const benchmarkContext = createBenchmarkContext(input, plan);
  let isFresh = beginRun(run);

  for (;;) {
    const outcome = await runBenchmark(benchmarkContext, { key, commit, isFresh });
    if (outcome.kind === "interrupted") return;
    if (outcome.kind === "measured") return recordMeasured(run, outcome);
    if (outcome.kind === "failed") return recordFailed(run, outcome.why);

    const hangSeconds = Math.round(plan.hang_ms / 1000);
    const why =
      outcome.kind === "hung"
        ? `gave no sign of life for ${hangSeconds} s and was ended`
        : "was killed from outside, or could not start";

    const restarts = run.log.cycle.runs.get(runKeyText(key))?.restarts ?? 0;
    if (restarts >= restartsMax) return recordFailed(run, `${why}, ${restartsMax + 1} times`);

    recordRestart(run, why);
    isFresh = true;
  }
}

function describeRun({ context, log, folder }: DrivenCycle, plan: CyclePlan, key: RunKey): Run {
  const { benchmark, lever_state, repeat } = key;
  const repeatText = plan.repeat > 1 ? `, run ${repeat} of ${plan.repeat}` : "";

  return {
    context,
    log,
    plan,
    key,
    text: `${benchmark}, ${lever_state}${repeatText}`,
    folder: runFolder(folder, key),
  };
}

function createBenchmarkContext(
  { context, log, trees, folder, redact }: DrivenCycle,
  plan: CyclePlan,
): BenchmarkContext {
  return {
    trees,
    plan,
    folder,
    cycle: log.cycle.name,
    env: context.env,
    interrupted: context.interrupted,
    redact,
    baselineOf: (name) => readKeptBaseline(folder, name),
  };
}

/**
 * Records that a run begins, or looks what a crash left of it. True if the run must start afresh.
 */
function beginRun({ context, log, key, text, folder }: Run): boolean {
  const isNew = log.cycle.runs.get(runKeyText(key))?.status !== "started";
  if (isNew) {
    log.append({ event: "benchmark_start", ...key }); // R1
    context.show(`${text}: started`);
    return true;
  }

  const state = readRunState(folder); // R2
  if (state === "gone") {
    const message = `${text}: was interrupted; it is cleaned and started again`;
    logRunError(log, message, { ...key, kind: "interrupted" });
    return true;
  }

  const stateText = state === "ended" ? "had ended, its result is taken" : "is still at work";
  context.show(`${text}: ${stateText}`);
  return false;
}

function recordRestart({ context, log, key, text }: Run, why: string): void {
  const message = `${text}: ${why}; it is cleaned and started again`;
  logRunError(log, message, { ...key, kind: "hung" });
  context.show(`! ${text}: ${why}; started again`);
}

function recordFailed({ context, log, key, text, folder }: Run, why: string): void {
  logRunError(log, `${text}: ${why}; it is n/a`, {
    ...key,
    kind: "given_up",
    ...readSpentField(folder),
  });

  context.show(`! ${text}: ${why}`);
}

function recordMeasured(run: Run, { recalled, metric }: Measured): void {
  const { context, log, plan, key, text, folder } = run;
  const benchmark = plan.benchmarks.find(({ name }) => name === key.benchmark);
  const metricFields = metric === null ? {} : { metric: plan.target.metric, metric_value: metric };

  log.append({
    event: "benchmark_end",
    ...key,
    recall: recalled.recall,
    bugs_found: recalled.foundIds,
    bugs_missed: recalled.missedIds,
    historical_baseline_path: benchmark?.baseline ?? "",
    matches: recalled.matches,
    ...metricFields,
    ...readSpentField(folder),
  });

  const figures: string[] = [];
  if (recalled.recall !== null) figures.push(`recall ${recalled.recall.toFixed(2)}`);
  if (metric !== null) figures.push(`${plan.target.metric} ${metric}`);
  context.show(`✓ ${text}: ${figures.join(", ")}`);
  dropCopies(folder);
}

function readSpentField(folder: string) {
  const spent = readSpending(folder);
  return spent === null ? {} : { spent };
}

/** Records a fault of one benchmark's run; the cycle goes on. */
const logRunError = (
  log: CycleLog,
  message: string,
  detail: Readonly<Record<string, unknown>>,
): void => log.append({ event: "error", message, recoverable: true, ...detail });
