// to-html: writes elements as HTML text, for a file that needs no script.
//
// Invariants:
//   T1. Text and attribute values are escaped; names of elements and attributes are ours and
//       checked.
//   T2. Nothing that a browser would run or fetch is written: no event handler, no script element,
//       no link except to an anchor in the page.

import type { Child, Element } from "./element.ts";

const voidTags: ReadonlySet<string> = new Set(["br", "hr", "img", "input", "meta", "link"]);
/**
 * SVG elements need the closing slash: without it, everything after one would be its child and not
 * be drawn.
 */
const selfClosingTags: ReadonlySet<string> = new Set(["path", "circle", "rect", "line"]);
const refusedTags: ReadonlySet<string> = new Set([
  "script",
  "iframe",
  "object",
  "embed",
  "link",
  "img",
  "style",
  "base",
  "form",
]);
/** Names of elements and attributes: `div`, `aria-label`, `viewBox`. */
const safeNamePattern = /^[a-z][a-zA-Z0-9-]*$/;

/** The HTML of an element, a text or a list of them; what is refused leaves only its children. */
export function toHtml(child: Child): string {
  if (child === null || child === undefined || child === false) return "";
  if (typeof child === "string" || typeof child === "number") return escapeHtml(String(child));
  if (isList(child)) return child.map(toHtml).join("");

  return elementHtml(child);
}

const isList = (child: Child): child is readonly Child[] => Array.isArray(child);

function elementHtml({ type, props }: Element): string {
  const { children, ...attributes } = props as { readonly children?: Child } & Readonly<
    Record<string, unknown>
  >;

  if (typeof type !== "string" || !safeNamePattern.test(type) || refusedTags.has(type)) {
    return toHtml(children);
  } // T2

  const attributeText = Object.entries(attributes)
    .map(([name, value]) => attributeHtml(name, value))
    .join("");

  if (selfClosingTags.has(type)) return `<${type}${attributeText}/>`;
  return voidTags.has(type)
    ? `<${type}${attributeText}>`
    : `<${type}${attributeText}>${toHtml(children)}</${type}>`;
}

function attributeHtml(name: string, value: unknown): string {
  if (
    value === null ||
    value === undefined ||
    value === false ||
    typeof value === "function" ||
    !safeNamePattern.test(name)
  ) {
    return "";
  }

  const isEventAttribute = /^on/i.test(name); // onclick, onLoad
  if (isEventAttribute || name === "key" || name === "ref" || name === "src") return ""; // T2
  if (name === "style" && typeof value === "object") {
    return ` style="${escapeHtml(styleText(value as Record<string, unknown>))}"`;
  }

  if (value === true) return ` ${name}`;
  if (typeof value !== "string" && typeof value !== "number") return "";
  if (name === "href" && !String(value).startsWith("#")) return ""; // T2

  return ` ${name}="${escapeHtml(String(value))}"`;
}

const styleText = (style: Readonly<Record<string, unknown>>): string =>
  Object.entries(style)
    .map(([name, value]) => `${name}:${String(value)}`)
    .join(";");

/** T1 */
export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"'\0]/g, (char) => (char === "\0" ? "\ufffd" : `&#${char.charCodeAt(0)};`));
