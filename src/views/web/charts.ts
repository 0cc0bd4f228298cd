// charts: spending drawn as SVG. Each is an image with the sentence it shows; the numbers are in a table or beside it.

import type { BudgetView } from "../budget-view.ts";
import type { CostView } from "../facts/cost.ts";
import type { SpendingPoint } from "../facts/run-index.ts";
import { parseIsoTime } from "../../kit/iso-time.ts";
import { el, type Element } from "./element.ts";
import { money, percent, short, shortTime, span } from "./page-figures.ts";

export const text = (x: number, y: number, word: string, anchor = "start"): Element =>
  el("text", { x: x.toFixed(1), y: y.toFixed(1), "text-anchor": anchor }, word);
export const rule = (x1: number, y1: number, x2: number, y2: number, colour = "--line", dash = ""): Element =>
  el("line", {
    x1: x1.toFixed(1),
    y1: y1.toFixed(1),
    x2: x2.toFixed(1),
    y2: y2.toFixed(1),
    style: { stroke: `var(${colour})`, ...(dash === "" ? {} : { "stroke-dasharray": dash }) },
  });

/** A wide one is moved sideways on a small screen: shrunk to fit, its words could not be read. */
export const picture = (
  width: number,
  height: number,
  label: string,
  ...parts: readonly (Element | readonly Element[] | null)[]
): Element =>
  el(
    "div.chart",
    width > wideFrom ? { style: { "overflow-x": "auto" }, tabindex: 0 } : {},
    el(
      "svg",
      {
        viewBox: `0 0 ${width} ${height}`,
        role: "img",
        "aria-label": label,
        style: {
          "max-width": `${Math.round(width * 1.2)}px`,
          ...(width > wideFrom ? { "min-width": `${Math.round(width * 0.85)}px` } : {}),
        },
      },
      ...parts,
    ),
  );
const wideFrom = 400;

/** The remainder of the tightest limit, turn by turn. Null without a limit, or if nothing was spent. */
export function burnDown(points: readonly SpendingPoint[], budget: BudgetView, from: string, now: string): Element | null {
  const unit = (["tokens", "usd", "minutes"] as const)
    .filter((dimension) => budget.limits[dimension] !== undefined)
    .toSorted((a, b) => (budget.ratios[b] ?? 0) - (budget.ratios[a] ?? 0))[0];
  const limit = unit === undefined ? undefined : budget.limits[unit];
  if (unit === undefined || limit === undefined || points.length === 0) return null;
  const formats = { usd: money, minutes: (value: number) => `${short(value)} min`, tokens: short } as const;
  const format = (value: number): string => formats[unit](value);
  const [width, height, left, bottom, top] = [280, 168, 44, 144, 10];
  const [start, end] = [parseIsoTime(from) ?? 0, Math.max((parseIsoTime(from) ?? 0) + 1, parseIsoTime(now) ?? 0)];
  const x = (at: string): number => left + ((width - left) * Math.max(0, (parseIsoTime(at) ?? start) - start)) / (end - start);
  const y = (rest: number): number => top + (bottom - top) * (1 - Math.max(0, Math.min(1, rest / limit)));
  let path = `M${left} ${y(limit).toFixed(1)}`;
  let rest = limit;
  for (const point of points) {
    path += `L${x(point.at).toFixed(1)} ${y(rest).toFixed(1)}`;
    rest = limit - point[unit];
    path += `L${x(point.at).toFixed(1)} ${y(rest).toFixed(1)}`;
  }
  path += `L${width} ${y(rest).toFixed(1)}`;
  const soft = limit * (1 - budget.soft_ratio);
  return picture(
    width,
    height,
    `Of ${format(limit)} ${unit === "usd" ? "" : unit} ${format(Math.max(0, rest))} are left`,
    [0, 0.5, 1].flatMap((part) => [
      rule(left, y(limit * part), width, y(limit * part)),
      text(0, y(limit * part) + 4, format(limit * part)),
    ]),
    el("path", { d: `${path}L${width} ${bottom}L${left} ${bottom}Z`, style: { fill: "var(--s2)", opacity: "0.12" } }),
    rule(left, y(soft), width, y(soft), "--you", "2 3"),
    text(left + 4, y(soft) - 4, `warns at ${percent(budget.soft_ratio)}`),
    el("path", { d: path, fill: "none", style: { stroke: "var(--s2)", "stroke-width": "1.5" } }),
    text(left, height - 6, shortTime(from)),
    text(width, height - 6, `${format(Math.max(0, rest))} left`, "end"),
  );
}

/** For runs without a limit: money where it is known, else tokens. Null if nothing was spent. */
export function spendingCurve(points: readonly SpendingPoint[], from: string, now: string): Element | null {
  const lastSpendingPoint = points.at(-1);
  if (lastSpendingPoint === undefined || lastSpendingPoint.tokens === 0) return null;
  return pointCurve(points, lastSpendingPoint.usd > 0 ? "usd" : "tokens", from, now);
}

/** One of the sums as it grew. */
export function pointCurve(points: readonly SpendingPoint[], unit: "usd" | "tokens" | "minutes", from: string, now: string): Element {
  const formats = { usd: money, minutes: (value: number) => span(value * 60_000), tokens: short } as const;
  const format = (value: number): string => formats[unit](value);
  const most = Math.max(points.at(-1)?.[unit] ?? 0, Number.MIN_VALUE);
  const [width, height, left, bottom, top] = [280, 168, 44, 144, 10];
  const [start, end] = [parseIsoTime(from) ?? 0, Math.max((parseIsoTime(from) ?? 0) + 1, parseIsoTime(now) ?? 0)];
  const x = (at: string): number => left + ((width - left) * Math.max(0, (parseIsoTime(at) ?? start) - start)) / (end - start);
  const y = (value: number): number => top + (bottom - top) * (1 - value / most);
  let path = `M${left} ${bottom}`;
  let spent = 0;
  for (const point of points) {
    path += `L${x(point.at).toFixed(1)} ${y(spent).toFixed(1)}`;
    spent = point[unit];
    path += `L${x(point.at).toFixed(1)} ${y(spent).toFixed(1)}`;
  }
  path += `L${width} ${y(spent).toFixed(1)}`;
  return picture(
    width,
    height,
    `${format(spent)} ${unit === "tokens" ? "tokens " : ""}were spent`,
    [0, 0.5, 1].flatMap((part) => [
      rule(left, y(spent * part), width, y(spent * part)),
      text(0, y(spent * part) + 4, format(spent * part)),
    ]),
    el("path", { d: `${path}L${width} ${bottom}Z`, style: { fill: "var(--s2)", opacity: "0.12" } }),
    el("path", { d: path, fill: "none", style: { stroke: "var(--s2)", "stroke-width": "1.5" } }),
    text(left, height - 6, shortTime(from)),
    text(width, height - 6, `${format(spent)} spent`, "end"),
  );
}

export const seriesClasses = ["b-s1", "b-s2", "b-s3", "b-s4"] as const;

/** Bars a day, stacked by group, and the band in which a day may go on. */
export function costBars({ days, by, unit, forecast }: CostView, of: keyof CostView["by"], width = 760): Element {
  const { bars, groups } = by[of];
  const format = (value: number): string => (unit === "usd" ? (value < 100 ? money(value) : `$${short(value)}`) : short(value));
  const most = Math.max(1e-9, forecast?.p90 ?? 0, ...bars.map((bar) => bar.reduce((sum, part) => sum + part, 0)));
  const [height, left, bottom, top, ahead] = [220, 48, 196, 10, 4];
  const step = (width - left) / (days.length + ahead);
  const y = (value: number): number => top + (bottom - top) * (1 - value / most);
  const edge = left + days.length * step;
  const total = bars.flat().reduce((sum, part) => sum + part, 0);
  return picture(
    width,
    height,
    `${unit === "usd" ? money(total) : `${short(total)} tokens`} in ${days.length} days, by ${of}${forecast === null ? "" : `; a day may go on with ${format(forecast.p50)} to ${format(forecast.p90)}`}`,
    [0, 0.5, 1].flatMap((part) => [rule(left, y(most * part), width, y(most * part)), text(0, y(most * part) + 4, format(most * part))]),
    days.flatMap((day, at) => {
      let from = 0;
      const stack = groups.map((_, index) => {
        const value = bars[at]?.[index] ?? 0;
        const bar = el("rect", {
          x: (left + at * step + step * 0.16).toFixed(1),
          y: y(from + value).toFixed(1),
          width: (step * 0.68).toFixed(1),
          height: Math.max(0, y(from) - y(from + value) - 0.6).toFixed(1),
          rx: "1",
          class: seriesClasses[index % seriesClasses.length] ?? "b-s4",
        });
        from += value;
        return bar;
      });
      return (days.length - 1 - at) % 2 === 1 ? stack : [...stack, text(left + at * step + step / 2, height - 6, day.slice(8), "middle")];
    }),
    forecast === null
      ? null
      : [
          el("rect", {
            x: edge.toFixed(1),
            y: y(forecast.p90).toFixed(1),
            width: (ahead * step).toFixed(1),
            height: Math.max(1, y(forecast.p50) - y(forecast.p90)).toFixed(1),
            style: { fill: "var(--s2)", opacity: "0.2" },
          }),
          rule(edge, y(forecast.p50), width, y(forecast.p50), "--s1", "3 3"),
          rule(edge, top, edge, bottom, "--run"),
          text(edge + 6, top + 12, "forecast"),
        ],
  );
}
