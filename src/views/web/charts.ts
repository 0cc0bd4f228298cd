// charts: spending drawn as SVG: the rest of a limit, a growing sum, and the cost of each day. The
// page that shows one also shows its numbers as text.

import { parseIsoTime } from "../../kit/iso-time.ts";
import type { BudgetView } from "../budget-view.ts";
import type { CostView } from "../facts/cost.ts";
import type { SpendingPoint } from "../facts/run-index.ts";
import { chartFrame, chartLine, chartText, gridLines } from "./chart-parts.ts";
import { el, type Element } from "./element.ts";
import {
  formatMoney,
  formatShare,
  shortDuration,
  shortNumber,
  formatShortTime,
} from "./format-numbers.ts";

type Period = { readonly from: string; readonly until: string };
type Unit = "tokens" | "usd" | "minutes";

/**
 * The small charts have one size; `left` leaves room for the values beside the grid, `bottom` for
 * the times below it.
 */
const size = { width: 280, height: 168 } as const;
const plot = { left: 44, right: size.width, top: 10, bottom: 144 } as const;

/**
 * How much of the tightest limit was left after each turn. Null without a limit, or if nothing was
 * spent.
 */
export function burnDownChart(
  points: readonly SpendingPoint[],
  budget: BudgetView,
  period: Period,
): Element | null {
  const unit = findTightestUnit(budget);
  const limit = unit === undefined ? undefined : budget.limits[unit];
  if (unit === undefined || limit === undefined || points.length === 0) return null;

  const formats = {
    usd: formatMoney,
    minutes: (value: number) => `${shortNumber(value)} min`,
    tokens: shortNumber,
  } as const;
  const format = formats[unit];
  const yOf = (rest: number): number =>
    plot.top + (plot.bottom - plot.top) * (1 - Math.max(0, Math.min(1, rest / limit)));
  const leftAmount = limit - (points.at(-1)?.[unit] ?? 0);

  const path = stepPath({
    start: limit,
    steps: points.map((point) => ({ at: point.at, value: limit - point[unit] })),
    period,
    yOf,
  });

  const warningY = yOf(limit * (1 - budget.soft_ratio));
  return chartFrame(
    size,
    `Of ${format(limit)}${unit === "tokens" ? " tokens" : ""}, ${format(Math.max(0, leftAmount))} are left`,
    gridLines({ ...plot, top: limit, yOf, format }),
    filledArea(`${path}L${plot.right} ${plot.bottom}L${plot.left} ${plot.bottom}Z`),
    chartLine(
      { x1: plot.left, y1: warningY, x2: plot.right, y2: warningY },
      { colour: "--you", dash: "2 3" },
    ),
    chartText({ x: plot.left + 4, y: warningY - 4 }, `warns at ${formatShare(budget.soft_ratio)}`),
    curve(path),
    chartText({ x: plot.left, y: size.height - 6 }, formatShortTime(period.from)),
    chartText(
      { x: plot.right, y: size.height - 6, anchor: "end" },
      `${format(Math.max(0, leftAmount))} left`,
    ),
  );
}

/** The unit of which the largest part of its limit is used. */
const findTightestUnit = ({ limits, ratios }: BudgetView): Unit | undefined =>
  (["tokens", "usd", "minutes"] as const)
    .filter((unit) => limits[unit] !== undefined)
    .toSorted((a, b) => (ratios[b] ?? 0) - (ratios[a] ?? 0))[0];

/** Money as it was spent, or tokens if no price is known. Null if nothing was spent. */
export function spendingChart(points: readonly SpendingPoint[], period: Period): Element | null {
  const sum = points.at(-1);
  if (sum === undefined || sum.tokens === 0) return null;
  return sumChart(points, sum.usd > 0 ? "usd" : "tokens", period);
}

/** How the sum of one unit grew. */
export function sumChart(points: readonly SpendingPoint[], unit: Unit, period: Period): Element {
  const formats = {
    usd: formatMoney,
    minutes: (value: number) => shortDuration(value * 60_000),
    tokens: shortNumber,
  } as const;
  const format = formats[unit];
  const sum = points.at(-1)?.[unit] ?? 0;
  const yOf = (value: number): number =>
    plot.top + (plot.bottom - plot.top) * (1 - value / Math.max(sum, Number.MIN_VALUE));

  const path = stepPath({
    start: 0,
    steps: points.map((point) => ({ at: point.at, value: point[unit] })),
    period,
    yOf,
  });

  return chartFrame(
    size,
    `${format(sum)} ${unit === "tokens" ? "tokens " : ""}were spent`,
    gridLines({ ...plot, top: sum, yOf, format }),
    filledArea(`${path}L${plot.right} ${plot.bottom}Z`),
    curve(path),
    chartText({ x: plot.left, y: size.height - 6 }, formatShortTime(period.from)),
    chartText({ x: plot.right, y: size.height - 6, anchor: "end" }, `${format(sum)} spent`),
  );
}

type Steps = {
  /** The value before the first step. */
  readonly start: number;
  readonly steps: readonly { readonly at: string; readonly value: number }[];
  readonly period: Period;
  readonly yOf: (value: number) => number;
};

/**
 * The `d` of an SVG path that goes sideways to each step's time, and there up or down to its value.
 */
function stepPath({ start, steps, period, yOf }: Steps): string {
  const fromMs = parseIsoTime(period.from) ?? 0;
  const untilMs = Math.max(fromMs + 1, parseIsoTime(period.until) ?? 0);
  const xOf = (at: string): number =>
    plot.left +
    ((plot.right - plot.left) * Math.max(0, (parseIsoTime(at) ?? fromMs) - fromMs)) /
      (untilMs - fromMs);

  let path = `M${plot.left} ${yOf(start).toFixed(1)}`;
  let valueBefore = start;

  for (const { at, value } of steps) {
    path += `L${xOf(at).toFixed(1)} ${yOf(valueBefore).toFixed(1)}L${xOf(at).toFixed(1)} ${yOf(value).toFixed(1)}`;
    valueBefore = value;
  }

  return `${path}L${plot.right} ${yOf(valueBefore).toFixed(1)}`;
}

const curve = (d: string): Element =>
  el("path", { d, fill: "none", style: { stroke: "var(--s2)", "stroke-width": "1.5" } });
const filledArea = (d: string): Element =>
  el("path", { d, style: { fill: "var(--s2)", opacity: "0.12" } });

export const seriesClasses = ["b-s1", "b-s2", "b-s3", "b-s4"] as const;

/** How many days wide the forecast is drawn. */
const forecastDays = 4;

type DayForecast = NonNullable<CostView["forecast"]>;

/** How the chart of days turns days and values into places. */
type DayScale = {
  readonly height: number;
  readonly width: number;
  readonly left: number;
  readonly top: number;
  readonly bottom: number;
  readonly dayWidth: number;
  readonly yOf: (value: number) => number;
};

/** One bar a day, stacked by group, and beside them the forecast of a further day. */
export function dailyCostChart(
  { days, by, unit, forecast }: CostView,
  groupedBy: keyof CostView["by"],
  width = 760,
): Element {
  const { bars } = by[groupedBy];
  const format = unit === "usd" ? formatShortMoney : shortNumber;
  const highest = Math.max(1e-9, forecast?.p90 ?? 0, ...bars.map(sumValues));
  const scale = scaleDays(days.length, width, highest);
  const { height, left, dayWidth, yOf } = scale;

  const total = sumValues(bars.flat());
  const totalText = unit === "usd" ? formatMoney(total) : `${shortNumber(total)} tokens`;
  const forecastText =
    forecast === null
      ? ""
      : `; a day may go on with ${format(forecast.p50)} to ${format(forecast.p90)}`;

  const dayBars = days.flatMap((day, index) => {
    const x = left + index * dayWidth;
    const place = { x: x + dayWidth * 0.16, width: dayWidth * 0.68, yOf };
    const bar = stackedBar(bars[index] ?? [], place);

    const isLabelled = (days.length - 1 - index) % 2 === 0; // every second day, the last one included
    if (!isLabelled) return bar;
    const labelPlace = { x: x + dayWidth / 2, y: height - 6, anchor: "middle" } as const;
    return [...bar, chartText(labelPlace, day.slice(8))];
  });

  return chartFrame(
    { width, height },
    `${totalText} in ${days.length} days, by ${groupedBy}${forecastText}`,
    gridLines({ left, right: width, top: highest, yOf, format }),
    dayBars,
    forecast === null ? null : forecastBand(forecast, left + days.length * dayWidth, scale),
  );
}

const formatShortMoney = (value: number): string =>
  value < 100 ? formatMoney(value) : `$${shortNumber(value)}`;

/** `left` leaves room for the values, `bottom` for the days. */
function scaleDays(dayCount: number, width: number, highest: number): DayScale {
  const frame = { height: 220, left: 48, bottom: 196, top: 10 };
  const { left, bottom, top } = frame;
  const dayWidth = (width - left) / (dayCount + forecastDays);
  const yOf = (value: number): number => top + (bottom - top) * (1 - value / highest);
  return { ...frame, width, dayWidth, yOf };
}

/** The range of a likely day, its median as a line, and where the forecast begins. */
function forecastBand(
  { p50, p90 }: DayForecast,
  x: number,
  { width, top, bottom, dayWidth, yOf }: DayScale,
): readonly Element[] {
  return [
    el("rect", {
      x: x.toFixed(1),
      y: yOf(p90).toFixed(1),
      width: (forecastDays * dayWidth).toFixed(1),
      height: Math.max(1, yOf(p50) - yOf(p90)).toFixed(1),
      style: { fill: "var(--s2)", opacity: "0.2" },
    }),
    chartLine({ x1: x, y1: yOf(p50), x2: width, y2: yOf(p50) }, { colour: "--s1", dash: "3 3" }),
    chartLine({ x1: x, y1: top, x2: x, y2: bottom }, { colour: "--run" }),
    chartText({ x: x + 6, y: top + 12 }, "forecast"),
  ];
}

type BarPlace = {
  readonly x: number;
  readonly width: number;
  readonly yOf: (value: number) => number;
};

/** The values of one day on top of each other, each in the colour of its group. */
function stackedBar(values: readonly number[], { x, width, yOf }: BarPlace): readonly Element[] {
  let below = 0;
  return values.map((value, group) => {
    const [bottom, top] = [yOf(below), yOf(below + value)];
    below += value;
    return el("rect", {
      x: x.toFixed(1),
      y: top.toFixed(1),
      width: width.toFixed(1),
      height: Math.max(0, bottom - top - 0.6).toFixed(1),
      rx: "1",
      class: seriesClasses[group % seriesClasses.length] ?? "b-s4",
    });
  });
}

function sumValues(values: readonly number[]): number {
  let sum = 0;
  for (const value of values) sum += value;
  return sum;
}
