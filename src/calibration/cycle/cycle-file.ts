// cycle-file: renders a cycle as one HTML file: every run before and after the lever on one scale,
// the mean gain with its interval, and why.

import { el, type Element, foreignText } from "../../views/web/element.ts";
import { renderHtmlPage } from "../../views/web/page-file.ts";
import { section } from "../../views/web/components.ts";
import { describeUncounted } from "./audit.ts";
import { drawCostCurve, describeCost } from "./cost-curve.ts";
import { listFigures, judgeCycle, getScale, computeMeans } from "./decide.ts";
import { recallTarget } from "./plan.ts";
import type { Cycle } from "./state.ts";
import { type GainInterval, computeSideInterval } from "./statistics.ts";
import { formatFigure, formatGain, describeInterval, describeState } from "./describe-results.ts";
import type { CycleJudgement } from "./verdict.ts";

/** In pixels of the picture. */
const size = { width: 720, label: 120, right: 24, row: 46, top: 30 } as const;
const [nameCharsMax, noteCharsMax] = [15, 72];
/** How far the two sides of a row are from its middle. */
const sideOffset = 7;
const axis = { from: size.label, to: size.width - size.right } as const;

export function renderCycleFile(cycle: Cycle): string {
  const judged = judgeCycle(cycle);
  const target = cycle.plan?.target.metric ?? recallTarget;
  const { better } = getScale(cycle);

  return renderHtmlPage(
    `${cycle.name} · autopilot calibration`,
    el(
      "div.head",
      el(
        "div",
        el("h1", foreignText(cycle.name)),
        el(
          "p",
          foreignText(
            `${describeState(cycle)}: ${cycle.end === null ? cycle.hypothesis : judged.why}`,
          ),
        ),
      ),
    ),
    section(
      "Before and after",
      `${target}, ${better} is better`,
      el("div.panel", figurePicture(cycle, target)),
    ),
    section(
      "Mean gain",
      `noise floor ${formatGain(cycle, cycle.noiseFloor)}`,
      el("div.panel", gainPicture(cycle, judged)),
    ),
    section(
      "Cost over time",
      describeCost(cycle),
      el("div.panel.pad", drawCostCurve(cycle) ?? el("p", "No run of a benchmark has ended yet.")),
    ),
    section(
      "Figures",
      `lever ${cycle.lever}, iteration ${cycle.iteration}`,
      el("div.panel.clip", figureTable(cycle, judged)),
    ),
    el("footer", foreignText(cycle.hypothesis)),
  );
}

/** The place of a value on the axis, which goes from `from` to `to`. */
const toX = (value: number, from: number, to: number): number =>
  to === from
    ? axis.from
    : Math.round(axis.from + ((value - from) / (to - from)) * (axis.to - axis.from));

const svg = (height: number, description: string, ...content: readonly Element[]): Element =>
  el(
    "div",
    { style: "overflow-x:auto", tabindex: 0 }, // it scrolls: shrunk to a small screen, its text could not be read
    el(
      "svg",
      {
        viewBox: `0 0 ${size.width} ${height}`,
        width: "100%",
        role: "img",
        "aria-label": description,
        fill: "currentColor",
        "font-size": "13",
        style: "min-width:480px;max-width:900px",
      },
      ...content,
    ),
  );
type Point = readonly [x: number, y: number];
const line = (
  [x1, y1]: Point,
  [x2, y2]: Point,
  { width = 1, opacity }: { readonly width?: number; readonly opacity: number },
): Element =>
  el("line", {
    x1,
    y1,
    x2,
    y2,
    stroke: "currentColor",
    "stroke-width": width,
    "stroke-opacity": opacity,
  });
const label = (x: number, y: number, text: string, anchor = "start"): Element =>
  el("text", { x, y, "text-anchor": anchor }, foreignText(text));

const shortened = (text: string, charsMax: number): string =>
  text.length <= charsMax ? text : `${text.slice(0, charsMax - 1)}…`;

/**
 * One row per benchmark: a ring is before, a disc below it is after, each with its interval; small
 * marks are single runs.
 */
function figurePicture(cycle: Cycle, target: string): Element {
  const allFigures = cycle.benchmarks.flatMap((name) =>
    leverStates.flatMap((state) => listFigures(cycle, name, state)),
  );
  const top = target === recallTarget ? 1 : Math.max(1e-9, ...allFigures);
  const bottom = Math.min(0, ...allFigures);
  const rows = cycle.benchmarks.flatMap((name, index) => {
    const y = size.top + index * size.row + size.row / 2;
    return figureRow(cycle, name, y, { bottom, top });
  });

  const height = size.top + cycle.benchmarks.length * size.row + 24;
  const ticks = [bottom, (bottom + top) / 2, top].flatMap((value) => [
    line([toX(value, bottom, top), size.top - 8], [toX(value, bottom, top), height - 22], {
      opacity: 0.15,
    }),
    label(toX(value, bottom, top), height - 6, formatFigure(value), "middle"),
  ]);

  const legend = label(axis.to, 16, "○ before   ● after   — 95 % interval   | one run", "end");
  return svg(
    height,
    `${target} of every benchmark before and after the lever`,
    ...ticks,
    ...rows,
    legend,
  );
}

const leverStates = ["pre-lever", "post-lever"] as const;

/**
 * The row of one benchmark, whose middle is at `y`: before the lever above the middle, after it
 * below.
 */
function figureRow(
  cycle: Cycle,
  name: string,
  y: number,
  { bottom, top }: { readonly bottom: number; readonly top: number },
) {
  const x = (value: number): number => toX(value, bottom, top);
  const clip = (value: number): number => Math.min(top, Math.max(bottom, value));
  const [before = null, after = null] = leverStates.map(
    (state) => computeMeans(cycle, state)[name] ?? null,
  );

  const runs = leverStates.flatMap((state) => {
    const [markTop, markBottom] = state === "pre-lever" ? [y - 18, y - 10] : [y + 10, y + 18];
    const figures = listFigures(cycle, name, state);
    return figures.map((value) =>
      line([x(value), markTop], [x(value), markBottom], { width: 2, opacity: 0.45 }),
    );
  });

  const intervals = leverStates.flatMap((state) => {
    const interval = computeSideInterval(
      listFigures(cycle, name, state),
      `${cycle.name} ${name} ${state}`,
    );

    const sideY = state === "pre-lever" ? y - sideOffset : y + sideOffset;
    return interval === null
      ? []
      : [
          line([x(clip(interval.low)), sideY], [x(clip(interval.high)), sideY], {
            width: 2,
            opacity: 0.6,
          }),
        ];
  });

  const ring = { r: 5, fill: "none", stroke: "currentColor", "stroke-width": 2 };
  const dots = [
    ...(before === null ? [] : [el("circle", { cx: x(before), cy: y - sideOffset, ...ring })]),
    ...(after === null ? [] : [el("circle", { cx: x(after), cy: y + sideOffset, r: 5 })]),
  ];

  const connection =
    before === null || after === null
      ? []
      : [line([x(before), y - sideOffset], [x(after), y + sideOffset], { opacity: 0.35 })];

  const noteText = shortened(describeUncounted(cycle, name) || "not measured yet", noteCharsMax);
  return [
    label(14, y + 4, shortened(name, nameCharsMax)),
    line([axis.from, y], [axis.to, y], { opacity: 0.15 }),
    ...connection,
    ...intervals,
    ...runs,
    ...dots,
    ...(dots.length === 0 ? [label(axis.from, y + 4, noteText)] : []),
  ];
}

/** The mean gain with its interval, on a band that is the noise floor. */
function gainPicture(cycle: Cycle, { mean_gain: mean, interval, gain }: CycleJudgement): Element {
  if (mean === null) return el("p", "No benchmark has a figure on both sides.");
  const values = [
    mean,
    0,
    cycle.noiseFloor,
    -cycle.noiseFloor,
    ...(interval === null ? [] : [interval.low, interval.high]),
    ...Object.values(gain).flatMap((amount) => amount ?? []),
  ];
  const [from, to] = [Math.min(...values) - 0.02, Math.max(...values) + 0.02];
  const x = (value: number): number => toX(value, from, to);
  const y = 48;

  return svg(
    100,
    `mean gain ${formatGain(cycle, mean)}`,
    el("rect", {
      x: x(-cycle.noiseFloor),
      y: 20,
      width: x(cycle.noiseFloor) - x(-cycle.noiseFloor),
      height: 56,
      "fill-opacity": 0.08,
    }),
    line([x(0), 20], [x(0), 76], { opacity: 0.5 }),
    label(14, y + 4, formatGain(cycle, mean)),
    ...(interval === null ? [] : intervalMarks(interval, x, y)),
    el("circle", { cx: x(mean), cy: y, r: 6 }),
    label(x(0), 14, "0", "middle"),
    label(
      14,
      92,
      interval === null ? "no interval: nothing ran twice" : describeInterval(cycle, interval),
    ),
  );
}

const intervalMarks = (
  { low, high }: GainInterval,
  x: (value: number) => number,
  y: number,
): readonly Element[] => [
  line([x(low), y], [x(high), y], { width: 3, opacity: 0.6 }),
  line([x(low), y - 7], [x(low), y + 7], { width: 2, opacity: 0.6 }),
  line([x(high), y - 7], [x(high), y + 7], { width: 2, opacity: 0.6 }),
];

/** On a small screen each row is its own block, so that no word is broken. */
function figureTable(cycle: Cycle, judged: CycleJudgement): Element {
  const [before, after] = [computeMeans(cycle, "pre-lever"), computeMeans(cycle, "post-lever")];
  const cell = (name: string, text: string): Element =>
    el("td.n", { "data-label": name }, foreignText(text));
  return el(
    "table.grid.lists",
    el(
      "thead",
      el(
        "tr",
        ...["Benchmark", "Before", "After", "Gain", "Note"].map((name) =>
          el("th", { scope: "col" }, name),
        ),
      ),
    ),
    el(
      "tbody",
      ...cycle.benchmarks.map((name) =>
        el(
          "tr",
          el("th", { scope: "row" }, foreignText(name)),
          cell("before", formatFigure(before[name] ?? null)),
          cell("after", formatFigure(after[name] ?? null)),
          cell("gain", formatGain(cycle, judged.gain[name] ?? null)),
          el("td", foreignText(describeUncounted(cycle, name))),
        ),
      ),
    ),
  );
}
