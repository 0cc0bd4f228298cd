// returns: the schemas of what agents return, by name. A return is a claim: it is kept, shown, and
// may send work back; it proves nothing.
//
// Invariant:
//   R1. Only numbers, booleans and enum values may become facts that rows route on. Free text never
//       does.

import { toJsonSchema } from "@valibot/to-json-schema";
import * as v from "valibot";
import { roadmapReturns } from "../contracts/agent-returns.ts";
import type { Says } from "../contracts/outcome.ts";
import { WorkerResult } from "../contracts/portfolio/worker-result.ts";
import { qualityReturns } from "../contracts/quality/quality-returns.ts";
import { pathText } from "../kit/finding.ts";
import { findIssues } from "../kit/located-issues.ts";
import { isSchema, findJunk, type ReturnContext, type ShownSchema } from "./junk.ts";
import { unwrap } from "./unwrap.ts";

const text = (description: string) =>
  v.pipe(v.string(), v.maxLength(20_000), v.description(description));
const texts = (description: string) =>
  v.pipe(
    v.array(v.pipe(v.string(), v.maxLength(4_000))),
    v.maxLength(200),
    v.description(description),
  );
const confidence = v.pipe(
  v.number(),
  v.minValue(0),
  v.maxValue(1),
  v.description("0 to 1: how sure you are that it is right and complete"),
);

const progress = v.looseObject({
  summary: text("what you changed and why, in a few sentences"),
  criteria_done: v.optional(texts("ids or texts of the criteria you believe are met now")),
  files_changed: v.optional(texts("paths you changed")),
  remaining: v.optional(text("what is left to do; empty if nothing")),
  confidence: v.optional(confidence),
});

const review = v.looseObject({
  confidence,
  pass: v.pipe(v.boolean(), v.description("false if the work must be done over")),
  issues: texts("each fault with its file, the worst first; empty if there is none"),
});

/** A staged flow's phase: what was written, and a question for a person, if any. */
const staged = v.looseObject({
  summary: text("what you wrote and decided"),
  artifacts: v.optional(texts("paths you wrote")),
  decisions: v.optional(texts("decisions worth remembering")),
  sub_step: v.optional(
    text(
      "the step of your own work at which you stopped, its number and name: 4 — Architecture Review",
    ),
  ),
  question: v.optional(
    v.pipe(v.boolean(), v.description("true if only a person can say how to go on")),
  ),
  question_text: v.optional(text("the question, where there is one")),
  confidence: v.optional(confidence),
});

const { tasks_completed, tasks_failed, commit_shas, evidence, deviations } =
  roadmapReturns.execute.entries;
/**
 * The executor's return as the roadmap has it; other flows' executors need not report all of it.
 */
const execute = v.looseObject({
  tasks_completed,
  tasks_failed: v.optional(tasks_failed),
  commit_shas: v.optional(commit_shas),
  evidence: v.optional(evidence),
  deviations: v.optional(deviations),
  confidence: v.optional(confidence),
});

export type ReturnSchema = v.GenericSchema<unknown, Record<string, unknown>>;

/** Every return schema a flow may name. */
export const returnSchemas: Readonly<Record<string, ReturnSchema>> = {
  ...roadmapReturns,
  progress,
  review,
  staged,
  execute,
  /** A task of a portfolio. */
  task_result: WorkerResult,
  ...qualityReturns,
};

const errorsMax = 20;
const jsonSchemas = new Map<string, object>();

/** The JSON Schema an agent is shown, or null for an unknown name. Built on first use. */
export function findJsonSchema(name: string): object | null {
  const schema = Object.hasOwn(returnSchemas, name) ? returnSchemas[name] : undefined;
  if (schema === undefined) return null;
  const jsonSchema = jsonSchemas.get(name) ?? toJsonSchema(schema, { errorMode: "ignore" });
  jsonSchemas.set(name, jsonSchema);

  return jsonSchema;
}

/** The facts in an agent's return. Unknown fields, texts, lists and mappings are left out. R1 */
export function extractFacts(schema: ReturnSchema, value: unknown): Says {
  if (typeof value !== "object" || value === null) return {};
  const says: Says = {};

  for (const [field, kind] of Object.entries(listFactFields(schema))) {
    const fieldValue: unknown = Object.hasOwn(value, field)
      ? (value as Record<string, unknown>)[field]
      : undefined;
    if (kind === "number" && typeof fieldValue === "number" && Number.isFinite(fieldValue)) {
      says[field] = fieldValue;
    }

    if (kind === "flag" && typeof fieldValue === "boolean") says[field] = fieldValue;
    if (Array.isArray(kind) && typeof fieldValue === "string" && kind.includes(fieldValue)) {
      says[field] = fieldValue;
    }
  }

  return says;
}

/**
 * `claim` is the valid return, `says` its facts; `isJunk`: it fits the schema but has no real
 * content.
 */
export type Returned =
  | { readonly claim: unknown; readonly says: Says; readonly warning?: string }
  | { readonly errors: readonly string[]; readonly isJunk?: boolean };

/**
 * Validates an agent's return against the schema of that name: the claim with its facts, or its
 * errors, up to `errorsMax`, as text for the agent. A return that fits but has no real content is
 * refused too; a wrapper around a valid return is removed, with a warning.
 */
export function validateReturn(
  name: string,
  value: unknown,
  context: ReturnContext = {},
): Returned {
  const schema = Object.hasOwn(returnSchemas, name) ? returnSchemas[name] : undefined;
  if (schema === undefined) return { errors: [`there is no return schema ${name}`] };
  const result = validateAgainst(schema, name, value, context);
  if ("says" in result) return result;
  for (const innerValue of unwrap(value)) {
    const innerResult = validateAgainst(schema, name, innerValue, context);
    if ("says" in innerResult) {
      return {
        ...innerResult,
        warning: "what it handed back was wrapped in something else; what fits was taken out of it",
      };
    }
  }

  return result;
}

/** Judges one value as it is, without looking inside wrappers. */
function validateAgainst(
  schema: ReturnSchema,
  name: string,
  value: unknown,
  context: ReturnContext,
): Returned {
  const shownSchema = (findJsonSchema(name) ?? {}) as ShownSchema;
  const { value: claim, issues } = findIssues(schema, value);
  const errors = issues.map(({ path, message }) =>
    path.length === 0 ? message : `${pathText(path)}: ${message}`,
  );

  const junkErrors = findJunk(shownSchema, issues.length === 0 ? claim : value, context);
  if (errors.length === 0 && junkErrors.length === 0) {
    return { claim, says: extractFacts(schema, claim) };
  }

  const isJunk = junkErrors.length > 0 && (errors.length === 0 || isSchema(value));
  return { errors: [...errors, ...junkErrors].slice(0, errorsMax), ...(isJunk ? { isJunk } : {}) };
}

/** The values a field may have: a number, a boolean, or one of these words. */
export type SaysKind = "number" | "flag" | readonly string[];

/** The fields of a schema that may become facts. R1 */
export function listFactFields(schema: ReturnSchema): Readonly<Record<string, SaysKind>> {
  const fields: Record<string, SaysKind> = {};
  for (const [name, field] of Object.entries((schema as unknown as SchemaShape).entries ?? {})) {
    let fieldSchema = field;
    while (fieldSchema.wrapped !== undefined) fieldSchema = fieldSchema.wrapped; // an optional field wraps its schema
    const { type, options } = fieldSchema;
    if (type === "number") fields[name] = "number";
    if (type === "boolean") fields[name] = "flag";
    if (type === "picklist" && options !== undefined) {
      fields[name] = options.filter((word) => typeof word === "string");
    }
  }

  return fields;
}

/** The parts of a valibot schema that are read here; its own types hide them. */
type SchemaShape = {
  readonly type: string;
  readonly entries?: Readonly<Record<string, SchemaShape>>;
  readonly wrapped?: SchemaShape;
  readonly options?: readonly unknown[];
};
