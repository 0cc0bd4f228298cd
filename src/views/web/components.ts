// components: the small parts that every page is made of: sections, tables of facts, notices,
// command boxes.

import { formatShortTime } from "./format-numbers.ts";
import { type Child, el, type Element, foreignText } from "./element.ts";
import type { Shape } from "../facts/shape.ts";

export const section = (title: string, subtitle: Child, ...content: readonly Child[]): Element =>
  el(
    "section.section",
    { "aria-label": title },
    el(
      "header",
      el("h2", title),
      subtitle === "" || subtitle === null ? null : el("span.dim", subtitle),
    ),
    ...content,
  );

/** Names and values, one pair below the other. */
export const definitionList = (rows: readonly (readonly [Child, Child])[], classes = ""): Element =>
  el(
    "dl.facts",
    { class: classes },
    rows.map(([name, value]) => [el("dt", name), el("dd", value)]),
  );

/** How much of a limit is used, with a tick at the ratio from which the runner warns. */
export function limitMeter(ratio: number, warningRatio: number, label: string): Element {
  const width = `${Math.min(100, Math.max(0, ratio * 100)).toFixed(1)}%`;
  return el(
    "div.meter",
    { role: "img", "aria-label": label },
    el("i", { class: ratio >= warningRatio ? "over" : "", style: { width } }),
    el("b", { style: { left: `${(warningRatio * 100).toFixed(1)}%` } }),
  );
}

/** One segment a phase, each in the colour of its state. */
export const segmentTrack = (segments: readonly (Shape | "")[], label: string): Element =>
  el(
    "span.track",
    { role: "img", "aria-label": label },
    segments.map((shape) => el("i", { class: shape })),
  );

/** A command in a box that scrolls by itself, with a button to copy it if there is an `onCopy`. */
export const commandBox = (text: string, onCopy?: (text: string) => void): Element =>
  el(
    "div.command",
    el("code", { tabindex: "0", "aria-label": `command: ${text}` }, foreignText(text)),
    onCopy === undefined
      ? null
      : el(
          "button",
          { type: "button", "aria-label": `Copy ${text}`, onClick: () => onCopy(text) },
          "Copy",
        ),
  );

/** What an agent claims: behind a dashed line, and never with the tick that stands for proof. */
export const claimQuote = (text: string): Element => el("blockquote.claim", foreignText(text));

/**
 * `you`: a person has to do something. `bad`: something failed, and a screen reader announces it at
 * once.
 */
type NoticeLook = { readonly icon: Child; readonly kind: "plain" | "you" | "bad" };

export const noticeBox = (
  { icon, kind }: NoticeLook,
  title: Child,
  ...content: readonly Child[]
): Element =>
  el(
    "div.notice",
    { class: kind, role: kind === "bad" ? "alert" : undefined },
    icon,
    el("div", el("strong", title), ...content),
  );

type EmptyState = { readonly icon: Child; readonly title: string; readonly text: string };

/** What a page shows instead of its content while it has none. */
export const emptyState = (
  { icon, title, text }: EmptyState,
  ...content: readonly Child[]
): Element => el("div.panel.blank", icon, el("h2", title), el("p", text), ...content);

/** The most important figures of a page side by side. */
export const figureRow = (
  items: readonly { readonly name: string; readonly value: Child; readonly note: Child }[],
): Element =>
  el(
    "div.figures",
    items.map(({ name, value, note }) =>
      el("div", el("div.label", name), el("b", value), el("small", note)),
    ),
  );

/** The head of a table, one column a name. */
export const tableHead = (...names: readonly string[]): Element =>
  el("thead", el("tr", ...names.map((name) => el("th", { scope: "col" }, name))));

export const timeElement = (iso: string | null): Element | string =>
  iso === null ? "–" : el("time", { datetime: iso, title: `${iso} UTC` }, formatShortTime(iso));
