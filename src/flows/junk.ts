// junk: what fits a return's schema and is no answer all the same. Pure; every error says which field, what was found, and what is expected.
//
// Invariants:
//   J1. A short honest answer passes: only whole values that nobody could mean are refused.
//   J2. Everything looked at is bounded.

import { type Told, toldTwice, workWithoutEvidence } from "./junk-claims.ts";

/** What the agent was told, and what it handed back before, where that is known. */
export type ReturnContext = { readonly prompt?: string; readonly previous?: unknown };

/** As far as a JSON Schema is looked into here. */
export type ShownSchema = {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, ShownSchema>>;
  readonly items?: ShownSchema;
  readonly required?: readonly string[];
};

const textsMax = 1_000;
const depthMax = 6;
const shownCharsMax = 80;
const copiedCharsMin = 60;

export function junkIn(schema: ShownSchema, value: unknown, context: ReturnContext = {}): readonly string[] {
  if (isSchema(value)) return ["this is the JSON Schema itself; expected an object that fits it, filled in with what you did"];
  const told = textsIn(schema, value);
  const prompt = flat(context.prompt ?? "");
  return [
    ...told.flatMap((one) => wrongWith(one, schema, prompt)),
    ...workWithoutEvidence(value),
    ...toldTwice(told, value, context.previous),
  ];
}

function wrongWith({ path, text, isRequired, about }: Told, schema: ShownSchema, prompt: string): readonly string[] {
  const plain = flat(text);
  const expected = `expected ${about === "" ? "your own words" : about}`;
  if (plain === "") return [`${path}: is empty; ${expected}`];
  if (isPlaceholder(plain) || (isRequired && isNothing(plain))) return [`${path}: "${shown(plain)}" is a placeholder; ${expected}`];
  if (descriptionsIn(schema, 0).has(plain.toLowerCase()))
    return [`${path}: "${shown(plain)}" is what the schema says of a field; ${expected}`];
  if (isRequired && plain.length >= copiedCharsMin && prompt.includes(plain))
    return [`${path}: "${shown(plain)}" is copied from what you were told; ${expected}`];
  return [];
}

const placeholderWords = new Set([
  ..."todo tbd fixme xxx tbc wip string text value number boolean object array foo bar foobar asdf qwerty".split(" "),
  ..."example sample placeholder dummy summary description content".split(" "),
]);

/** A whole value that stands for one that is missing. J1 */
function isPlaceholder(plain: string): boolean {
  const words = plain.toLowerCase().replaceAll(/^[\W_]+|[\W_]+$/g, "");
  if (/^[.…_*?]+$/.test(plain) || /^<[^<>]{1,80}>$/.test(plain) || /^\{{1,2}[^{}]{1,80}\}{1,2}$/.test(plain)) return true;
  if (/^\[[^[\]]{1,80}\]$/.test(plain) && /\b(?:your|insert|here|text|todo|summary|description)\b/i.test(plain)) return true;
  if (placeholderWords.has(words) || words.startsWith("lorem ipsum")) return true;
  if (/^(?:todo|tbd|fixme)\b[\s:,-]/i.test(words) && words.length < 60) return true;
  return /^(?:(?:a |the |my |your |some )?(?:test|example|sample|dummy|placeholder|fake|mock) (?:root cause|summary|description|text|value|string|result|answer|title|issue|evidence|output|data|return)s?|(?:your|insert|enter|put|add|write) .{0,60}\bhere|(?:your|the) (?:summary|answer|text|description|result)|what you (?:did|changed))$/.test(
    words,
  );
}

/** Nothing to tell is an answer where nothing may be told, and none where something must be. */
const isNothing = (plain: string): boolean =>
  /^(?:n\/?a|none|null|nil|undefined|nothing|empty|not applicable|-+|—)$/i.test(plain.replace(/\.$/, ""));

function textsIn(schema: ShownSchema, value: unknown): readonly Told[] {
  const told: Told[] = [];
  const walk = (at: ShownSchema, part: unknown, path: string, isRequired: boolean, depth: number): void => {
    if (told.length >= textsMax || depth > depthMax) return; // J2
    if (typeof part === "string") {
      // An optional text may be left empty: that says there is nothing.
      if (part.trim() !== "" || isRequired || path.endsWith("]")) told.push({ path, text: part, isRequired, about: at.description ?? "" });
      return;
    }
    if (Array.isArray(part)) {
      part.forEach((item, nth) => walk(about(at.items, at.description), item, `${path}[${nth}]`, false, depth + 1));
      return;
    }
    if (typeof part !== "object" || part === null) return;
    for (const [key, item] of Object.entries(part)) {
      const below = Object.hasOwn(at.properties ?? {}, key) ? at.properties?.[key] : undefined;
      walk(below ?? {}, item, path === "" ? key : `${path}.${key}`, below !== undefined && (at.required ?? []).includes(key), depth + 1);
    }
  };
  walk(schema, value, "", false, 0);
  return told;
}

const about = (items: ShownSchema | undefined, description: string | undefined): ShownSchema =>
  description === undefined ? (items ?? {}) : { description, ...items };

function descriptionsIn(schema: ShownSchema, depth: number): ReadonlySet<string> {
  const own = schema.description === undefined ? [] : [flat(schema.description).toLowerCase()];
  if (depth > depthMax) return new Set(own);
  const below = [...Object.values(schema.properties ?? {}), ...(schema.items === undefined ? [] : [schema.items])];
  return new Set([...own, ...below.flatMap((one) => [...descriptionsIn(one, depth + 1)])]);
}

/** Whether a value is a JSON Schema, and not something that fits one. */
export function isSchema(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const has = (key: string): boolean => Object.hasOwn(value, key);
  return has("$schema") || (has("properties") && (has("required") || (value as { type?: unknown }).type === "object"));
}

const flat = (text: string): string => text.replaceAll(/\s+/g, " ").trim();
const shown = (text: string): string => (text.length <= shownCharsMax ? text : `${text.slice(0, shownCharsMax)}…`);
