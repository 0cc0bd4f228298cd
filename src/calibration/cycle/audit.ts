// audit: renders a cycle as a page of Markdown: the plan, the result of every run, how each bug was
// matched, and the reason of the verdict.

import {
  markdownCode,
  escapeMarkdown,
  markdownList,
  markdownSection,
  markdownTable,
} from "../../views/markdown.ts";
import {
  decide,
  listFigures,
  judgeCycle,
  listEndedRuns,
  getScale,
  computeMeans,
} from "./decide.ts";
import { recallTarget } from "./plan.ts";
import type { Cycle } from "./state.ts";
import { type CycleJudgement, iterationsMax } from "./verdict.ts";
import {
  formatFigure,
  formatGain,
  describeInterval,
  describeState,
  describeNext,
} from "./describe-results.ts";

/** Begins the page; `validate` recognises it by this. */
export const auditTitle = "# Calibration audit: ";

export function renderAudit(cycle: Cycle): string {
  const judged = judgeCycle(cycle);
  const target = cycle.plan?.target.metric ?? recallTarget;

  const lines = [
    `${auditTitle}${escapeMarkdown(cycle.name)}`,
    "",
    `**Lever:** ${markdownCode(cycle.lever)}, iteration ${cycle.iteration} of ${iterationsMax}`,
    `**Hypothesis:** ${escapeMarkdown(cycle.hypothesis, 1000)}`,
    `**Target:** ${escapeMarkdown(target)}, ${getScale(cycle).better} is better; noise floor ${floorText(cycle)}`,
    `**Standing:** ${describeState(cycle)}`,
    ...markdownSection("Verdict", verdictLines(cycle, judged)),
    ...markdownSection("Figures", figureLines(cycle, judged, target)),
    ...markdownSection("Lever", leverLines(cycle)),
    ...markdownSection("Matches", matchLines(cycle)),
    ...markdownSection(
      "Cycle findings",
      markdownList(
        cycle.errors.map(
          ({ ts, message, recoverable }) =>
            `${ts} ${recoverable ? "" : "(stopped) "}${escapeMarkdown(message, 500)}`,
        ),
      ),
    ),
  ];

  return `${lines.join("\n")}\n`;
}

const floorText = (cycle: Cycle): string =>
  getScale(cycle).isRelative
    ? `${cycle.noiseFloor * 100} % of the figure before`
    : String(cycle.noiseFloor);

function verdictLines(cycle: Cycle, judged: CycleJudgement): readonly string[] {
  if (cycle.end === null) return [`None yet: ${escapeMarkdown(describeOpen(cycle))}.`];
  const { regressions } = judged.cross_benchmark_check;
  return [
    `**${cycle.end.verdict}**: ${escapeMarkdown(judged.why, 400)}.`,
    "",
    `- Cross-benchmark check: ${regressions.length === 0 ? "clean" : `${regressions.length} lost`}`,
    ...regressions.map(
      ({ benchmark, bug }) =>
        `  - ${escapeMarkdown(benchmark)}${bug === null ? "" : `: ${escapeMarkdown(bug)}`}`,
    ),
    ...(judged.interval === null
      ? ["- Interval: none, since nothing ran twice (`--repeat`)"]
      : [
          `- Mean gain ${formatGain(cycle, judged.mean_gain)}, ${describeInterval(cycle, judged.interval)}`,
        ]),
  ];
}

/** Why the cycle stopped, or its next step. */
function describeOpen(cycle: Cycle): string {
  if (cycle.stopped !== null) return cycle.stopped;
  return describeNext(decide(cycle));
}

function figureLines(cycle: Cycle, judged: CycleJudgement, target: string): readonly string[] {
  const [before, after] = [computeMeans(cycle, "pre-lever"), computeMeans(cycle, "post-lever")];
  const rows = cycle.benchmarks.map((name) => [
    escapeMarkdown(name),
    formatFigure(before[name] ?? null),
    formatFigure(after[name] ?? null),
    formatFigure(judged.delta[name] ?? null),
    formatGain(cycle, judged.gain[name] ?? null),
    `${listFigures(cycle, name, "pre-lever").length} / ${listFigures(cycle, name, "post-lever").length}`,
    escapeMarkdown(describeUncounted(cycle, name), 200),
  ]);

  return markdownTable(
    ["benchmark", `${target} before`, "after", "delta", "gain", "runs", "note"],
    rows,
  );
}

/** Why a benchmark, or one of its runs, does not count; empty if all do. */
export function describeUncounted(cycle: Cycle, name: string): string {
  const isCounted = (["pre-lever", "post-lever"] as const).every(
    (state) => listFigures(cycle, name, state).length > 0,
  );

  const lostRun = [...cycle.runs.values()].find(
    (run) => run.benchmark === name && run.status === "given_up",
  );
  const reason = cycle.excluded.get(name) ?? lostRun?.because ?? null;
  if (reason === null) return "";
  // The log's sentence is complete by itself; here the row already names the benchmark.
  const prefix = [`${name} is n/a: `, `${name}, `].find((start) => reason.startsWith(start)) ?? "";
  const shortReason = reason.slice(prefix.length).replace(/; it is n\/a$/, "");

  return `${isCounted ? "one run did not count" : "n/a"}: ${shortReason}`;
}

/**
 * Benchmarks of which the lever changed a file: what was measured after it is not what was measured
 * before. Not one that is the whole repository, which every lever changes.
 */
export function listChangedBenchmarks({ applied, plan }: Cycle): readonly string[] {
  const files = applied?.files ?? [];
  return (plan?.benchmarks ?? []).flatMap(({ name, kind, at, baseline }) =>
    kind === "folder" &&
    at !== "." &&
    files.some((path) => path.startsWith(`${at}/`) && path !== baseline)
      ? [name]
      : [],
  );
}
export const describeChangedBenchmark = (name: string): string =>
  `The lever changes files of the benchmark ${name} itself, so its figures before and after are not of the same code.`;

function leverLines(cycle: Cycle): readonly string[] {
  if (cycle.applied === null) return ["Not applied."];
  return [
    `- Commit ${markdownCode(cycle.applied.commit)}: ${escapeMarkdown(cycle.applied.description)}`,
    `- Files: ${cycle.applied.files.map((path) => markdownCode(path)).join(", ")}`,
    ...listChangedBenchmarks(cycle).map(
      (name) => `- ${escapeMarkdown(describeChangedBenchmark(name))}`,
    ),
    ...(cycle.reverted === null
      ? []
      : [`- Reverted by ${markdownCode(cycle.reverted.commit ?? "an uncommitted change")}`]),
  ];
}

function matchLines(cycle: Cycle): readonly string[] {
  const runs = cycle.benchmarks.flatMap((name) => [
    ...listEndedRuns(cycle, name, "pre-lever"),
    ...listEndedRuns(cycle, name, "post-lever"),
  ]);
  const rows = runs.flatMap(({ benchmark, lever_state, repeat, matches }) =>
    matches.map(({ baseline, found, by, detail }) => [
      escapeMarkdown(benchmark),
      lever_state,
      String(repeat),
      escapeMarkdown(baseline),
      escapeMarkdown(found),
      by,
      escapeMarkdown(detail),
    ]),
  );
  return markdownTable(
    ["benchmark", "lever", "run", "known bug", "found as", "matched by", "detail"],
    rows,
  );
}
