// element: elements of a page, made the same way for the browser and for a file. Text is only ever a text node or escaped.

import { h, type VNode } from "preact";

export type Element = VNode;
export type Child = Element | string | number | null | undefined | false | readonly Child[];
type Props = Readonly<Record<string, unknown>>;

/** `el("div.panel.wide", { role: "img" }, …)`. */
export function el(name: string, ...rest: readonly (Props | Child)[]): Element {
  const [tag = "div", ...classes] = name.split(".");
  const [first] = rest;
  const props: Props | null = isProps(first) ? first : null;
  const own = props?.["class"];
  const all = typeof own === "string" && own !== "" ? [...classes, own] : classes;
  const children = (props === null ? rest : rest.slice(1)) as Child[];
  return h(tag, { ...props, ...(all.length === 0 ? {} : { class: all.join(" ") }) }, ...children.map(kept));
}

/** Elements of Preact have no constructor of their own, so that JSON can never be taken for one. */
const isProps = (value: unknown): value is Props =>
  typeof value === "object" && value !== null && !Array.isArray(value) && (value as { constructor?: unknown }).constructor === Object;

// A number is shown, also where it is 0.
const kept = (child: Child): Child => (typeof child === "number" ? String(child) : child);

// What steers a terminal, hides or turns text round is shown by its code point instead of being obeyed.
const hazards = /([\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb])/;

/** Text of others. */
export function said(text: string): Child {
  if (!hazards.test(text)) return text;
  return text
    .split(hazards)
    .map((part, at) => (at % 2 === 0 ? part : el("span.code-point", { title: "shown, not obeyed" }, codePoint(part))));
}

const codePoint = (char: string): string => `U+${char.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
