// junk: detects returns that fit their schema but have no real content. Pure; every error says which field, what was found, and what is
// expected.
//
// Invariants:
//   J1. A short honest answer passes: only whole values that cannot be meant are refused.
//   J2. Everything inspected is bounded.

import { isEmptyAnswer, isPlaceholder } from "../kit/placeholder.ts";
import { type ClaimText, repeatedClaims, workWithoutEvidence } from "./junk-claims.ts";

/** The agent's prompt, and its earlier return, if known. */
export type ReturnContext = { readonly prompt?: string; readonly previous?: unknown };

/** The part of a JSON Schema that is read here. */
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

export function findJunk(schema: ShownSchema, value: unknown, context: ReturnContext = {}): readonly string[] {
  if (isSchema(value)) return ["this is the JSON Schema itself; expected an object that fits it, filled in with what you did"];
  const reportedClaimTexts = findTexts(schema, value);
  const prompt = toOneLine(context.prompt ?? "");
  return [
    ...reportedClaimTexts.flatMap((claimText) => findFaults(claimText, schema, prompt)),
    ...workWithoutEvidence(value),
    ...repeatedClaims(reportedClaimTexts, value, context.previous),
  ];
}

function findFaults({ path, text, isRequired, about }: ClaimText, schema: ShownSchema, prompt: string): readonly string[] {
  const plain = toOneLine(text);
  const isQuote = quoting.has(path.split(/[.[]/).findLast((part) => /^[a-z]/i.test(part)) ?? "");
  const expected = `expected ${about === "" ? "your own words" : about}`;
  if (plain === "") return [`${path}: is empty; ${expected}`];
  if (isPlaceholder(plain) || (isRequired && isEmptyAnswer(plain))) return [`${path}: "${shown(plain)}" is a placeholder; ${expected}`];
  if (findDescriptions(schema, 0).has(plain.toLowerCase()))
    return [`${path}: "${shown(plain)}" is what the schema says of a field; ${expected}`];
  if (isRequired && !isQuote && plain.length >= copiedCharsMin && prompt.includes(plain))
    return [`${path}: "${shown(plain)}" is copied from what you were told; ${expected}`];
  return [];
}

/** Fields that repeat the prompt on purpose: they name the subject. */
const quoting: ReadonlySet<string> = new Set(["criterion", "expected", "requirement_id", "task_id", "phase_id"]);
const mayBeEmptyPattern = /\bempty if\b/;

function findTexts(schema: ShownSchema, value: unknown): readonly ClaimText[] {
  const reportedClaimTexts: ClaimText[] = [];
  const cursor = (at: ShownSchema, part: unknown, path: string, isRequired: boolean, depth: number): void => {
    if (reportedClaimTexts.length >= textsMax || depth > depthMax) return; // J2
    if (typeof part === "string") {
      // An optional text, or one that may be empty, may be left empty: that says there is nothing.
      const mayBeEmpty = !isRequired || mayBeEmptyPattern.test(at.description ?? "");
      if (part.trim() !== "" || !mayBeEmpty || path.endsWith("]"))
        reportedClaimTexts.push({ path, text: part, isRequired, about: at.description ?? "" });
      return;
    }
    if (Array.isArray(part)) {
      part.forEach((item, nth) => cursor(about(at.items, at.description), item, `${path}[${nth}]`, false, depth + 1));
      return;
    }
    if (typeof part !== "object" || part === null) return;
    for (const [key, item] of Object.entries(part)) {
      const below = Object.hasOwn(at.properties ?? {}, key) ? at.properties?.[key] : undefined;
      cursor(below ?? {}, item, path === "" ? key : `${path}.${key}`, below !== undefined && (at.required ?? []).includes(key), depth + 1);
    }
  };
  cursor(schema, value, "", false, 0);
  return reportedClaimTexts;
}

const about = (items: ShownSchema | undefined, description: string | undefined): ShownSchema =>
  description === undefined ? (items ?? {}) : { description, ...items };

function findDescriptions(schema: ShownSchema, depth: number): ReadonlySet<string> {
  const descriptions = schema.description === undefined ? [] : [toOneLine(schema.description).toLowerCase()];
  if (depth > depthMax) return new Set(descriptions);
  const below = [...Object.values(schema.properties ?? {}), ...(schema.items === undefined ? [] : [schema.items])];
  return new Set([...descriptions, ...below.flatMap((shownSchema) => [...findDescriptions(shownSchema, depth + 1)])]);
}

/** Whether a value is a JSON Schema itself, and not a value that fits one. */
export function isSchema(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const has = (key: string): boolean => Object.hasOwn(value, key);
  return has("$schema") || (has("properties") && (has("required") || (value as { type?: unknown }).type === "object"));
}

const toOneLine = (text: string): string => text.replaceAll(/\s+/g, " ").trim();
const shown = (text: string): string => (text.length <= shownCharsMax ? text : `${text.slice(0, shownCharsMax)}…`);
