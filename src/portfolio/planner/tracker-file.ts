// tracker-file: reads issues that a tracker exported: JSON of GitHub, GitLab and Linear (from their
// programs or APIs), or Linear's CSV.

import type { TrackedIssue } from "./intake.ts";

const issuesMax = 2_000;
const closedStates = /^(?:closed|done|completed|merged|cancell?ed|duplicate)$/i;
/** One issue as it was exported, by its columns or fields. */
type ExportedIssue = Readonly<Record<string, unknown>>;

/** The open issues of an export, or what is wrong with it. */
export function readTrackerFile(name: string, content: string): readonly TrackedIssue[] | string {
  const rows = /\.csv$/i.test(name) ? readCsv(content) : readJson(content);
  if (typeof rows === "string") return rows;
  if (rows.length > issuesMax) {
    return `it holds ${rows.length} issues, at most ${issuesMax} are taken`;
  }

  return rows.filter((row) => !isClosed(row)).map(toIssue);
}

function isClosed(row: ExportedIssue): boolean {
  const state = row["state"] ?? row["status"] ?? row["Status"];
  const stateName =
    typeof state === "object" && state !== null
      ? ((state as ExportedIssue)["type"] ?? (state as ExportedIssue)["name"])
      : state;
  return typeof stateName === "string" && closedStates.test(stateName);
}

function toIssue(row: ExportedIssue): TrackedIssue {
  const text = (...keys: readonly string[]): string => {
    const value = keys
      .map((key) => row[key])
      .find((candidate) => typeof candidate === "string" && candidate !== "");
    return typeof value === "string" ? value : "";
  };
  const id = text("identifier", "ID");
  const link =
    text("html_url", "web_url", "webUrl", "url", "URL") || (id === "" ? "" : `linear:${id}`);

  return { link, title: text("title", "Title"), body: text("body", "description", "Description") };
}

/** An array, or an object that holds one under the usual names. */
function readJson(content: string): readonly ExportedIssue[] | string {
  let value: unknown;
  try {
    value = JSON.parse(content);
  } catch (error) {
    return `it is not JSON: ${error instanceof Error ? error.message : String(error)}`;
  }

  // As in { "data": { "issues": { "nodes": […] } } }: each level may be missing.
  for (const key of ["data", "issues", "nodes"]) {
    if (isObject(value) && key in value) value = value[key];
  }

  if (!Array.isArray(value)) return "expected a list of issues";
  const invalidIndex = value.findIndex((item) => !isObject(item));
  return invalidIndex >= 0 ? `issue ${invalidIndex + 1} is no object` : (value as ExportedIssue[]);
}

const isObject = (value: unknown): value is ExportedIssue =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Commas and quotes as spreadsheets write them; a quoted cell may hold line breaks. */
function readCsv(content: string): readonly ExportedIssue[] | string {
  const cells = splitCells(content.replace(/^\ufeff/, ""));
  if (typeof cells === "string") return cells;
  const [head, ...rows] = cells;
  if (head === undefined || !head.includes("Title")) {
    return "expected a first line with the columns ID and Title";
  }

  return rows
    .filter((row) => row.some((cell) => cell !== ""))
    .map((row) =>
      Object.fromEntries(head.map((column, index) => [column, row[index] ?? ""] as const)),
    );
}

/** The cells row by row, or what is wrong with them. */
function splitCells(content: string): readonly (readonly string[])[] | string {
  const rows: string[][] = [[]];
  const cell = /("(?:[^"]|"")*"|[^",\r\n][^,\r\n]*|)(,|\r\n|\n|\r|$)/y; // a quoted, plain or empty cell, and the comma or line end after it
  for (let offset = 0; offset < content.length; offset = cell.lastIndex) {
    cell.lastIndex = offset;
    const [match = "", text = "", end = ""] = cell.exec(content) ?? [];
    if (match === "") return `row ${rows.length}: a quoted cell doesn't end with a quote`;
    rows.at(-1)?.push(text.startsWith('"') ? text.slice(1, -1).replaceAll('""', '"') : text);
    if (end !== "," && end !== "") rows.push([]);
  }

  return rows;
}
