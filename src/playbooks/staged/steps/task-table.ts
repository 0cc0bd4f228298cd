// task-table: parses the tasks of a staged project: the table of dependencies in `_docs/02_tasks/`,
// and the file of each task beside it.
//
// Invariants:
//   T1. Every fault of the table is reported, with its line if it has one (a cycle has none); a
//       table with a fault yields no tasks.
//   T2. The tasks can be put in waves: ids are unique, every dependency exists, and there is no
//       cycle.

import { compareText } from "../../../kit/compare-text.ts";
import { findCycles } from "../../../documents/graph.ts";
import { parseCells, isEmptyMark, isSeparatorRow } from "../views/staged-state-lines.ts";
import type { TreeView } from "./tree-view.ts";

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

export type TasksResult = {
  readonly tasks: readonly StagedTask[];
  readonly faults: readonly string[];
};

const tasksMax = 1_000;
const idPattern = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;
const textCharsMax = 20_000;

/** The files of tasks; names that begin with an underscore are other documents. */
export const findTaskFiles = ({ paths }: TreeView): readonly string[] =>
  paths.filter(
    (path) =>
      path.startsWith(tasksFolder) && path.endsWith(".md") && !baseName(path).startsWith("_"),
  );

export const baseName = (path: string): string => path.slice(path.lastIndexOf("/") + 1);
/** The file name without its extension: the id of a task that is not in the table. */
export const stemOf = (path: string): string => baseName(path).replace(/\.md$/, "");

export async function readTasks(tree: TreeView): Promise<TasksResult> {
  const table = await tree.read(tablePath);
  if (table === null) {
    return {
      tasks: [],
      faults: [`${tablePath}: found no regular text file, expected the table of tasks`],
    };
  }

  const { rows, faults } = parseRows(table);
  const files = findTaskFiles(tree);
  const ids = rows.map(({ id }) => id);
  const tasks: StagedTask[] = [];

  for (const row of rows) {
    const path =
      files.find((file) => stemOf(file) === row.id || stemOf(file).startsWith(`${row.id}_`)) ??
      null;
    const text = path === null ? "" : ((await tree.read(path)) ?? "");
    const dependencies = new Set<string>();

    for (const name of row.after) {
      const id = resolveId(name, ids);
      if (id === null) {
        faults.push(
          `${tablePath}:${row.line}: task ${row.id} depends on ${name}, which is not there`,
        );
      } else {
        dependencies.add(id);
      }
    }

    tasks.push({
      id: row.id,
      name: row.name,
      points: row.points ?? findPoints(text),
      after: [...dependencies],
      files: row.files.length > 0 ? row.files : findFiles(text),
      path,
      text: text.slice(0, textCharsMax),
    });
  }

  for (const cycle of findCycles(tasks, compareText)) {
    faults.push(`${tablePath}: tasks wait for each other: ${cycle.join(" -> ")}`);
  } // T2

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

const columnHeads: Readonly<Record<keyof Columns, RegExp>> = {
  id: /^(?:task|task id|id|#)$/i,
  name: /^(?:name|title|task name)$/i,
  points: /^(?:complexity|points|complexity points|size)$/i,
  after: /^(?:dependencies|depends on|depends|after)$/i,
  files: /^files?(?: .*)?$/i,
};

/** The rows of the first table that has a column for task ids. */
function parseRows(text: string): { readonly rows: readonly Row[]; readonly faults: string[] } {
  const rows: Row[] = [];
  const faults: string[] = [];
  let columns: Columns | null = null;

  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const cells = parseCells({ number: index + 1, text: line });
    if (cells === null && rows.length > 0 && line.trim() === "") break; // the table ends here
    if (cells === null || isSeparatorRow(cells)) continue;
    if (columns === null) {
      const candidates = findColumns(cells);
      if (candidates.id >= 0) columns = candidates;
      continue;
    }

    const cell = (name: keyof Columns): string => cells[columns?.[name] ?? -1] ?? "";
    const id = plainText(cell("id")).replace(/\.md$/, "");
    const report = (fault: string): unknown => faults.push(`${tablePath}:${index + 1}: ${fault}`);

    if (!idPattern.test(id)) {
      report(`found "${id}" as a task, expected a name of letters, digits, _ . -`);
    } else if (rows.some((row) => row.id === id)) {
      report(`found a second row for the task ${id}`);
    }

    const points = /^(\d{1,3})(?:\s*(?:points?|pts?))?$/i.exec(plainText(cell("points")))?.[1]; // 3, 3 points, 3 pts
    if (rows.length >= tasksMax) {
      report(`found more than ${tasksMax} tasks`);
      break;
    }

    rows.push({
      id,
      line: index + 1,
      name: plainText(cell("name")) || id,
      points: points === undefined ? null : Number(points),
      after: splitCell(cell("after")),
      files: splitCell(cell("files")),
    });
  }

  if (columns === null) {
    faults.push(
      `${tablePath}: found no table with a column Task, expected | Task | Name | Complexity | Dependencies | Files |`,
    );
  }

  return { rows, faults };
}

function findColumns(cells: readonly string[]): Columns {
  const indexOf = (name: keyof Columns): number =>
    cells.findIndex((cell) => columnHeads[name].test(plainText(cell)));
  return {
    id: indexOf("id"),
    name: indexOf("name"),
    points: indexOf("points"),
    after: indexOf("after"),
    files: indexOf("files"),
  };
}

/**
 * A link in Markdown, `[text](target)`. Its parts exclude opening brackets so that the search stays
 * linear.
 */
const markdownLink = /\[([^[\]]*)\]\([^()]*\)/g;

/** A cell without code marks, bold marks and links. */
const plainText = (cell: string): string =>
  cell.replace(markdownLink, "$1").replace(/[`*]/g, "").trim();

/** `01_store, 02_api<br>03_ui` → three names */
const splitCell = (cell: string): readonly string[] =>
  cell
    .replace(markdownLink, "$1")
    .replaceAll("`", "")
    .split(/[,;]|<br\s*\/?>/)
    .map((word) => word.trim())
    .filter((word) => !isEmptyMark(word));

/** The id that a dependency names: by the whole id, or by its number if that is unambiguous. */
function resolveId(word: string, ids: readonly string[]): string | null {
  const name = word.replaceAll("*", "").replace(/\.md$/, "");
  if (ids.includes(name)) return name;
  const [firstMatch, secondMatch] = ids.filter((id) => id.startsWith(`${name}_`));

  return firstMatch !== undefined && secondMatch === undefined ? firstMatch : null;
}

/** `**Complexity:** 3` in the task's own file. */
function findPoints(text: string): number | null {
  const points =
    /^[^\w\n]{0,20}(?:complexity|points|complexity points)[^\w\n]{0,20}:[^\w\n]{0,20}(\d{1,3})\b/im.exec(
      text,
    )?.[1];
  return points === undefined ? null : Number(points);
}

/** `Files: a, b`, or the list under a heading "Files". */
function findFiles(text: string): readonly string[] {
  const line = /^[ \t>*-]*files\**[ \t]*:\**[ \t]*(\S.*)$/im.exec(text)?.[1];
  if (line !== undefined) return splitCell(line);
  const section = /^#{2,6}[ \t]+files\b[^\n]*\n((?:(?!#)[^\n]*(?:\n|$))*)/im.exec(text)?.[1] ?? "";

  return [...section.matchAll(/^[ \t]*[-*]\s+`?([^`\s]+)`?/gm)].map(([, path = ""]) => path);
}
