// phase-table: renders the rows of phases as a table for people. Of a long roadmap it shows the
// phases where something happens, and counts the others.

import { alignColumns } from "./align-columns.ts";
import type { PhaseRow, PhaseRowStatus } from "./phase-rows.ts";
import { formatDuration, formatNumber, firstFew, formatMoney, oneLine, plural } from "./wording.ts";

const nameCharsMax = 44;

export const phaseMarks: Readonly<Record<PhaseRowStatus, string>> = {
  completed: "✓",
  failed: "✗",
  needs_human_verification: "!",
  in_progress: "▸",
  not_started: "·",
  skipped: "-",
};

const statusLabels: Readonly<Record<PhaseRowStatus, string>> = {
  completed: "completed",
  failed: "failed",
  needs_human_verification: "needs your verdict",
  in_progress: "in progress",
  not_started: "to do",
  skipped: "skipped",
};

/**
 * A heading, a line for each of at most `rowsMax` phases, and lines that count the phases left out
 * between them.
 */
export function phaseTable(rows: readonly PhaseRow[], rowsMax: number): readonly string[] {
  const isPriced = rows.some(({ usd }) => usd > 0);
  const shownPositions = choosePositions(rows, rowsMax);
  const cells: string[][] = [
    ["", "phase", "name", "status", "score", "time", "tokens", ...(isPriced ? ["cost"] : [])],
  ];

  let lastShown = -1;
  const addGapBefore = (upTo: number): void => {
    const hiddenRows = rows.slice(lastShown + 1, upTo);
    if (hiddenRows.length > 0) cells.push(["", "…", describeGap(hiddenRows)]);
  };

  for (const position of shownPositions) {
    addGapBefore(position);
    const row = rows[position];
    if (row !== undefined) cells.push(rowCells(row, { isPriced }));
    lastShown = position;
  }

  addGapBefore(rows.length);
  return alignColumns(cells, { right: [4, 5, 6, 7] });
}

const priceCell = (usd: number): string => (usd > 0 ? formatMoney(usd) : "-");

function rowCells(row: PhaseRow, { isPriced }: { readonly isPriced: boolean }): string[] {
  const { id, name, status, score, duration_minutes, tokens, usd } = row;
  return [
    phaseMarks[status],
    id,
    oneLine(name, nameCharsMax),
    `${statusLabels[status]}${phaseDetail(row)}`,
    score === null ? "-" : formatNumber(score),
    duration_minutes > 0 ? formatDuration(duration_minutes * 60_000) : "-",
    tokens > 0 ? formatNumber(tokens) : "-",
    ...(isPriced ? [priceCell(usd)] : []),
  ];
}

/** The current step of a phase, what it waits for, or why it failed or was skipped. */
function phaseDetail({ status, step, tasks, waits_for, because }: PhaseRow): string {
  if (status === "in_progress") {
    const failed =
      tasks === null || tasks.failed === 0 ? "" : `, ${formatNumber(tasks.failed)} failed`;
    const doneText =
      tasks === null
        ? ""
        : ` (${formatNumber(tasks.done)} of ${plural(tasks.total, "task")}${failed})`;

    return step === null ? "" : `: ${step}${doneText}`;
  }

  if (status === "not_started") {
    return waits_for.length === 0 ? "" : `, after ${firstFew(waits_for, 3)}`;
  }

  return (status === "failed" || status === "skipped") && because !== null
    ? `: ${oneLine(because.replaceAll("_", " "), 60)}`
    : "";
}

function describeGap(hiddenRows: readonly PhaseRow[]): string {
  const counts = new Map<string, number>();
  for (const { status } of hiddenRows) {
    counts.set(statusLabels[status], (counts.get(statusLabels[status]) ?? 0) + 1);
  }

  return [...counts].map(([word, count]) => `${formatNumber(count)} ${word}`).join(", ");
}

/**
 * The positions of the rows to show: all, if there is room; else phases that are under way, wait or
 * failed, and those next to them.
 */
function choosePositions(rows: readonly PhaseRow[], rowsMax: number): readonly number[] {
  if (rows.length <= rowsMax) return rows.map((_, index) => index);
  const positions = new Set<number>();

  const addPosition = (position: number): void => {
    if (position >= 0 && position < rows.length && positions.size < rowsMax) {
      positions.add(position);
    }
  };

  const open = positionsWith(rows, ["in_progress", "needs_human_verification"]);
  for (const position of [...open, ...positionsWith(rows, ["failed"])]) addPosition(position);
  const center = open[0] ?? rows.findIndex(({ status }) => status === "not_started");

  for (let distance = 1; positions.size < rowsMax && distance < rows.length; distance += 1) {
    addPosition(center + distance - 1);
    addPosition(center - distance);
  }

  return [...positions].toSorted((left, right) => left - right);
}

const positionsWith = (
  rows: readonly PhaseRow[],
  statuses: readonly PhaseRowStatus[],
): readonly number[] =>
  rows.flatMap(({ status }, index) => (statuses.includes(status) ? [index] : []));
