// to-html: elements written as HTML text, for a file that needs no script.
//
// Invariants:
//   T1. Text and attribute values are escaped; names of elements and attributes are ours and checked.
//   T2. What a browser would run or fetch is not written: no handler, no script element, no address but a place in the page itself.

import type { Child, Element } from "./element.ts";

const empty: ReadonlySet<string> = new Set(["br", "hr", "img", "input", "meta", "link"]);
/** In a picture nothing is empty by itself: without the slash what follows would be inside and not be drawn. */
const shapes: ReadonlySet<string> = new Set(["path", "circle", "rect", "line"]);
const refused: ReadonlySet<string> = new Set(["script", "iframe", "object", "embed", "link", "img", "style", "base", "form"]);
const names = /^[a-z][a-zA-Z0-9-]*$/;

export function toHtml(child: Child): string {
  if (child === null || child === undefined || child === false) return "";
  if (typeof child === "string" || typeof child === "number") return escaped(String(child));
  if (isList(child)) return child.map(toHtml).join("");
  return elementHtml(child);
}

const isList = (child: Child): child is readonly Child[] => Array.isArray(child);

function elementHtml({ type, props }: Element): string {
  const { children, ...attributes } = props as { readonly children?: Child } & Readonly<Record<string, unknown>>;
  if (typeof type !== "string" || !names.test(type) || refused.has(type)) return toHtml(children); // T2
  const attributeText = Object.entries(attributes)
    .map(([name, value]) => attributeHtml(name, value))
    .join("");
  if (shapes.has(type)) return `<${type}${attributeText}/>`;
  return empty.has(type) ? `<${type}${attributeText}>` : `<${type}${attributeText}>${toHtml(children)}</${type}>`;
}

function attributeHtml(name: string, value: unknown): string {
  if (value === null || value === undefined || value === false || typeof value === "function" || !names.test(name)) return "";
  if (/^on/i.test(name) || name === "key" || name === "ref" || name === "src") return ""; // T2
  if (name === "style" && typeof value === "object") return ` style="${escaped(styleText(value as Record<string, unknown>))}"`;
  if (value === true) return ` ${name}`;
  if (typeof value !== "string" && typeof value !== "number") return "";
  if (name === "href" && !String(value).startsWith("#")) return ""; // T2
  return ` ${name}="${escaped(String(value))}"`;
}

const styleText = (style: Readonly<Record<string, unknown>>): string =>
  Object.entries(style)
    .map(([name, value]) => `${name}:${String(value)}`)
    .join(";");

/** T1. */
export const escaped = (text: string): string =>
  text.replace(/[&<>"'\0]/g, (char) => (char === "\0" ? "\ufffd" : `&#${char.charCodeAt(0)};`));
