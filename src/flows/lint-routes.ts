// lint-routes: lints routing rows: each leads somewhere, every step can be reached, and every cycle
// passes a count.

import type { Flow, Row, Step } from "../contracts/flow.ts";
import { shown, type DataPath } from "../kit/finding.ts";
import { didYouMean } from "../kit/suggest.ts";
import type { Lint } from "./lint-subject.ts";
import {
  listRowsAfterFailure,
  listStepLists,
  selectReachableRows,
  listRowsAfterPass,
  type LocatedRow,
  type StepList,
} from "./step-lists.ts";

/** Every row leads somewhere, every step can be reached, and every cycle passes a count. */
export function lintRoutes(lint: Lint): void {
  for (const list of listStepLists(lint.flow)) {
    for (const [stepIndex, step] of list.steps.entries()) {
      const path = [...list.path, stepIndex];
      const failureRows = (step.otherwise ?? []).map((row, index) => ({
        row,
        path: [...path, "otherwise", index],
      }));
      for (const rows of [listRowsAfterPass(step, path), failureRows]) {
        lintHiddenRows(lint, rows);
        for (const located of rows) lintTargets(lint, list, located);
      }
    }

    lintUncountedCycles(lint, list);
    lintReachability(lint, list);
  }

  const flowFailureRows = (lint.flow.when_step_fails ?? []).map((row, index) => ({
    row,
    path: ["when_step_fails", index],
  }));
  lintHiddenRows(lint, flowFailureRows);

  for (const located of flowFailureRows) {
    for (const list of listStepLists(lint.flow)) lintTargets(lint, list, located);
  }
}

/** A row after one that always matches is never reached. */
function lintHiddenRows({ reportAt }: Lint, rows: readonly LocatedRow[]): void {
  for (const { path } of rows.slice(selectReachableRows(rows).length)) {
    reportAt(
      path,
      "row_never_read",
      "found a row behind one without a condition, which always matches first",
    );
  }
}

/** A row, and each row of the counts it spends, goes to a step of its list or to a phase. */
function lintTargets(lint: Lint, list: StepList, located: LocatedRow): void {
  const ids = list.steps.map((step) => step.id);
  for (const { row, path } of [located, ...listSpentRows(lint.flow, located.row)]) {
    const { go: target } = row;
    if (typeof target === "string" && !ids.includes(target)) {
      lint.reportAt(
        [...path, "go"],
        "unknown_target",
        `found go: ${target}, which isn't a step of ${describeStepList(list)}.${didYouMean(target, ids)}`,
      );
    }

    if (typeof target === "object") lintPhaseTarget(lint, list, row, path);
  }
}

function lintPhaseTarget({ flow, reportAt }: Lint, list: StepList, row: Row, path: DataPath): void {
  const target = typeof row.go === "object" ? row.go.phase : "";
  const goPath = [...path, "go"];

  if (list.kind !== "phase" || list.group !== "phases") {
    return reportAt(
      goPath,
      "phase_target",
      `found go: { phase } in ${describeStepList(list)}, expected it in one of the phases`,
    );
  }

  if (!Array.isArray(flow.phases)) return undefined;
  const ids = flow.phases.map((phase) => phase.id);
  if (!ids.includes(target)) {
    return reportAt(
      goPath,
      "unknown_target",
      `found the phase ${shown(target)}, which is not listed.${didYouMean(target, ids)}`,
    );
  }

  if (ids.indexOf(target) > ids.indexOf(list.phase)) {
    return reportAt(
      goPath,
      "phase_target",
      `found the later phase ${shown(target)}, expected this one or an earlier one`,
    );
  }

  if (isFree(row)) {
    return reportAt(
      path,
      "ring_without_count",
      `found a way back to phase ${shown(target)} without a count, expected every ring to pass one`,
    );
  }

  return undefined;
}

/** A list of steps in the words of a message. */
export function describeStepList(list: StepList): string {
  switch (list.kind) {
    case "closing":
      return "the closing steps";
    case "phase":
      return list.phase === "*" ? "the steps" : `phase ${list.phase}`;
    case "each":
    case "wave":
      return `a ${list.kind} list`;
  }
}

/** Where a row leads once its count is spent, and so on down the chain. */
export function listSpentRows(flow: Flow, row: Row): readonly LocatedRow[] {
  const locatedRows: LocatedRow[] = [];
  const visitedNames = new Set<string>();
  for (
    let name = row.count;
    name !== undefined && !visitedNames.has(name);
    name = flow.counts?.[name]?.spent.count
  ) {
    visitedNames.add(name);
    const spentRow = Object.hasOwn(flow.counts ?? {}, name)
      ? flow.counts?.[name]?.spent
      : undefined;
    if (spentRow !== undefined) {
      locatedRows.push({ row: spentRow, path: ["counts", name, "spent"] });
    }
  }

  return locatedRows;
}

/** A transition without cost: no count, and no resume needed. */
const isFree = (row: Row): boolean =>
  row.count === undefined && row.pause === undefined && row.rest === undefined;

/** Where a row goes in its list: an index, or null if it leaves the list. */
export function findTargetIndex(steps: readonly Step[], position: number, row: Row): number | null {
  if (row.again === true) return position;
  if (typeof row.go === "string") return steps.findIndex((step) => step.id === row.go);
  if (
    row.end !== undefined ||
    row.stop !== undefined ||
    row.go !== undefined ||
    row.ask !== undefined
  ) {
    return null;
  }

  return position + 1;
}

/** The positions in the list that may come next by the wanted rows. */
function nextPositions(
  flow: Flow,
  list: StepList,
  position: number,
  isWanted: (row: Row) => boolean,
): readonly number[] {
  const step = list.steps[position];
  if (step === undefined) return [];
  const path = [...list.path, position];
  const passRows = selectReachableRows(listRowsAfterPass(step, path));
  const failureRows =
    step.human === undefined ? selectReachableRows(listRowsAfterFailure(flow, step, path)) : [];
  const rows = [...passRows, ...failureRows].flatMap(({ row }) => [
    row,
    ...listSpentRows(flow, row).map((spent) => spent.row),
  ]);
  const targets = rows.filter(isWanted).map((row) => findTargetIndex(list.steps, position, row));
  const isCaught = (step.then ?? []).some((row) => row.when === undefined);
  const isSkippable = failureRows.some(({ row }) => row.ask !== undefined); // A person may choose to skip this step.
  if (!isCaught || isSkippable) targets.push(position + 1);

  return targets.filter(
    (target) => target !== null && target >= 0 && target < list.steps.length,
  ) as number[];
}

function lintReachability({ flow, reportAt }: Lint, list: StepList): void {
  const reached = new Set([0]);
  // Grows the set that this loop goes through.
  for (const position of reached) {
    for (const target of nextPositions(flow, list, position, () => true)) reached.add(target);
  }

  for (const [position, step] of list.steps.entries()) {
    if (!reached.has(position)) {
      reportAt(
        [...list.path, position],
        "unreachable",
        `found the step ${shown(step.id)}, which nothing leads to`,
      );
    }
  }
}

/** Reports the first cycle of the list that costs nothing. */
function lintUncountedCycles({ flow, reportAt }: Lint, list: StepList): void {
  const donePositions = new Set<number>();
  /** The positions from the start to the current one. */
  const openPositions: number[] = [];

  const visit = (position: number): readonly number[] | null => {
    if (donePositions.has(position)) return null;
    if (openPositions.includes(position)) {
      return [...openPositions.slice(openPositions.indexOf(position)), position];
    }

    openPositions.push(position);
    for (const target of nextPositions(flow, list, position, isFree)) {
      const cycle = visit(target);
      if (cycle !== null) return cycle;
    }

    openPositions.pop();
    donePositions.add(position);
    return null;
  };

  for (const position of list.steps.keys()) {
    const cycle = visit(position);
    if (cycle === null) continue;
    const names = cycle.map((cyclePosition) => list.steps[cyclePosition]?.id ?? "?");
    reportAt(
      [...list.path, cycle[0] ?? 0],
      "ring_without_count",
      `found a ring without a count: ${names.join(" -> ")}, expected every ring to pass one`,
    );

    return;
  }
}
