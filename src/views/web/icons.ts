// icons: the SVG icons of states and pages, 16 by 16, in the colour of the text around them.

import type { Shape } from "../facts/shape.ts";
import { el, type Element } from "./element.ts";

// Stroke and fill come from the style sheet by class: a page has hundreds of icons, and repeating
// them in each would make it larger.
const line = (d: string): Element => el("path.line", { d });
const fill = (d: string): Element => el("path.full", { d });
/** A line in the background's colour, which looks cut out of a filled shape. */
const cutOut = (d: string): Element => el("path.cut-out", { d });
const ring = (r = 6.2, more: Record<string, string> = {}): Element =>
  el("circle.line", { cx: "8", cy: "8", r: String(r), ...more });

export type Icon =
  | Shape
  | "now"
  | "inbox"
  | "runs"
  | "log"
  | "diff"
  | "portfolio"
  | "fleet"
  | "cost"
  | "settings"
  | "more"
  | "logo"
  | "tick"
  | "shield";

const drawings: Readonly<Record<Icon, () => readonly Element[]>> = {
  run: () => [ring(), fill("M6.5 5.2v5.6L11.1 8z")],
  you: () => [fill("M8 .9 15.1 8 8 15.1.9 8z"), cutOut("M8 4.7v3.7M8 11.1v.1")],
  ok: () => [el("circle.full", { cx: "8", cy: "8", r: "7" }), cutOut("M4.9 8.2l2.2 2.2 4.1-4.5")],
  gap: () => [ring(), fill("M8 1.8a6.2 6.2 0 0 1 0 12.4z")],
  unproved: () => [ring(6.2, { "stroke-dasharray": "2.6 2.3" })],
  bad: () => [
    fill("M5.2 1h5.6L15 5.2v5.6L10.8 15H5.2L1 10.8V5.2z"),
    cutOut("M5.8 5.8l4.4 4.4M10.2 5.8l-4.4 4.4"),
  ],
  parked: () => [ring(), line("M8 4.6V8l2.4 1.5")],
  paused: () => [line("M2.6 2.6h10.8v10.800H2.600z"), line("M6.300 5.800v4.400M9.700 5.800v4.400")],
  waits: () => [ring(4)],
  again: () => [
    line("M13.400 9.600A5.700 5.700 0 1 1 12 4.100"),
    line("M12.500 1.500v2.900H9.600"),
  ],
  skipped: () => [ring(), line("M5.300 8h5.400")],
  stopped: () => [fill("M3 3h10v10H3z")],
  claim: () => [line("M2 3h12v7.800H7L4 13.300v-2.500H2z")],
  now: () => [line("M1.500 8.500h3l2-5 3 9 2-4h3")],
  inbox: () => [line("M2 9l2-6h8l2 6v4H2zM2 9h3.600l1 1.700h2.800l1-1.700H14")],
  runs: () => [line("M2 3.500h5M5 8h6M9 12.500h5")],
  log: () => [line("M2.500 4h11M2.500 8h11M2.500 12h7")],
  diff: () => [line("M8 2.500v6M5 5.500h6M5 13h6")],
  portfolio: () => [
    line("M2.500 2.500H7V7H2.500zM9 2.500h4.500V7H9zM2.500 9H7v4.500H2.500zM9 9h4.500v4.500H9z"),
  ],
  fleet: () => [
    line("M2.500 2.500h11V6h-11zM2.500 10h11v3.500h-11zM8 6v4M4.800 4.250h.1M4.800 11.750h.1"),
  ],
  cost: () => [line("M3 13.500V9M8 13.500v-11M13 13.500V6")],
  settings: () => [
    line("M2 5h6M12 5h2M2 11h2M8 11h6"),
    ring(1.7, { cx: "10", cy: "5" }),
    ring(1.7, { cx: "6", cy: "11" }),
  ],
  more: () => [line("M3.500 8h.1M8 8h.1M12.500 8h.1")],
  logo: () => [line("M8 1.600 13.800 14 8 10.900 2.200 14z")],
  tick: () => [line("M2.600 8.600l3.400 3.400 7.400-8")],
  shield: () => [
    line("M8 1.500l5.500 2v4c0 3.500-2.500 5.800-5.500 7-3-1.200-5.500-3.500-5.500-7v-4z"),
  ],
};

export const icon = (name: Icon, classes = ""): Element =>
  el(
    "svg",
    { viewBox: "0 0 16 16", "aria-hidden": "true", class: `icon ${classes}`.trim() },
    drawings[name](),
  );

/** The icon of a state, in the colour of that state. */
export const stateIcon = (shape: Shape): Element => icon(shape, `c-${shape}`);

/** A state as its icon and its word. */
export const stateLabel = (shape: Shape, word: string): Element =>
  el(`span.status.c-${shape}`, icon(shape), el("span", word));
