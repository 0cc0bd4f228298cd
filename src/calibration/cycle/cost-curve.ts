// cost-curve: charts what a cycle's benchmarks cost as it went on: money or tokens if their own
// journals say, and always the time they ran.

import { parseIsoTime } from "../../kit/iso-time.ts";
import type { SpendingPoint } from "../../views/facts/run-index.ts";
import { spendingChart, sumChart } from "../../views/web/charts.ts";
import { el, type Element } from "../../views/web/element.ts";
import { formatMoney, shortNumber, shortDuration } from "../../views/web/format-numbers.ts";
import type { BenchmarkRun, Cycle } from "./state.ts";

/** The sums so far at the end of every run, in the order they ended. */
export function listCostPoints(cycle: Cycle): readonly SpendingPoint[] {
  const sums = { tokens: 0, usd: 0, minutes: 0 };
  return endedRuns(cycle).map((run) => {
    sums.tokens += run.spent?.tokens ?? 0;
    sums.usd += run.spent?.usd ?? 0;
    sums.minutes += runMinutes(run);

    return { at: run.endedAt ?? "", ...sums };
  });
}

/** Null while nothing has ended. */
export function drawCostCurve(cycle: Cycle): Element | null {
  const points = listCostPoints(cycle);
  if (points.length === 0) return null;
  const period = { from: cycle.startedAt, until: cycle.lastAt };
  const spending = spendingChart(points, period);

  return el(
    "div.two",
    ...(spending === null ? [] : [el("div", spending)]),
    el("div", sumChart(points, "minutes", period)),
  );
}

/** Both sides in one sentence, so that a lever that only costs more is seen. */
export function describeCost(cycle: Cycle): string {
  const describeSide = (state: string): string => {
    const runs = endedRuns(cycle).filter(({ lever_state }) => lever_state === state);
    const sumOf = (unit: "tokens" | "usd"): number =>
      runs.reduce((sum, { spent }) => sum + (spent?.[unit] ?? 0), 0);
    const [tokens, usd] = [sumOf("tokens"), sumOf("usd")];
    const minutes = runs.reduce((sum, run) => sum + runMinutes(run), 0);

    const amounts = [
      usd === 0 ? null : formatMoney(usd),
      tokens === 0 ? null : `${shortNumber(tokens)} tokens`,
      shortDuration(minutes * 60_000),
    ];
    return amounts.filter((amount) => amount !== null).join(", ");
  };

  return `before ${describeSide("pre-lever")}; after ${describeSide("post-lever")}`;
}

const endedRuns = (cycle: Cycle): readonly BenchmarkRun[] =>
  [...cycle.runs.values()]
    .filter(({ endedAt }) => endedAt !== null)
    .toSorted(
      (a, b) => (parseIsoTime(a.endedAt ?? "") ?? 0) - (parseIsoTime(b.endedAt ?? "") ?? 0),
    );

const runMinutes = ({ startedAt, endedAt }: BenchmarkRun): number =>
  Math.max(0, (parseIsoTime(endedAt ?? "") ?? 0) - (parseIsoTime(startedAt) ?? 0)) / 60_000;
