// junk: detects returns that fit their schema but have no real content. Pure; every error says
// which field, what was found, and what is expected.
//
// Invariants:
//   J1. A short honest answer passes: only whole values that cannot be meant are refused.
//   J2. Everything inspected is bounded.

import { isEmptyAnswer, isPlaceholder } from "../kit/placeholder.ts";
import { type ClaimText, findRepeatedClaims, findWorkWithoutEvidence } from "./junk-claims.ts";

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
/** A shorter text may repeat the prompt by chance. */
const copiedCharsMin = 60;

/** Everything that is wrong with a return, as text for the agent; empty if it has content. */
export function findJunk(
  schema: ShownSchema,
  value: unknown,
  context: ReturnContext = {},
): readonly string[] {
  if (isSchema(value)) {
    return [
      "this is the JSON Schema itself; expected an object that fits it, filled in with what you did",
    ];
  }

  const claimTexts = findTexts(schema, value);
  const prompt = toOneLine(context.prompt ?? "");
  return [
    ...claimTexts.flatMap((claimText) => findFirstFault(claimText, schema, prompt)),
    ...findWorkWithoutEvidence(value),
    ...findRepeatedClaims(claimTexts, value, context.previous),
  ];
}

/** The first fault of one text, if any. J1 */
function findFirstFault(
  { path, text, isRequired, description }: ClaimText,
  schema: ShownSchema,
  prompt: string,
): readonly string[] {
  const plainText = toOneLine(text);
  const fieldName = path.split(/[.[]/).findLast((part) => /^[a-z]/i.test(part)) ?? ""; // evidence[0].criterion → criterion
  const expected = `expected ${description === "" ? "your own words" : description}`;
  if (plainText === "") return [`${path}: is empty; ${expected}`];
  if (isPlaceholder(plainText) || (isRequired && isEmptyAnswer(plainText))) {
    return [`${path}: "${shorten(plainText)}" is a placeholder; ${expected}`];
  }

  if (findDescriptions(schema, 0).has(plainText.toLowerCase())) {
    return [`${path}: "${shorten(plainText)}" is what the schema says of a field; ${expected}`];
  }

  if (
    isRequired &&
    !quotingFields.has(fieldName) &&
    plainText.length >= copiedCharsMin &&
    prompt.includes(plainText)
  ) {
    return [`${path}: "${shorten(plainText)}" is copied from what you were told; ${expected}`];
  }

  return [];
}

/** Fields that repeat the prompt on purpose: they name the subject. */
const quotingFields: ReadonlySet<string> = new Set([
  "criterion",
  "expected",
  "requirement_id",
  "task_id",
  "phase_id",
]);
const mayBeEmptyPattern = /\bempty if\b/;

/** A value in a return, and what the schema says of it. */
type ReturnedValue = {
  readonly value: unknown;
  readonly schema: ShownSchema;
  readonly path: string;
  readonly isRequired: boolean;
};

/** The texts of a return, with the schema of each. */
function findTexts(schema: ShownSchema, value: unknown): readonly ClaimText[] {
  const claimTexts: ClaimText[] = [];
  const visit = (returned: ReturnedValue, depth: number): void => {
    if (claimTexts.length >= textsMax || depth > depthMax) return; // J2
    if (typeof returned.value === "string") {
      claimTexts.push(...toClaimText(returned, returned.value));
    } else {
      for (const child of listChildren(returned)) visit(child, depth + 1);
    }
  };
  visit({ value, schema, path: "", isRequired: false }, 0);

  return claimTexts;
}

/**
 * An optional text, or one that may be empty, may be left empty: that says there is nothing. Then
 * there is no text to judge.
 */
function toClaimText(
  { schema, path, isRequired }: ReturnedValue,
  text: string,
): readonly ClaimText[] {
  const { description = "" } = schema;
  const isListItem = path.endsWith("]");
  const mayBeEmpty = !isListItem && (!isRequired || mayBeEmptyPattern.test(description));

  return text.trim() === "" && mayBeEmpty ? [] : [{ path, text, isRequired, description }];
}

/** The items of a list or the fields of an object. */
function listChildren({ value, schema, path }: ReturnedValue): readonly ReturnedValue[] {
  if (typeof value !== "object" || value === null) return [];
  if (Array.isArray(value)) {
    const itemSchema =
      schema.description === undefined
        ? (schema.items ?? {})
        : { description: schema.description, ...schema.items };

    return value.map((item: unknown, index) => ({
      value: item,
      schema: itemSchema,
      path: `${path}[${index}]`,
      isRequired: false,
    }));
  }

  return Object.entries(value as Readonly<Record<string, unknown>>).map(([key, item]) => {
    const fieldSchema = Object.hasOwn(schema.properties ?? {}, key)
      ? schema.properties?.[key]
      : undefined;
    const isRequired = fieldSchema !== undefined && (schema.required ?? []).includes(key);
    return {
      value: item,
      schema: fieldSchema ?? {},
      path: path === "" ? key : `${path}.${key}`,
      isRequired,
    };
  });
}

/** Every description in a schema. */
function findDescriptions(schema: ShownSchema, depth: number): ReadonlySet<string> {
  const descriptions =
    schema.description === undefined ? [] : [toOneLine(schema.description).toLowerCase()];
  if (depth > depthMax) return new Set(descriptions);
  const innerSchemas = [
    ...Object.values(schema.properties ?? {}),
    ...(schema.items === undefined ? [] : [schema.items]),
  ];

  return new Set([
    ...descriptions,
    ...innerSchemas.flatMap((innerSchema) => [...findDescriptions(innerSchema, depth + 1)]),
  ]);
}

/** Whether a value is a JSON Schema itself, and not a value that fits one. */
export function isSchema(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const has = (key: string): boolean => Object.hasOwn(value, key);
  return (
    has("$schema") ||
    (has("properties") && (has("required") || (value as { type?: unknown }).type === "object"))
  );
}

const toOneLine = (text: string): string => text.replaceAll(/\s+/g, " ").trim();
const shorten = (text: string): string =>
  text.length <= shownCharsMax ? text : `${text.slice(0, shownCharsMax)}…`;
