// located-issues: describes why a value does not fit a schema, in words a person can act on: the
// deepest cause, every unknown key, the nearest known one.

import * as v from "valibot";
import { shown, type DataPath } from "./finding.ts";
import { didYouMean } from "./suggest.ts";

export type SchemaIssue = {
  readonly path: DataPath;
  readonly isAboutKey: boolean;
  readonly rule: string;
  readonly message: string;
};

/** Recursive schemas are opened no further. */
const schemasMax = 200;
/** More known keys than that are not listed. */
const listedKeysMax = 12;

/** The value as the schema reads it, and what is wrong with it. */
export function findIssues<S extends v.GenericSchema>(
  schema: S,
  value: unknown,
): { readonly value: v.InferOutput<S>; readonly issues: readonly SchemaIssue[] } {
  const result = v.safeParse(schema, value);
  const issues = [
    ...findListsForMappings(schema, value),
    ...(result.issues ?? []).flatMap((issue) => findCauses(issue, [], schema)),
  ];

  const seen = new Set<string>();
  const distinct = issues.filter((issue) => {
    const key = JSON.stringify([issue.path, issue.rule]);
    if (seen.has(key)) return false;
    seen.add(key);

    return true;
  });

  return { value: result.output, issues: distinct };
}

type LibraryIssue = v.BaseIssue<unknown>;

/** The causes of an issue. `prefix`: the path of the value that the library's path begins at. */
function findCauses(issue: LibraryIssue, prefix: DataPath, schema: v.GenericSchema): SchemaIssue[] {
  const path = [...prefix, ...(issue.path ?? []).map((item) => item.key as string | number)];
  if (issue.issues !== undefined) {
    // A union has the issues of every member. The member that got deepest into the value is the one
    // that was meant.
    const depth = Math.max(...issue.issues.map((inner) => inner.path?.length ?? 0));
    const isMapping = typeof issue.input === "object" && issue.input !== null;
    const deepest =
      depth === 0 || !isMapping
        ? []
        : issue.issues.filter((inner) => (inner.path?.length ?? 0) === depth);
    const unknown = deepest.filter(isUnknownKey);
    const closest = unknown.length > 0 ? unknown : deepest;
    if (closest.length > 0) return closest.flatMap((inner) => findCauses(inner, path, schema));
    const custom = issue.issues.find(
      (inner) => typeof inner.input === typeof issue.input && inner.kind === "validation",
    );
    if (custom !== undefined) return findCauses(custom, path, schema);
  }

  if (isUnknownKey(issue)) return listUnknownKeys(issue, path, schema);
  const last = issue.path?.at(-1);
  if (last !== undefined && "origin" in last && last.origin === "key") {
    return [
      {
        path,
        isAboutKey: false,
        rule: "missing_key",
        message: `found no ${path.at(-1)}, expected one`,
      },
    ];
  }

  const isWrongType = issue.kind === "schema";
  return [
    {
      path,
      isAboutKey: false,
      rule: isWrongType ? "wrong_type" : "wrong_value",
      message: `found ${shown(issue.input)}, ${describeExpected(issue)}`,
    },
  ];
}

const isUnknownKey = (issue: LibraryIssue): boolean =>
  issue.expected === "never" && issue.type.startsWith("strict");

/** The schema stops at the first unknown key; a person wants to see all of them. */
function listUnknownKeys(
  issue: LibraryIssue,
  path: DataPath,
  schema: v.GenericSchema,
): SchemaIssue[] {
  const parent = path.slice(0, -1);
  const known = new Set(
    findSchemas(schema, parent).flatMap(({ entries = {} }) => Object.keys(entries)),
  );

  const mapping = issue.path?.at(-1)?.input;
  const keys =
    typeof mapping === "object" && mapping !== null && known.size > 0
      ? Object.keys(mapping).filter((key) => !known.has(key))
      : [String(path.at(-1))];

  const names = [...known].sort();
  const list = names.length <= listedKeysMax ? `: ${names.join(", ")}` : "";
  return keys.map((key) => ({
    path: [...parent, key],
    isAboutKey: true,
    rule: "unknown_key",
    message: `found the unknown key ${shown(key)}, expected one of the ${names.length} known ones${list}.${didYouMean(key, known)}`,
  }));
}

function describeExpected(issue: LibraryIssue): string {
  // A message that a schema gives is kept; the library's own are worded like ours.
  if (!issue.message.startsWith("Invalid ")) {
    return issue.message.startsWith("expected") ? issue.message : `expected ${issue.message}`;
  }

  const expected = (issue.expected ?? "another value")
    .replaceAll("Object", "a mapping")
    .replaceAll("Array", "a list")
    .replaceAll(/\bstring\b(?!")/g, "text") // a word in quotes is one of the file's own
    .replaceAll(/\bboolean\b(?!")/g, "true or false")
    .replaceAll(/\bnumber\b(?!")/g, "a number");
  return `expected ${expected.replace(/^\((.*)\)$/, "$1").replaceAll(" | ", " or ")}`;
}

/** The library lets a list pass for a mapping whose keys are all optional; we do not. */
function findListsForMappings(schema: v.GenericSchema, value: unknown): SchemaIssue[] {
  const issues: SchemaIssue[] = [];
  const visit = (item: unknown, path: DataPath): void => {
    if (Array.isArray(item)) {
      const types = findSchemas(schema, path).map(({ type }) => type);
      if (types.length > 0 && types.every((type) => /object|^record$/.test(type))) {
        issues.push({
          path,
          isAboutKey: false,
          rule: "wrong_type",
          message: "found a list, expected a mapping",
        });
      }

      item.forEach((inner, index) => visit(inner, [...path, index]));
    } else if (typeof item === "object" && item !== null) {
      for (const [key, inner] of Object.entries(item)) visit(inner, [...path, key]);
    }
  };
  visit(value, []);

  return issues;
}

type AnySchema = {
  readonly type: string;
  readonly entries?: Readonly<Record<string, AnySchema>>;
  readonly item?: AnySchema;
  readonly value?: AnySchema;
  readonly wrapped?: AnySchema;
  readonly options?: readonly unknown[];
  readonly getter?: (input: unknown) => AnySchema;
};

/** Every schema that may apply at a path, with unions and wrappers opened. */
function findSchemas(schema: v.GenericSchema, path: DataPath): AnySchema[] {
  let schemas = openWrappers([schema]);
  for (const part of path) {
    const inner = schemas.flatMap((parent) => [
      Object.hasOwn(parent.entries ?? {}, part) ? parent.entries?.[part] : undefined,
      parent.item,
      parent.type === "record" ? parent.value : undefined,
    ]);
    schemas = openWrappers(inner.filter((candidate) => candidate !== undefined));
  }

  return schemas;
}

function openWrappers(schemas: readonly AnySchema[]): AnySchema[] {
  const leaves: AnySchema[] = [];
  const queue = [...schemas];
  while (queue.length > 0 && leaves.length < schemasMax) {
    const schema = queue.shift();
    if (schema === undefined) break;
    if (schema.type === "lazy" && schema.getter !== undefined) {
      queue.push(schema.getter(undefined));
    } else if (schema.wrapped !== undefined) {
      queue.push(schema.wrapped);
    } else if (
      (schema.type === "union" || schema.type === "variant") &&
      schema.options !== undefined
    ) {
      queue.push(...(schema.options as AnySchema[]));
    } else {
      leaves.push(schema);
    }
  }

  return leaves;
}
