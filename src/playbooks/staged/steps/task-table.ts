// task-table: the tasks of a staged project: one file each in `_docs/02_tasks/`, and the table of what depends on what beside them.
//
// Invariants:
//   T1. Every fault of the table is reported, with its line; a table with a fault yields no tasks.
//   T2. What is handed on can be put in waves: ids are unique, every dependency is there, and none waits for itself.

import { ringsAmong } from "../../../documents/graph.ts";
import { findCells, isEmptyMark, isRule } from "../views/staged-state-lines.ts";
import type { TreeLook } from "./tree-look.ts";

export const tasksFolder = "_docs/02_tasks/";
export const tablePath = `${tasksFolder}_dependencies_table.md`;

export type StagedTask = {
  readonly id: string;
  readonly name: string;
  readonly points: number | null;
  readonly after: readonly string[];
  /** Paths and patterns; empty if the task names none. */
  readonly files: readonly string[];
  /** Its own file, and what that says. */
  readonly path: string | null;
  readonly text: string;
};

export type TasksRead = { readonly tasks: readonly StagedTask[]; readonly faults: readonly string[] };

const tasksMax = 1_000;
const idPattern = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;
const textCharsMax = 20_000;

/** The files that are tasks; what begins with an underscore is about them. */
export const findTaskFiles = ({ paths }: TreeLook): readonly string[] =>
  paths.filter((path) => path.startsWith(tasksFolder) && path.endsWith(".md") && !pathBase(path).startsWith("_"));

export const pathBase = (path: string): string => path.slice(path.lastIndexOf("/") + 1);
/** A task file's name without its ending: the name it goes by where no table knows it. */
export const pathStem = (path: string): string => pathBase(path).replace(/\.md$/, "");

export async function readTasks(tree: TreeLook): Promise<TasksRead> {
  const table = await tree.read(tablePath);
  if (table === null) return { tasks: [], faults: [`${tablePath}: found no regular text file, expected the table of tasks`] };
  const { rows, faults } = rowsIn(table);
  const files = findTaskFiles(tree);
  const ids = rows.map(({ id }) => id);
  const tasks: StagedTask[] = [];
  for (const row of rows) {
    const path = files.find((file) => pathStem(file) === row.id || pathStem(file).startsWith(`${row.id}_`)) ?? null;
    const text = path === null ? "" : ((await tree.read(path)) ?? "");
    const after: string[] = [];
    for (const word of row.after) {
      const id = idMeant(word, ids);
      if (id === null) faults.push(`${tablePath}:${row.line}: task ${row.id} depends on ${word}, which is not there`);
      else if (!after.includes(id)) after.push(id);
    }
    tasks.push({
      id: row.id,
      name: row.name,
      points: row.points ?? findPoints(text),
      after,
      files: row.files.length > 0 ? row.files : findFiles(text),
      path,
      text: text.slice(0, textCharsMax),
    });
  }
  for (const ring of ringsAmong(tasks, (a, b) => (a < b ? -1 : a > b ? 1 : 0)))
    faults.push(`${tablePath}: tasks wait for each other: ${ring.join(" -> ")}`); // T2
  return faults.length === 0 ? { tasks, faults } : { tasks: [], faults }; // T1
}

type Row = {
  readonly id: string;
  readonly line: number;
  readonly name: string;
  readonly points: number | null;
  readonly after: readonly string[];
  readonly files: readonly string[];
};
type Columns = Readonly<Record<"id" | "name" | "points" | "after" | "files", number>>;

const heads: Readonly<Record<keyof Columns, RegExp>> = {
  id: /^(?:task|task id|id|#)$/i,
  name: /^(?:name|title|task name)$/i,
  points: /^(?:complexity|points|complexity points|size)$/i,
  after: /^(?:dependencies|depends on|depends|after)$/i,
  files: /^files?(?: .*)?$/i,
};

/** The rows of the first table whose head names tasks. */
function rowsIn(text: string): { readonly rows: readonly Row[]; readonly faults: string[] } {
  const rows: Row[] = [];
  const faults: string[] = [];
  let columns: Columns | null = null;
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const cells = findCells({ number: index + 1, text: line });
    if (cells === null) {
      if (rows.length > 0 && line.trim() === "") break;
      continue;
    }
    if (isRule(cells)) continue;
    if (columns === null) {
      const found = cellColumns(cells);
      if (found.id >= 0) columns = found;
      continue;
    }
    const cell = (name: keyof Columns): string => cells[columns?.[name] ?? -1] ?? "";
    const id = plain(cell("id")).replace(/\.md$/, "");
    const say = (fault: string): unknown => faults.push(`${tablePath}:${index + 1}: ${fault}`);
    if (!idPattern.test(id)) say(`found "${id}" as a task, expected a name of letters, digits, _ . -`);
    else if (rows.some((row) => row.id === id)) say(`found a second row for the task ${id}`);
    const points = /^(\d{1,3})(?:\s*(?:points?|pts?))?$/i.exec(plain(cell("points")))?.[1];
    if (rows.length >= tasksMax) {
      say(`found more than ${tasksMax} tasks`);
      break;
    }
    rows.push({
      id,
      line: index + 1,
      name: plain(cell("name")) || id,
      points: points === undefined ? null : Number(points),
      after: words(cell("after")),
      files: words(cell("files")),
    });
  }
  if (columns === null)
    faults.push(`${tablePath}: found no table with a column Task, expected | Task | Name | Complexity | Dependencies | Files |`);
  return { rows, faults };
}

function cellColumns(cells: readonly string[]): Columns {
  const at = (name: keyof Columns): number => cells.findIndex((cell) => heads[name].test(plain(cell)));
  return { id: at("id"), name: at("name"), points: at("points"), after: at("after"), files: at("files") };
}

/** A link in Markdown. Neither part may hold what opens it: a search begins again there instead of looking to the end from every place. */
const link = /\[([^[\]]*)\]\([^()]*\)/g;

/** A cell without the marks people put around words: code, bold, a link. */
const plain = (cell: string): string => cell.replace(link, "$1").replace(/[`*]/g, "").trim();

const words = (cell: string): readonly string[] =>
  cell
    .replace(link, "$1")
    .replaceAll("`", "")
    .split(/[,;]|<br\s*\/?>/)
    .map((word) => word.trim())
    .filter((word) => !isEmptyMark(word));

/** A dependency is named by the task's id, or by the number it begins with. */
function idMeant(word: string, ids: readonly string[]): string | null {
  const wanted = word.replaceAll("*", "").replace(/\.md$/, "");
  if (ids.includes(wanted)) return wanted;
  const [only, second] = ids.filter((id) => id.startsWith(`${wanted}_`));
  return only !== undefined && second === undefined ? only : null;
}

function findPoints(text: string): number | null {
  const found = /^[^\w\n]{0,20}(?:complexity|points|complexity points)[^\w\n]{0,20}:[^\w\n]{0,20}(\d{1,3})\b/im.exec(text)?.[1];
  return found === undefined ? null : Number(found);
}

/** `Files: a, b`, or the points under a heading of that name. */
function findFiles(text: string): readonly string[] {
  const line = /^[ \t>*-]*files\**[ \t]*:\**[ \t]*(\S.*)$/im.exec(text)?.[1];
  if (line !== undefined) return words(line);
  const section = /^#{2,6}[ \t]+files\b[^\n]*\n((?:(?!#)[^\n]*(?:\n|$))*)/im.exec(text)?.[1] ?? "";
  return [...section.matchAll(/^[ \t]*[-*]\s+`?([^`\s]+)`?/gm)].map(([, path = ""]) => path);
}
