// parse-staged-tables: parses the tables of a staged state file, and its section Last Session.
// Invariants R1 and on: playbooks/staged/views/parse-staged-state.ts.

import { CompletedStep, RetryRow, type StagedState } from "../../../contracts/staged-state.ts";
import { shown } from "../../../kit/finding.ts";
import { findIssues } from "../../../kit/located-issues.ts";
import {
  isEmptyMark,
  isSeparatorRow,
  type KeepLines,
  type Line,
  parseCells,
  parseField,
  type Report,
} from "./staged-state-lines.ts";

const rowsMax = 5_000;

type Cells = readonly string[];
type RowResult<T> = { readonly row: T } | { readonly fault: string };

/** The valid rows of a section's table; every other line is kept. */
export function parseRows<T>(
  lines: readonly Line[],
  parseRow: (cells: Cells) => RowResult<T>,
  report: Report,
  keep: KeepLines,
): T[] {
  const rows: T[] = [];
  const remainingLines: Line[] = [];
  let firstUnread: Line | null = null;

  for (const line of lines) {
    const cells = parseCells(line);
    if (cells === null) {
      if (line.text.trim() !== "") remainingLines.push(line);
    } else if (rows.length === rowsMax) {
      firstUnread ??= line;
      remainingLines.push(line);
    } else if (!isPartOfForm(cells)) {
      const result = parseRow(cells);
      if ("row" in result) {
        rows.push(result.row);
      } else {
        report("error", line.number, "row", `found a row that cannot be read: ${result.fault}`);
        remainingLines.push(line);
      }
    }
  }

  if (firstUnread !== null) {
    report(
      "error",
      firstUnread.number,
      "too_many_rows",
      `found more than ${rowsMax} rows; from here on they are kept, but not read`,
    );
  }

  keep(remainingLines); // R3
  return rows;
}

/** The table's head, the separator below it, and the format's placeholder row. */
const isPartOfForm = (cells: Cells): boolean =>
  isSeparatorRow(cells) ||
  /^(step|attempt)$/i.test(cells[0] ?? "") ||
  cells.every((cell) => isEmptyMark(cell));

export function parseCompleted(cells: Cells): RowResult<CompletedStep> {
  const [step = "", name = "", completed = "", ...outcome] = cells;
  if (cells.length !== 4) return { fault: `${cells.length} cells, expected 4` };

  const { value, issues } = findIssues(CompletedStep, {
    step: Number(step),
    name,
    completed,
    key_outcome: outcome.join(" "),
  });
  return issues.length === 0 ? { row: value } : { fault: `${shown(step)} is no step` };
}

export function parseRetry(cells: Cells): RowResult<RetryRow> {
  const [attempt = "", step = "", name = "", sub_step = "", failure_reason = "", timestamp = ""] =
    cells;
  if (cells.length !== 6) return { fault: `${cells.length} cells, expected 6` };

  const { value, issues } = findIssues(RetryRow, {
    attempt: Number(attempt),
    step: Number(step),
    name,
    sub_step,
    failure_reason,
    timestamp,
  });
  return issues.length === 0
    ? { row: value }
    : { fault: `${shown(attempt)} of step ${shown(step)} is no retry` };
}

const sessionFieldNames: readonly string[] = ["date", "ended_at", "reason", "notes"];

/** Notes may continue on further lines. If a field occurs twice, the first counts. */
export function parseSession(lines: readonly Line[], keep: KeepLines): StagedState["last_session"] {
  const values = new Map<string, string>();
  const remainingLines: Line[] = [];
  const noteLines: string[] = [];
  let openField: string | null = null;

  for (const line of lines.filter(({ text }) => text.trim() !== "")) {
    const field = parseField(line);
    const isSessionField = field !== null && sessionFieldNames.includes(field.name);
    if (isSessionField && !values.has(field.name)) {
      openField = field.name;
      values.set(field.name, isEmptyMark(field.value) ? "" : field.value);
    } else if (isSessionField) {
      openField = null;
      remainingLines.push(line);
    } else if (openField === "notes") {
      noteLines.push(line.text.trim());
    } else {
      remainingLines.push(line);
    }
  }

  keep(remainingLines); // R3
  const notes = values.get("notes") ?? "";
  const session = {
    date: values.get("date") ?? "",
    ended_at: values.get("ended_at") ?? "",
    reason: values.get("reason") ?? "",
    notes: noteLines.length === 0 ? notes : [notes, ...noteLines].join(" ").trim(),
  };
  return Object.values(session).every((value) => value === "") ? null : session;
}
