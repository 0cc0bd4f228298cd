// forecast-chart: the tokens that each run of a flow used, compared with its forecast. A bar
// reaches from the median of the forecast to its ninth decile, a dot shows what was used. A table
// below has the same numbers.

import type { Backtest } from "../../insight/forecast.ts";
import { el, type Element, foreignText } from "./element.ts";
import { chartFrame, chartLine, chartText, gridLines } from "./chart-parts.ts";
import { section, tableHead } from "./components.ts";
import { plural, shortNumber } from "./format-numbers.ts";

const shownMax = 30;
const widthMin = 280;
const widthMax = 760;
/** What one run needs. */
const columnWidth = 28;

/**
 * Null if no run of the flow could be forecast yet. `run`: the one the page is about, drawn larger.
 */
export function forecastSection(
  flow: string,
  tests: readonly Backtest[],
  run: string | null,
): Element | null {
  const shownTests = tests.filter(({ actual: used }) => used.isDone).slice(-shownMax);
  if (shownTests.length === 0) return null;
  const withinForecast = shownTests.filter(
    ({ forecast, actual: used }) => used.tokens <= forecast.tokens.p90,
  ).length;

  return section(
    "Forecast and outcome",
    `each run of ${flow} forecast from those before it: ${withinForecast} of ${shownTests.length} used no more than the upper figure`,
    el(
      "div.panel",
      forecastChart(shownTests, run),
      el("details.pad", el("summary", "As a table"), forecastTable(shownTests)),
    ),
  );
}

/** Where a run is drawn, and how values become heights. */
type Column = {
  readonly x: number;
  readonly barWidth: number;
  readonly yOf: (value: number) => number;
};

function forecastChart(tests: readonly Backtest[], run: string | null): Element {
  const values = tests.flatMap(({ forecast, actual: used }) => [forecast.tokens.p90, used.tokens]);
  const topValue = Math.max(1, ...values);

  // No wider than its runs need, so that a chart of a few runs fits the smallest screen.
  const { height, left, bottom, top } = { height: 220, left: 48, bottom: 190, top: 18 };
  const width = Math.min(widthMax, Math.max(widthMin, left + tests.length * columnWidth));
  const step = (width - left) / tests.length;
  const barWidth = Math.min(18, step * 0.6);
  const yOf = (value: number): number => top + (bottom - top) * (1 - value / topValue);

  const columns = tests.flatMap((test, index) => {
    const x = left + index * step + step / 2;
    const isThisRun = test.run === run;
    const elements = columnElements(test, { x, barWidth, yOf }, isThisRun);
    if (!isThisRun) return elements;

    const anchor = labelAnchor(index, tests.length);
    return [...elements, chartText({ x, y: height - 6, anchor }, "this run")];
  });

  return chartFrame(
    { width, height },
    `Tokens forecast and used in ${plural(tests.length, "run")}`,
    gridLines({ left, right: width, top: topValue, yOf, format: shortNumber }),
    columns,
    chartText({ x: width, y: 10, anchor: "end" }, "bar: likely to 9 in 10 · dot: used"),
  );
}

/** The forecast as a bar with its median, and the dot of what was used. */
function columnElements(
  { forecast: { tokens }, actual: used }: Backtest,
  { x, barWidth, yOf }: Column,
  isThisRun: boolean,
): readonly Element[] {
  const left = x - barWidth / 2;
  const right = x + barWidth / 2;
  const isAbove = used.tokens > tokens.p90;

  return [
    el("rect", {
      x: left.toFixed(1),
      y: yOf(tokens.p90).toFixed(1),
      width: barWidth.toFixed(1),
      height: Math.max(1, yOf(tokens.p50) - yOf(tokens.p90)).toFixed(1),
      rx: "2",
      style: { fill: "var(--s2)", opacity: "0.25" },
    }),
    chartLine(
      { x1: left, y1: yOf(tokens.p50), x2: right, y2: yOf(tokens.p50) },
      { colour: "--s2" },
    ),
    el("circle", {
      cx: x.toFixed(1),
      cy: yOf(used.tokens).toFixed(1),
      r: isThisRun ? "5" : "3.5",
      style: {
        fill: `var(${isAbove ? "--bad" : "--s1"})`,
        stroke: "var(--ink)",
        "stroke-width": isThisRun ? "1.5" : "0",
      },
    }),
  ];
}

/** A label below the first or the last bar must not run over the edge. */
function labelAnchor(index: number, count: number): "start" | "middle" | "end" {
  if (index === 0) return "start";
  return index === count - 1 ? "end" : "middle";
}

function forecastTable(tests: readonly Backtest[]): Element {
  const rows = tests.map(({ run, forecast: { tokens }, actual: used }) =>
    el(
      "tr",
      el("th.mono", { scope: "row" }, foreignText(run)),
      el("td.n", { "data-label": "likely" }, shortNumber(tokens.p50)),
      el("td.n", { "data-label": "9 in 10" }, shortNumber(tokens.p90)),
      el("td.n", { "data-label": "used" }, shortNumber(used.tokens)),
    ),
  );

  return el("table.grid.lists", tableHead("Run", "Likely", "9 in 10", "Used"), el("tbody", rows));
}
