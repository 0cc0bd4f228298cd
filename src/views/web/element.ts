// element: creates the elements of a page, for the browser and for an HTML file alike. Text never
// becomes markup: it is a text node in the browser and escaped in a file.

import { h, type VNode } from "preact";

export type Element = VNode;
export type Child = Element | string | number | null | undefined | false | readonly Child[];
type Props = Readonly<Record<string, unknown>>;

/**
 * `el("div.panel.wide", { role: "img" }, …)` creates a `div` with the classes `panel` and `wide`.
 * The properties may be left out.
 */
export function el(name: string, ...rest: (Props | Child)[]): Element {
  const { tag, classes } = parseName(name);
  const props: Props | null = isProps(rest[0]) ? rest[0] : null;
  const propClass = props?.["class"];
  const allClasses = [classes, typeof propClass === "string" ? propClass : ""]
    .filter((text) => text !== "")
    .join(" ");

  if (props !== null) rest.shift();
  return h(tag, allClasses === "" ? props : { ...props, class: allClasses }, ...(rest as Child[]));
}

type Name = { readonly tag: string; readonly classes: string };
const parsedNames = new Map<string, Name>();

/**
 * `div.panel.wide` → the tag `div`, the classes `panel wide`. Cached: a page has thousands of
 * elements, but only a hundred names.
 */
function parseName(name: string): Name {
  const cached = parsedNames.get(name);
  if (cached !== undefined) return cached;
  const [tag = "div", ...classes] = name.split(".");
  const parsed = { tag, classes: classes.join(" ") };
  if (parsedNames.size < parsedNamesMax) parsedNames.set(name, parsed);

  return parsed;
}
const parsedNamesMax = 1_000;

/**
 * Whether an argument of `el` is properties, not a child. Preact's elements have `constructor:
 * undefined`, a plain object has `Object`.
 */
const isProps = (value: unknown): value is Props =>
  typeof value === "object" &&
  value !== null &&
  !Array.isArray(value) &&
  (value as { constructor?: unknown }).constructor === Object;

// Control characters, and characters that hide or reorder text, such as U+200B (zero-width space)
// and U+202E (right-to-left override).
const hiddenCharacters =
  /([\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb])/;

/**
 * Text of agents, repositories and people, safe to show: characters that hide or reorder text
 * appear as their code points.
 */
export function foreignText(text: string): Child {
  if (!hiddenCharacters.test(text)) return text;
  return text
    .split(hiddenCharacters)
    .map((part, index) =>
      index % 2 === 0
        ? part
        : el("span.code-point", { title: "shown, not obeyed" }, codePoint(part)),
    );
}

const codePoint = (char: string): string =>
  `U+${char.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
