// import-list: reads projects and tasks from a YAML or JSON file. All mistakes are reported
// together, those that are shown with file and line; of a file that can't be parsed, only why.

import * as v from "valibot";
import { type PortfolioBudget, Priority } from "../../contracts/portfolio/portfolio-journal.ts";
import { findJsonFlaws } from "../../documents/json-flaws.ts";
import { locateJsonItems, locateJsonValue, positionAt } from "../../documents/json-place.ts";
import { type DataPath, pathText } from "../../kit/finding.ts";
import { isRefused, parseLocated } from "../../kit/located.ts";
import { findIssues } from "../../kit/located-issues.ts";
import { didYouMean } from "../../kit/suggest.ts";
import { oneLine } from "../../views/wording.ts";
import { parseBudget } from "./task-notation.ts";
import { problemsMax, type TaskDraft } from "./draft-tasks.ts";

const excerptCharsMax = 40;
/**
 * Half a surrogate pair, which a JSON escape can produce, has no UTF-8 form, so it could not be
 * written to a file.
 */
const text = v.pipe(
  v.string(),
  v.check((value) => !/\p{Surrogate}/u.test(value), "a text of whole characters"),
);

const ImportedProject = v.strictObject({
  name: v.pipe(text, v.minLength(1)),
  repo: text,
  objective: v.optional(text),
  priority: v.optional(Priority),
  target: v.optional(text),
  hub: v.optional(text),
  slots: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
  budget: v.optional(text),
  accept_unproved: v.optional(v.boolean()),
  agent: v.optional(text),
});
const ImportedTask = v.strictObject({
  key: v.optional(text),
  project: text,
  objective: text,
  accept: v.optional(v.array(text)),
  after: v.optional(v.array(text)),
  touches: v.optional(v.array(text)),
  priority: v.optional(v.number()),
  agent: v.optional(text),
  flow: v.optional(text),
  isolation: v.optional(text),
  budget: v.optional(text),
  propose: v.optional(v.boolean()),
});

/** Every key, for the documentation's test. */
export const importKeys = {
  projects: Object.keys(ImportedProject.entries),
  tasks: Object.keys(ImportedTask.entries),
} as const;

type ProjectFields = v.InferOutput<typeof ImportedProject>;
/**
 * The valid fields of a project; an invalid or missing name or repository is among the problems.
 */
export type ProjectDraft = Partial<ProjectFields> & { readonly place: string };
export type ImportList = {
  readonly projects: readonly ProjectDraft[];
  readonly tasks: readonly TaskDraft[];
  readonly problems: readonly string[];
  /**
   * Names and keys of invalid entries: other entries that name them are not wrong because of that.
   */
  readonly invalidNames: ReadonlySet<string>;
};

type ListSource = {
  readonly value: unknown;
  readonly lineOf: (path: DataPath) => number;
  readonly linesOf: (path: DataPath, count: number) => readonly number[];
};

/** The file's data; or, if it can't be parsed, why. */
function parseSource(file: string, content: string): ListSource | readonly string[] {
  if (file.endsWith(".json")) return parseJsonSource(file, content);

  const parsed = parseLocated(file, content);
  if (isRefused(parsed)) {
    return parsed.findings.map(({ line, message }) => `${file}:${line}: ${message}`);
  }

  const lineOf = (path: DataPath): number => parsed.positions.placeOf(path).line;
  return {
    value: parsed.value,
    lineOf,
    linesOf: (path, count) => Array.from({ length: count }, (_, index) => lineOf([...path, index])),
  };
}

/**
 * JSON has a reader of its own, because a long list has more values than the YAML parser keeps
 * positions for.
 */
function parseJsonSource(file: string, content: string): ListSource | readonly string[] {
  const placeOf = (offset: number): string => `${file}:${positionAt(content, offset).line}`;
  const { syntaxError, duplicateKeys } = findJsonFlaws(content);

  if (syntaxError !== null) {
    const { offset, expected } = syntaxError;
    const excerpt = content.slice(offset, offset + excerptCharsMax);
    const found = oneLine(excerpt, excerptCharsMax) || "the end of the file";
    return [`${placeOf(offset)}: not JSON: found ${found}, expected ${expected}`];
  }

  if (duplicateKeys.length > 0) {
    return duplicateKeys
      .slice(0, problemsMax)
      .map(
        ({ offset, key }) =>
          `${placeOf(offset)}: the key ${oneLine(key, excerptCharsMax)} is there twice`,
      );
  }

  return {
    value: JSON.parse(content) as unknown,
    lineOf: (path) => locateJsonValue(content, path).line,
    linesOf: (path) => locateJsonItems(content, path),
  };
}

const isProblems = (source: ListSource | readonly string[]): source is readonly string[] =>
  Array.isArray(source);

/**
 * Reads everything that is valid, so that the caller can report further mistakes together with
 * these.
 */
export function readImportList(file: string, content: string): ImportList {
  const source = parseSource(file, content);
  if (isProblems(source)) {
    return { projects: [], tasks: [], problems: source, invalidNames: new Set() };
  }

  const reader: EntryReader = { file, source, problems: [], invalidNames: new Set() };
  const lists = findLists(reader);
  const projects = readEntries(reader, ImportedProject, lists.projects);
  const tasks = readEntries(reader, ImportedTask, lists.tasks);

  return {
    projects: projects.map(({ fields, place }) => ({ ...fields, place })),
    tasks: tasks.map(({ fields, place, budget, faulty }): TaskDraft => ({
      project: "",
      objective: "",
      ...fields,
      place,
      budget,
      faulty,
    })),
    problems: reader.problems,
    invalidNames: reader.invalidNames,
  };
}

type ListInFile = { readonly path: DataPath; readonly list: unknown };

/** A list at the top is a list of tasks; a mapping has a list of projects, of tasks, or both. */
function findLists(reader: EntryReader): {
  readonly projects: ListInFile;
  readonly tasks: ListInFile;
} {
  const { value } = reader.source;
  if (Array.isArray(value)) {
    return {
      projects: { path: ["projects"], list: undefined },
      tasks: { path: [], list: value },
    };
  }

  if (typeof value !== "object" || value === null) {
    report(reader, [], "expected a list of tasks, or projects: […] and tasks: […]");
  }

  const lists = (typeof value === "object" ? value : null) ?? {};
  for (const key of Object.keys(lists)) {
    if (key === "projects" || key === "tasks") continue;
    const suggestion = didYouMean(key, ["projects", "tasks"]);
    report(reader, [key], `an unknown key, expected projects or tasks.${suggestion}`);
  }

  const { projects, tasks } = lists as { readonly projects?: unknown; readonly tasks?: unknown };
  return {
    projects: { path: ["projects"], list: projects },
    tasks: { path: ["tasks"], list: tasks },
  };
}

type EntryReader = {
  readonly file: string;
  readonly source: ListSource;
  readonly problems: string[];
  readonly invalidNames: Set<string>;
};

type EntrySchema = typeof ImportedProject | typeof ImportedTask;
type ReadEntry<S extends EntrySchema> = {
  readonly fields: Partial<v.InferOutput<S>>;
  readonly place: string;
  readonly budget: PortfolioBudget;
  readonly faulty: ReadonlySet<string>;
};

/**
 * Finding a line takes a pass over the text, so it is found only for the problems that are shown.
 */
function report({ file, source, problems }: EntryReader, path: DataPath, message: string): void {
  if (problems.length >= problemsMax) {
    problems.push(message);
    return;
  }

  const pathPrefix = path.length === 0 ? "" : `${pathText(path)}: `;
  problems.push(`${file}:${source.lineOf(path)}: ${pathPrefix}${message}`);
}

/**
 * The entries of one list, each with the fields that are valid and the names of those that are not.
 */
function readEntries<S extends EntrySchema>(
  reader: EntryReader,
  schema: S,
  { path, list }: ListInFile,
): readonly ReadEntry<S>[] {
  if (list === undefined || list === null) return [];
  if (!Array.isArray(list)) {
    report(reader, path, "expected a list");
    return [];
  }

  const lines = reader.source.linesOf(path, list.length);
  return list.flatMap((item: unknown, index) => {
    const at = { path: [...path, index], line: lines[index] ?? 1 };
    return readEntry(reader, schema, item, at) ?? [];
  });
}

/** Null if the entry is no mapping at all. */
function readEntry<S extends EntrySchema>(
  reader: EntryReader,
  schema: S,
  item: unknown,
  { path, line }: { readonly path: DataPath; readonly line: number },
): ReadEntry<S> | null {
  const { issues } = findIssues(schema, item);
  for (const issue of issues) report(reader, [...path, ...issue.path], issue.message);
  if (typeof item !== "object" || item === null || Array.isArray(item)) return null;

  const fields: Partial<v.InferOutput<S>> = keepValidFields(schema, item);
  const budget = parseBudget(fields.budget);
  if (typeof budget === "string") {
    report(reader, [...path, "budget"], budget);
    delete fields.budget;
  }

  const faulty = new Set(issues.map((issue) => String(issue.path[0])));
  if (faulty.size > 0) noteInvalidNames(reader, item);
  return {
    fields,
    place: `${reader.file}:${line}: ${pathText(path)}`,
    budget: typeof budget === "string" ? {} : budget,
    faulty,
  };
}

/** What other entries may call an entry that is invalid. */
function noteInvalidNames({ invalidNames }: EntryReader, item: object): void {
  const { name, key } = item as { readonly name?: unknown; readonly key?: unknown };
  for (const called of [name, key].flat()) {
    if (typeof called === "string" || typeof called === "number") invalidNames.add(String(called));
  }
}

/**
 * The fields of an entry that are valid by themselves, so that one mistake hides no other. Of a
 * list, its valid items.
 */
function keepValidFields<S extends EntrySchema>(
  schema: S,
  item: object,
): Partial<v.InferOutput<S>> {
  const values = item as Readonly<Record<string, unknown>>;
  const fields: Record<string, unknown> = {};

  for (const [key, fieldSchema] of Object.entries<v.GenericSchema>(schema.entries)) {
    const value = values[key];
    const items: readonly unknown[] = Array.isArray(value) ? value : [];
    if (value === undefined) continue;

    if (v.is(fieldSchema, value)) {
      fields[key] = value;
    } else if (items.length > 0) {
      fields[key] = items.filter((inner) => v.is(fieldSchema, [inner]));
    }
  }

  return fields as Partial<v.InferOutput<S>>;
}
