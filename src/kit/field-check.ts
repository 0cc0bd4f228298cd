// field-check: compiles the schema of a record into fast checks, for files of a million lines. The
// schema stays the only definition of the fields, but running it on every line would build a result
// for each, and nearly every line is valid.
//
// Invariants:
//   F1. A valid record is checked in one pass without allocating. `findFaults` says what is wrong,
//       and is called only for an invalid one.
//   F2. An unknown kind of schema is run itself, so that no schema can be misread.

import * as v from "valibot";
import { pathText, shown } from "./finding.ts";
import { countStringsUnder } from "./json-hazards.ts";
import { findIssues } from "./located-issues.ts";

/**
 * `missing`: required and not there. `type`: of another type. `enum`: none of the allowed words.
 * `null`: optional, and null.
 */
export type FieldFault = {
  readonly key: string;
  readonly kind: "missing" | "type" | "enum" | "null";
  readonly message: string;
};

export type FieldCheck = {
  /** How many names and texts are in a valid record (json-hazards.ts); `unfit` if it is invalid. */
  readonly countStringsIn: (record: Readonly<Record<string, unknown>>) => number;
  readonly findFaults: (record: Readonly<Record<string, unknown>>) => readonly FieldFault[];
};

/** For how many positions in a record the last field is remembered. */
const placesMax = 32;

/** Stands for an invalid record; no count is negative. */
export const unfit = -1;

type Schema = {
  readonly type: string;
  readonly pipe?: readonly {
    readonly kind: string;
    readonly type: string;
    readonly requirement?: unknown;
  }[];
  readonly wrapped?: Schema;
  readonly item?: Schema;
  readonly value?: Schema;
  readonly options?: readonly unknown[];
  readonly literal?: unknown;
  readonly entries?: Readonly<Record<string, Schema>>;
};
type ValueCheck = (value: unknown) => boolean;

/** The fields of a record, without those that are checked elsewhere. Unknown fields pass. */
export function buildFieldCheck(
  schema: { readonly entries: v.ObjectEntries },
  exceptKeys: readonly string[] = [],
): FieldCheck {
  const fields = new Map(
    Object.entries(schema.entries)
      .filter(([key]) => !exceptKeys.includes(key))
      .map(([key, entry]) => [key, buildField(key, entry as v.GenericSchema)]),
  );
  const required = [...fields.values()].filter(({ isRequired }) => isRequired).length;
  // A writer writes the fields of its records in the same order every time: at each position, the
  // field that was there last is tried first.
  const order: { readonly key: string; readonly field: Field | undefined }[] = [];

  const lookUp = (
    key: string,
    place: number,
  ): { readonly key: string; readonly field: Field | undefined } => {
    const entry = { key, field: fields.get(key) };
    if (place < placesMax) order[place] = entry;
    return entry;
  };

  return {
    countStringsIn: (record) => {
      let count = 0;
      let present = 0;
      let place = 0;

      // By the keys that are there: asking for those that are not would be most of the work.
      for (const key in record) {
        const value = record[key];
        const last = order[place];
        const { field } = last !== undefined && last.key === key ? last : lookUp(key, place);
        place++;
        count += 1 + countStringsUnder(key, value);
        if (field === undefined) continue;
        // Texts are checked here: a call for each of a million fields would be most of the work.
        if (
          field.isText && typeof value === "string"
            ? field.shape?.test(value) === false
            : !field.isValid(value)
        ) {
          return unfit;
        }

        if (field.isRequired) present++;
      }

      return present === required ? count : unfit; // F1
    },
    findFaults: (record) =>
      [...fields.values()]
        .filter(({ key, isValid }) => !isValid(record[key]))
        .flatMap((field) => describeFaults(field, record)),
  };
}

type Field = {
  readonly key: string;
  readonly entry: v.GenericSchema;
  readonly isValid: ValueCheck;
  readonly isRequired: boolean;
  /** It only has to be a string, of this shape if there is one. */
  readonly isText: boolean;
  readonly shape: RegExp | null;
};

function buildField(key: string, entry: v.GenericSchema): Field {
  const isValid = buildValueCheck(entry);
  const inner = unwrap(entry);
  const actions = listActions(inner);
  const shape = actions.length === 1 ? findShape(actions) : null;

  return {
    key,
    entry,
    isValid,
    isRequired: !isValid(undefined),
    isText: inner.type === "string" && (actions.length === 0 || shape !== null),
    shape,
  };
}

const unwrap = (schema: Schema): Schema =>
  schema.wrapped === undefined ? schema : unwrap(schema.wrapped);
const listActions = ({ pipe = [] }: Schema): readonly Action[] =>
  pipe.filter(({ kind }) => kind !== "schema");

/**
 * The pattern of a text. Not one with state (`g`, `y`): it would answer differently the second
 * time.
 */
function findShape(actions: readonly Action[]): RegExp | null {
  const [shape] = actions.flatMap(({ type, requirement }) =>
    type === "regex" && requirement instanceof RegExp ? [requirement] : [],
  );
  return shape === undefined || shape.global || shape.sticky ? null : shape;
}

function describeFaults(
  { key, entry }: Field,
  given: Readonly<Record<string, unknown>>,
): FieldFault[] {
  const schema = entry as Schema;
  const value = given[key];
  if (value === undefined) {
    return [{ key, kind: "missing", message: `has no ${key}, expected one` }];
  }

  if (value === null && schema.type === "optional") {
    return [{ key, kind: "null", message: `${key} is null, expected it to be left out` }];
  }

  const choices = listChoices(schema);
  const isEnum = choices !== null && choices.some((word) => typeof word === typeof value);

  if (choices !== null) {
    return [
      {
        key,
        kind: isEnum ? "enum" : "type",
        message: `${key} is ${shown(value)}, expected ${choices.map((word) => shown(word)).join(" or ")}`,
      },
    ];
  }

  const { issues } = findIssues(entry, value);
  const faults = issues.map(({ path, message }) => ({
    key,
    kind: "type" as const,
    message: `${pathText([key, ...path])}: ${message}`,
  }));
  return faults.length > 0
    ? faults
    : [{ key, kind: "type", message: `${key} is ${shown(value)}, expected another kind of value` }];
}

/** The words that a field may be, if its schema lists them. */
function listChoices(schema: Schema): readonly unknown[] | null {
  if (schema.wrapped !== undefined) return listChoices(schema.wrapped);
  if (schema.type === "picklist") return schema.options ?? null;
  return schema.type === "literal" ? [schema.literal] : null;
}

function buildValueCheck(schema: Schema): ValueCheck {
  const actions = listActions(schema);
  if (schema.type === "number") return createNumberCheck(actions) ?? createSchemaCheck(schema);
  if (schema.type === "string") return createTextCheck(actions) ?? createSchemaCheck(schema);

  return (actions.length === 0 ? createPlainCheck(schema) : null) ?? createSchemaCheck(schema); // F2
}

const createSchemaCheck =
  (schema: Schema): ValueCheck =>
  (value) =>
    v.is(schema as unknown as v.GenericSchema, value);

function createPlainCheck({
  type,
  wrapped,
  item,
  value: inner,
  options,
  literal,
  entries,
}: Schema): ValueCheck | null {
  switch (type) {
    case "boolean":
      return (value) => typeof value === "boolean";
    case "unknown":
      return (value) => value !== undefined;
    case "literal":
      return (value) => value === literal;
    case "picklist":
      return (value) => options?.includes(value) === true;
    case "array": {
      const check = item === undefined ? null : buildValueCheck(item);
      return check === null ? null : (value) => Array.isArray(value) && value.every(check);
    }
    case "record": {
      const check = inner === undefined ? null : buildValueCheck(inner);
      return check === null
        ? null
        : (value) => isRecord(value) && Object.values(value).every(check);
    }
    case "loose_object": {
      const checks = Object.entries(entries ?? {}).map(
        ([key, entry]) => [key, buildValueCheck(entry)] as const,
      );
      return (value) => isRecord(value) && checks.every(([key, check]) => check(value[key]));
    }
    case "optional": {
      const check = wrapped === undefined ? null : buildValueCheck(wrapped);
      return check === null ? null : (value) => value === undefined || check(value);
    }
    case "nullable": {
      const check = wrapped === undefined ? null : buildValueCheck(wrapped);
      return check === null ? null : (value) => value === null || check(value);
    }
    default:
      return null; // F2
  }
}

type Action = NonNullable<Schema["pipe"]>[number];

/** A number, whole or within bounds; null if the schema requires more. */
function createNumberCheck(actions: readonly Action[]): ValueCheck | null {
  const known = ["integer", "min_value", "max_value"];
  if (actions.some(({ type }) => !known.includes(type))) return null;
  const readBound = (type: string, fallback: number): number =>
    Number(actions.find((action) => action.type === type)?.requirement ?? fallback);
  const [min, max] = [
    readBound("min_value", Number.NEGATIVE_INFINITY),
    readBound("max_value", Number.POSITIVE_INFINITY),
  ];

  const isWhole = actions.some(({ type }) => type === "integer");
  return (value) =>
    typeof value === "number" &&
    value >= min &&
    value <= max &&
    (!isWhole || Number.isInteger(value));
}

/** A string, of one shape or not too long; null if the schema requires more. */
function createTextCheck(actions: readonly Action[]): ValueCheck | null {
  const lengths = actions.flatMap(({ type, requirement }) =>
    type === "max_length" ? [Number(requirement)] : [],
  );

  const shape = findShape(actions);
  if (lengths.length + (shape === null ? 0 : 1) < actions.length) return null;
  const charsMax = Math.min(...lengths, Number.POSITIVE_INFINITY);

  return (value) =>
    typeof value === "string" && value.length <= charsMax && (shape === null || shape.test(value));
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
