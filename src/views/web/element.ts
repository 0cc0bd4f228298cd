// element: elements of a page, made the same way for the browser and for a file. Text is only ever a text node or escaped.

import { h, type VNode } from "preact";

export type Element = VNode;
export type Child = Element | string | number | null | undefined | false | readonly Child[];
type Props = Readonly<Record<string, unknown>>;

/** `el("div.panel.wide", { role: "img" }, …)`. */
export function el(name: string, ...rest: (Props | Child)[]): Element {
  const { tag, classes } = parseName(name);
  const props: Props | null = isProps(rest[0]) ? rest[0] : null;
  const propClass = props?.["class"];
  const allClasses = [classes, typeof propClass === "string" ? propClass : ""].filter((text) => text !== "").join(" ");
  if (props !== null) rest.shift();
  return h(tag, allClasses === "" ? props : { ...props, class: allClasses }, ...(rest as Child[]));
}

type Name = { readonly tag: string; readonly classes: string };
const names = new Map<string, Name>();

/** Cached: a page has thousands of elements, but only a hundred names. */
function parseName(name: string): Name {
  const cached = names.get(name);
  if (cached !== undefined) return cached;
  const [tag = "div", ...classes] = name.split(".");
  const parsed = { tag, classes: classes.join(" ") };
  if (names.size < namesMax) names.set(name, parsed);
  return parsed;
}
const namesMax = 1_000;

/** Elements of Preact have no constructor of their own, so that JSON can never be taken for one. */
const isProps = (value: unknown): value is Props =>
  typeof value === "object" && value !== null && !Array.isArray(value) && (value as { constructor?: unknown }).constructor === Object;

// Control characters, and characters that hide or reorder text.
const hazards = /([\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb])/;

/** Text of agents, repositories and people, safe to show: characters that hide or reorder text appear as their code points. */
export function foreignText(text: string): Child {
  if (!hazards.test(text)) return text;
  return text
    .split(hazards)
    .map((part, index) => (index % 2 === 0 ? part : el("span.code-point", { title: "shown, not obeyed" }, codePoint(part))));
}

const codePoint = (char: string): string => `U+${char.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
