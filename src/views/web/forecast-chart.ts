// forecast-chart: what runs used beside what was forecast of them: a bar from the likely figure to the one that holds in nine of ten, a dot
// for what was used. The same is in a table below.

import type { Backtest } from "../../insight/forecast.ts";
import { el, type Element, foreignText } from "./element.ts";
import { picture, rule, text } from "./charts.ts";
import { section } from "./pieces.ts";
import { plural, short } from "./page-figures.ts";

const shownMax = 30;

/** Null if no run of the flow could be forecast yet. `run`: the one the page is about. */
export function forecastSection(flow: string, tests: readonly Backtest[], run: string | null): Element | null {
  const shownTests = tests.filter(({ used }) => used.isDone).slice(-shownMax);
  if (shownTests.length === 0) return null;
  const withinForecast = shownTests.filter(({ forecast, used }) => used.tokens <= forecast.tokens.p90).length;
  return section(
    "Forecast and outcome",
    `each run of ${flow} forecast from those before it: ${withinForecast} of ${shownTests.length} used no more than the upper figure`,
    el("div.panel", chart(shownTests, run), el("details.pad", el("summary", "As a table"), table(shownTests))),
  );
}

function chart(shownBacktests: readonly Backtest[], run: string | null): Element {
  const most = Math.max(1, ...shownBacktests.flatMap(({ forecast, used }) => [forecast.tokens.p90, used.tokens]));
  // As wide as its runs need, so that few of them fit the smallest screen.
  const width = Math.min(760, Math.max(280, 48 + shownBacktests.length * 28));
  const [height, left, bottom, top] = [220, 48, 190, 18];
  const step = (width - left) / shownBacktests.length;
  const y = (value: number): number => top + (bottom - top) * (1 - value / most);
  const label = `Tokens forecast and used in ${plural(shownBacktests.length, "run")}`;
  return picture(
    width,
    height,
    label,
    [0, 0.5, 1].flatMap((part) => [rule(left, y(most * part), width, y(most * part)), text(0, y(most * part) + 4, short(most * part))]),
    shownBacktests.flatMap(({ run: one, forecast: { tokens }, used }, index) => {
      const x = left + index * step + step / 2;
      const isAbove = used.tokens > tokens.p90;
      const wide = Math.min(18, step * 0.6);
      return [
        el("rect", {
          x: (x - wide / 2).toFixed(1),
          y: y(tokens.p90).toFixed(1),
          width: wide.toFixed(1),
          height: Math.max(1, y(tokens.p50) - y(tokens.p90)).toFixed(1),
          rx: "2",
          style: { fill: "var(--s2)", opacity: "0.25" },
        }),
        rule(x - wide / 2, y(tokens.p50), x + wide / 2, y(tokens.p50), "--s2"),
        el("circle", {
          cx: x.toFixed(1),
          cy: y(used.tokens).toFixed(1),
          r: one === run ? "5" : "3.5",
          style: { fill: `var(${isAbove ? "--bad" : "--s1"})`, stroke: "var(--ink)", "stroke-width": one === run ? "1.5" : "0" },
        }),
        ...(one === run
          ? [text(x, height - 6, "this run", index === 0 ? "start" : index === shownBacktests.length - 1 ? "end" : "middle")]
          : []),
      ];
    }),
    text(width, 10, "bar: likely to 9 in 10 · dot: used", "end"),
  );
}

const table = (shownBacktests: readonly Backtest[]): Element =>
  el(
    "table.grid.lists",
    el("thead", el("tr", ...["Run", "Likely", "9 in 10", "Used"].map((name) => el("th", { scope: "col" }, name)))),
    el(
      "tbody",
      shownBacktests.map(({ run, forecast: { tokens }, used }) =>
        el(
          "tr",
          el("th.mono", { scope: "row" }, foreignText(run)),
          el("td.n", { "data-label": "likely" }, short(tokens.p50)),
          el("td.n", { "data-label": "9 in 10" }, short(tokens.p90)),
          el("td.n", { "data-label": "used" }, short(used.tokens)),
        ),
      ),
    ),
  );
