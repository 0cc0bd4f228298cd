// cycle-page: the state of a calibration cycle, as lines for a person and as fields for a program.

import {
  describeChangedBenchmark,
  listChangedBenchmarks,
  describeUncounted,
} from "../../calibration/cycle/audit.ts";
import { decide, listFigures, judgeCycle, computeMeans } from "../../calibration/cycle/decide.ts";
import { recallTarget } from "../../calibration/cycle/plan.ts";
import type { Cycle } from "../../calibration/cycle/state.ts";
import {
  formatFigure,
  formatGain,
  describeInterval,
  describeState,
  describeNext,
} from "../../calibration/cycle/describe-results.ts";
import { alignColumns } from "../../views/align-columns.ts";
import { firstFew, oneLine } from "../../views/wording.ts";

const nameCharsMax = 30;
const noteCharsMax = 80;

/**
 * One row for each benchmark, then the mean gain, what was lost, and the verdict or the next step.
 */
export function renderCyclePage(cycle: Cycle): readonly string[] {
  const judgement = judgeCycle(cycle);
  const target = cycle.plan?.target.metric ?? recallTarget;
  const [before, after] = [computeMeans(cycle, "pre-lever"), computeMeans(cycle, "post-lever")];

  const rows = cycle.benchmarks.map((name) => [
    oneLine(name, nameCharsMax),
    formatFigure(before[name] ?? null),
    formatFigure(after[name] ?? null),
    formatGain(cycle, judgement.gain[name] ?? null),
    `${listFigures(cycle, name, "pre-lever").length}/${listFigures(cycle, name, "post-lever").length} runs`,
    oneLine(describeUncounted(cycle, name), noteCharsMax),
  ]);

  const regressions = judgement.cross_benchmark_check.regressions.map(({ benchmark, bug }) =>
    bug === null ? benchmark : `${benchmark} ${bug}`,
  );

  return [
    `${cycle.name}: ${describeState(cycle)}`,
    `  lever ${oneLine(cycle.lever)}, iteration ${cycle.iteration}`,
    `  ${oneLine(cycle.hypothesis)}`,
    "",
    ...alignColumns([["benchmark", `${target} before`, "after", "gain", "", ""], ...rows]).map(
      (line) => `  ${line}`,
    ),
    "",
    ...(judgement.interval === null
      ? []
      : [
          `  mean gain ${formatGain(cycle, judgement.mean_gain)}, ${describeInterval(cycle, judgement.interval)}`,
        ]),
    ...(regressions.length === 0 ? [] : [`  ! lost: ${firstFew(regressions)}`]),
    ...listChangedBenchmarks(cycle).map(
      (name) => `  ! ${oneLine(describeChangedBenchmark(name), 200)}`,
    ),
    ...(cycle.end === null ? describeOpen(cycle) : [`  ${cycle.end.verdict}: ${judgement.why}`]),
  ];
}

function describeOpen(cycle: Cycle): readonly string[] {
  if (cycle.stopped !== null) return [`  ! ${oneLine(cycle.stopped, 300)}`];
  return [`  next: ${describeNext(decide(cycle))}`];
}

/** The same as fields of a JSON response. */
export function buildCycleData(cycle: Cycle): Readonly<Record<string, unknown>> {
  const judgement = judgeCycle(cycle);
  const notes = cycle.benchmarks.map((name) => [name, describeUncounted(cycle, name)] as const);
  return {
    cycle: cycle.name,
    lever: cycle.lever,
    iteration: cycle.iteration,
    hypothesis: cycle.hypothesis,
    standing: describeState(cycle),
    stopped: cycle.stopped,
    verdict: cycle.end?.verdict ?? null,
    target: cycle.plan?.target ?? { metric: recallTarget, better: "higher", relative: false },
    noise_floor: cycle.noiseFloor,
    before: computeMeans(cycle, "pre-lever"),
    after: computeMeans(cycle, "post-lever"),
    delta: judgement.delta,
    gain: judgement.gain,
    mean_gain: judgement.mean_gain,
    interval: judgement.interval,
    cross_benchmark_check: judgement.cross_benchmark_check,
    why: cycle.end === null ? null : judgement.why,
    not_counted: Object.fromEntries(notes.filter(([, note]) => note !== "")),
    commit: cycle.applied?.commit ?? null,
    revert: cycle.reverted?.commit ?? null,
  };
}
