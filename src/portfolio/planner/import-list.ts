// import-list: projects and tasks from a YAML or JSON list. Every mistake is reported, each with its file and line.

import * as v from "valibot";
import { findJsonFlaws, jsonItemLines, locateJsonValue, positionAt } from "../../documents/json-place.ts";
import { type DataPath, pathText } from "../../kit/finding.ts";
import { isRefused, parseLocated } from "../../kit/located.ts";
import { findIssues } from "../../kit/located-issues.ts";
import { didYouMean } from "../../kit/suggest.ts";
import { oneLine } from "../../views/wording.ts";
import { budgetIn, problemsMax, type TaskDraft } from "./backlog.ts";

const foundCharsMax = 40;
/** Half a character, as a JSON escape can name one, could be written to no file. */
const text = v.pipe(
  v.string(),
  v.check((value) => !/\p{Surrogate}/u.test(value), "a text of whole characters"),
);
const Priority = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(5));
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
export const importKeys = { projects: Object.keys(ImportedProject.entries), tasks: Object.keys(ImportedTask.entries) } as const;

type ProjectFields = v.InferOutput<typeof ImportedProject>;
/** What could be read of a project; a name or a repository that could not was said to be wrong. */
export type ProjectDraft = Partial<ProjectFields> & { readonly place: string };
export type Imported = {
  readonly projects: readonly ProjectDraft[];
  readonly tasks: readonly TaskDraft[];
  readonly problems: readonly string[];
  /** Names and keys of entries that are wrong: that others name them isn't a mistake of theirs. */
  readonly unread: ReadonlySet<string>;
};

type Source = {
  readonly value: unknown;
  readonly lineOf: (path: DataPath) => number;
  readonly linesOf: (path: DataPath, count: number) => readonly number[];
};

/** JSON is read by itself: a long list has more values than a document with positions may hold. */
function sourceOf(file: string, content: string): Source | readonly string[] {
  if (file.endsWith(".json")) {
    const { fault, duplicateKeys } = findJsonFlaws(content);
    if (fault !== null) {
      const textAtFault = oneLine(content.slice(fault.offset, fault.offset + foundCharsMax), foundCharsMax);
      const faultText = textAtFault === "" ? "the end of the file" : textAtFault;
      return [`${file}:${positionAt(content, fault.offset).line}: not JSON: found ${faultText}, expected ${fault.detail}`];
    }
    if (duplicateKeys.length > 0)
      return duplicateKeys
        .slice(0, problemsMax)
        .map(
          ({ offset, detail }) => `${file}:${positionAt(content, offset).line}: the key ${oneLine(detail, foundCharsMax)} is there twice`,
        );
    const value: unknown = JSON.parse(content);
    return { value, lineOf: (path) => locateJsonValue(content, path).line, linesOf: (path) => jsonItemLines(content, path) };
  }
  const parsed = parseLocated(file, content);
  if (isRefused(parsed)) return parsed.findings.map(({ line, message }) => `${file}:${line}: ${message}`);
  const lineOf = (path: DataPath): number => parsed.positions.placeOf(path).line;
  return { value: parsed.value, lineOf, linesOf: (path, count) => Array.from({ length: count }, (_, at) => lineOf([...path, at])) };
}

const isProblems = (source: Source | readonly string[]): source is readonly string[] => Array.isArray(source);

export function readImportList(file: string, content: string): Imported {
  const source = sourceOf(file, content);
  if (isProblems(source)) return { projects: [], tasks: [], problems: source, unread: new Set() };
  const problems: string[] = [];
  const unread = new Set<string>();
  // Finding a line takes a pass over the text, so it is found for those that are shown.
  const wrong = (path: DataPath, message: string): void =>
    void problems.push(
      problems.length >= problemsMax
        ? message
        : `${file}:${source.lineOf(path)}: ${path.length === 0 ? "" : `${pathText(path)}: `}${message}`,
    );
  const { value } = source;
  const isMapping = typeof value === "object" && value !== null && !Array.isArray(value);
  if (!isMapping && !Array.isArray(value)) wrong([], "expected a list of tasks, or projects: […] and tasks: […]");
  const lists: Readonly<Record<string, unknown>> = isMapping ? (value as Record<string, unknown>) : {};
  for (const key of Object.keys(lists))
    if (key !== "projects" && key !== "tasks")
      wrong([key], `an unknown key, expected projects or tasks.${didYouMean(key, ["projects", "tasks"])}`);
  const taken = <S extends typeof ImportedProject | typeof ImportedTask>(schema: S, path: DataPath, list: unknown) => {
    if (list === undefined || list === null) return [];
    if (!Array.isArray(list)) return (wrong(path, "expected a list"), []);
    const lines = source.linesOf(path, list.length);
    return list.flatMap((item: unknown, at) => {
      const where = [...path, at];
      const { issues } = findIssues(schema, item);
      for (const issue of issues) wrong([...where, ...issue.path], issue.message);
      if (typeof item !== "object" || item === null || Array.isArray(item)) return [];
      const place = `${file}:${lines[at] ?? 1}: ${pathText(where)}`;
      const output: Partial<v.InferOutput<S>> = readable(schema, item);
      const budget = budgetIn(output.budget);
      if (typeof budget === "string") {
        wrong([...where, "budget"], budget);
        delete output.budget;
      }
      const faulty = new Set(issues.map((issue) => String(issue.path[0])));
      if (faulty.size > 0) for (const key of ["name", "key"]) unread.add(String((item as Record<string, unknown>)[key]));
      return [{ output, place, budget: typeof budget === "string" ? {} : budget, faulty }];
    });
  };
  const projects = taken(ImportedProject, ["projects"], lists["projects"]).map(({ output, place }) => ({ ...output, place }));
  const tasks = taken(ImportedTask, Array.isArray(value) ? [] : ["tasks"], Array.isArray(value) ? value : lists["tasks"]);
  return {
    projects,
    tasks: tasks.map(({ output, place, budget, faulty }): TaskDraft => ({ project: "", objective: "", ...output, place, budget, faulty })),
    problems,
    unread,
  };
}

/** What of an entry its schema takes, so that one mistake hides no other: a key that is wrong is left out, of a list each wrong item. */
function readable<S extends typeof ImportedProject | typeof ImportedTask>(schema: S, item: object): Partial<v.InferOutput<S>> {
  const given = item as Readonly<Record<string, unknown>>;
  const read = Object.entries<v.GenericSchema>(schema.entries).flatMap(([key, one]): [string, unknown][] => {
    const value = given[key];
    if (value === undefined) return [];
    const items: readonly unknown[] = Array.isArray(value) ? value : [];
    if (v.is(one, value)) return [[key, value]];
    return items.length === 0 ? [] : [[key, items.filter((inner) => v.is(one, [inner]))]];
  });
  return Object.fromEntries(read) as Partial<v.InferOutput<S>>;
}
