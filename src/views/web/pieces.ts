// pieces: the small parts that every page is made of.

import { money, share, shortTime } from "./page-figures.ts";
import { type Child, el, type Element, foreignText } from "./element.ts";
import type { Shape } from "../facts/shape.ts";

export const section = (title: string, beside: Child, ...content: readonly Child[]): Element =>
  el(
    "section.section",
    { "aria-label": title },
    el("header", el("h2", title), beside === "" || beside === null ? null : el("span.dim", beside)),
    ...content,
  );

export const facts = (rows: readonly (readonly [Child, Child])[], classes = ""): Element =>
  el(
    "dl.facts",
    { class: classes },
    rows.map(([name, value]) => [el("dt", name), el("dd", value)]),
  );

/** How much of a limit is used, with a tick where a warning is given. */
export function meter(ratio: number, soft: number, label: string): Element {
  const width = `${Math.min(100, Math.max(0, ratio * 100)).toFixed(1)}%`;
  return el(
    "div.meter",
    { role: "img", "aria-label": label },
    el("i", { class: ratio >= soft ? "over" : "", style: { width } }),
    el("b", { style: { left: `${(soft * 100).toFixed(1)}%` } }),
  );
}

export const track = (segments: readonly (Shape | "")[], label: string): Element =>
  el(
    "span.track",
    { role: "img", "aria-label": label },
    segments.map((shape) => el("i", { class: shape })),
  );

/** A command in a box that scrolls by itself; `onCopy` if it can be copied. */
export const command = (text: string, onCopy?: (text: string) => void): Element =>
  el(
    "div.command",
    el("code", { tabindex: "0", "aria-label": `command: ${text}` }, foreignText(text)),
    onCopy === undefined ? null : el("button", { type: "button", "aria-label": `Copy ${text}`, onClick: () => onCopy(text) }, "Copy"),
  );

/** An agent's words: behind a dashed rule, never with a tick. */
export const claim = (text: string): Element => el("blockquote.claim", foreignText(text));

export const notice = (shape: Child, kind: "plain" | "you" | "bad", title: Child, ...content: readonly Child[]): Element =>
  el("div.notice", { class: kind, role: kind === "bad" ? "alert" : undefined }, shape, el("div", el("strong", title), ...content));

export const blank = (shape: Child, title: string, text: string, ...content: readonly Child[]): Element =>
  el("div.panel.blank", shape, el("h2", title), el("p", text), ...content);

/** Four figures side by side. */
export const figures = (all: readonly { readonly name: string; readonly value: Child; readonly note: Child }[]): Element =>
  el(
    "div.figures",
    all.map(({ name, value, note }) => el("div", el("div.label", name), el("b", value), el("small", note))),
  );

export const time = (iso: string | null): Element | string =>
  iso === null ? "–" : el("time", { datetime: iso, title: `${iso} UTC` }, shortTime(iso));

export { money, share };
