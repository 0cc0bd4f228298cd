// cycle-page: the state of a calibration cycle, as lines for a person and as fields for a program.

import { benchmarkChangedText, changedBenchmarks, cycleNote } from "../../calibration/cycle/audit.ts";
import { decide, cycleFigures, judgeCycle, cycleSide } from "../../calibration/cycle/decide.ts";
import { recallTarget } from "../../calibration/cycle/plan.ts";
import type { Cycle } from "../../calibration/cycle/state.ts";
import { figureText, gainText, intervalText, describeState, nextText } from "../../calibration/cycle/cycle-figures.ts";
import { alignColumns } from "../../views/align-columns.ts";
import { oneLine } from "../../views/wording.ts";

const regressionsShownMax = 8;

/** One row for each benchmark, then the mean gain, what was lost, and the verdict or the next step. */
export function cyclePage(cycle: Cycle): readonly string[] {
  const judgement = judgeCycle(cycle);
  const target = cycle.plan?.target.metric ?? recallTarget;
  const [before, after] = [cycleSide(cycle, "pre-lever"), cycleSide(cycle, "post-lever")];
  const rows = cycle.benchmarks.map((name) => [
    oneLine(name, 30),
    figureText(before[name] ?? null),
    figureText(after[name] ?? null),
    gainText(cycle, judgement.gain[name] ?? null),
    `${cycleFigures(cycle, name, "pre-lever").length}/${cycleFigures(cycle, name, "post-lever").length} runs`,
    oneLine(cycleNote(cycle, name), 80),
  ]);
  const regressions = judgement.cross_benchmark_check.regressions.map(({ benchmark, bug }) =>
    bug === null ? benchmark : `${benchmark} ${bug}`,
  );
  const lost = regressions.slice(0, regressionsShownMax).map((bug) => oneLine(bug));
  return [
    `${cycle.name}: ${describeState(cycle)}`,
    `  lever ${oneLine(cycle.lever)}, iteration ${cycle.iteration}`,
    `  ${oneLine(cycle.hypothesis)}`,
    "",
    ...alignColumns([["benchmark", `${target} before`, "after", "gain", "", ""], ...rows]).map((line) => `  ${line}`),
    "",
    ...(judgement.interval === null
      ? []
      : [`  mean gain ${gainText(cycle, judgement.mean_gain)}, ${intervalText(cycle, judgement.interval)}`]),
    ...(lost.length === 0 ? [] : [`  ! lost: ${lost.join(", ")}`]),
    ...changedBenchmarks(cycle).map((name) => `  ! ${oneLine(benchmarkChangedText(name), 200)}`),
    ...(cycle.end === null ? nextLines(cycle) : [`  ${cycle.end.verdict}: ${judgement.why}`]),
  ];
}

function nextLines(cycle: Cycle): readonly string[] {
  if (cycle.stopped !== null) return [`  ! ${oneLine(cycle.stopped, 300)}`];
  return [`  next: ${nextText(decide(cycle))}`];
}

/** The same as fields of a JSON response. */
export function cycleData(cycle: Cycle): Readonly<Record<string, unknown>> {
  const judgement = judgeCycle(cycle);
  const notes = cycle.benchmarks.map((name) => [name, cycleNote(cycle, name)] as const);
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
    before: cycleSide(cycle, "pre-lever"),
    after: cycleSide(cycle, "post-lever"),
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
