// chart-parts: the frame, the texts and the lines that the SVG charts are drawn with.

import { el, type Element } from "./element.ts";

/**
 * From this width on, a chart scrolls sideways on a small screen: shrunk to fit, its texts would be
 * too small to read.
 */
const scrollsFromWidth = 400;

export type ChartSize = { readonly width: number; readonly height: number };
type ChartPart = Element | readonly Element[] | null;

/** The chart as one image. `label` is what a screen reader says of it. */
export function chartFrame(
  { width, height }: ChartSize,
  label: string,
  ...parts: readonly ChartPart[]
): Element {
  const isWide = width > scrollsFromWidth;
  return el(
    "div.chart",
    isWide ? { style: { "overflow-x": "auto" }, tabindex: 0 } : {},
    el(
      "svg",
      {
        viewBox: `0 0 ${width} ${height}`,
        role: "img",
        "aria-label": label,
        style: {
          "max-width": `${Math.round(width * 1.2)}px`,
          ...(isWide ? { "min-width": `${Math.round(width * 0.85)}px` } : {}),
        },
      },
      ...parts,
    ),
  );
}

type TextPlace = {
  readonly x: number;
  readonly y: number;
  readonly anchor?: "start" | "middle" | "end";
};

export const chartText = ({ x, y, anchor = "start" }: TextPlace, text: string): Element =>
  el("text", { x: x.toFixed(1), y: y.toFixed(1), "text-anchor": anchor }, text);

type LineEnds = {
  readonly x1: number;
  readonly y1: number;
  readonly x2: number;
  readonly y2: number;
};
/** `colour`: a custom property of the style sheet. `dash`: as `stroke-dasharray` takes it. */
type LineStyle = { readonly colour?: string; readonly dash?: string };

export const chartLine = (
  { x1, y1, x2, y2 }: LineEnds,
  { colour = "--line", dash = "" }: LineStyle = {},
): Element =>
  el("line", {
    x1: x1.toFixed(1),
    y1: y1.toFixed(1),
    x2: x2.toFixed(1),
    y2: y2.toFixed(1),
    style: { stroke: `var(${colour})`, ...(dash === "" ? {} : { "stroke-dasharray": dash }) },
  });

type Grid = {
  readonly left: number;
  readonly right: number;
  /** The value of the highest line. */
  readonly top: number;
  readonly yOf: (value: number) => number;
  readonly format: (value: number) => string;
};

/** Lines at nothing, half and all of `top`, each with its value at the left edge. */
export const gridLines = ({ left, right, top, yOf, format }: Grid): readonly Element[] =>
  [0, 0.5, 1].flatMap((part) => {
    const y = yOf(top * part);
    return [
      chartLine({ x1: left, y1: y, x2: right, y2: y }),
      chartText({ x: 0, y: y + 4 }, format(top * part)),
    ];
  });
