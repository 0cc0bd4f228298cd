// lint-counts: lints retry counts: each is declared, used and bounded, and exhausting it leads to
// an end.

import type { Row, Step } from "../contracts/flow.ts";
import { shown, type DataPath } from "../kit/finding.ts";
import { didYouMean } from "../kit/suggest.ts";
import type { Lint } from "./lint-subject.ts";
import { isGate, listAllSteps } from "./step-lists.ts";

const countMax = 10_000;

/** Counts are declared, used and bounded by something known, and spending one leads to an end. */
export function lintCounts(lint: Lint): void {
  const { flow, reportAt } = lint;
  const counts = flow.counts ?? {};
  const usedCounts = new Set<string>();

  const noteUse = (row: Row, path: DataPath): void => {
    if (row.count === undefined) return;
    usedCounts.add(row.count);
    if (Object.hasOwn(counts, row.count)) return;

    const suggestion = didYouMean(row.count, Object.keys(counts));
    const message = `found the count ${shown(row.count)}, which is not declared under counts.${suggestion}`;
    reportAt([...path, "count"], "unknown_count", message);
  };

  for (const { step, path, list } of listAllSteps(flow)) {
    for (const { row, rowPath, key } of listOwnRows(step, path)) {
      noteUse(row, rowPath);
      if (list.kind !== "each") lintTaskCount(lint, row, rowPath);
      if (key === "otherwise" && isGate(step)) lintGateBypass(lint, row, step.id);
    }
  }

  for (const [index, row] of (flow.when_step_fails ?? []).entries()) {
    noteUse(row, ["when_step_fails", index]);
  }

  for (const [name, count] of Object.entries(counts)) {
    const path = ["counts", name];
    noteUse(count.spent, [...path, "spent"]);
    lintBound(lint, count.at_most, [...path, "at_most"]);

    const cycle = findSpentCycle(lint, name);
    if (cycle !== null) {
      const message = `found spent counts that go round: ${cycle.join(" -> ")}`;
      reportAt([...path, "spent"], "spent_round", message);
    }
  }

  for (const name of Object.keys(counts)) {
    if (usedCounts.has(name)) continue;
    reportAt(
      ["counts", name],
      "count_unused",
      `found the count ${shown(name)}, which no row names`,
    );
  }
}

/** The rows of a step itself, with the key that has them. */
const listOwnRows = (step: Step, path: DataPath) =>
  (["then", "otherwise"] as const).flatMap((key) =>
    (step[key] ?? []).map((row, index) => ({ row, rowPath: [...path, key, index], key })),
  );

/** Outside the steps of a task, there is no task to count for. */
function lintTaskCount({ flow, reportAt }: Lint, row: Row, path: DataPath): void {
  const count = row.count === undefined ? undefined : flow.counts?.[row.count];
  if (count?.per !== "task") return;
  const message = "found a count per task outside the steps a task runs";
  reportAt([...path, "count"], "count_scope", message);
}

/** A count is bounded by a whole number, or by an option that counts and has a default. */
function lintBound({ flow, reportAt }: Lint, atMost: number | string, path: DataPath): void {
  if (typeof atMost === "number") {
    if (!Number.isInteger(atMost) || atMost < 0 || atMost > countMax) {
      reportAt(
        path,
        "count_bound",
        `found ${atMost}, expected a whole number from 0 to ${countMax}`,
      );
    }

    return;
  }

  const name = atMost.slice("option.".length);
  const options = flow.options ?? {};
  const option = Object.hasOwn(options, name) ? options[name] : undefined;
  if (option === undefined) {
    const suggestion = didYouMean(name, Object.keys(options));
    const message = `found ${atMost}, which is not declared under options.${suggestion}`;
    reportAt(path, "unknown_option", message);
  } else if (option.type !== "count") {
    reportAt(path, "count_bound", `found ${atMost}, which is a ${option.type}, expected a count`);
  } else if (option.default === undefined) {
    reportAt(path, "count_bound", `found ${atMost}, which has no default, so nothing bounds it`);
  }
}

/** The chain of counts that spent rows use, if it returns to this one. */
function findSpentCycle({ flow }: Lint, name: string): readonly string[] | null {
  const chain = [name];
  let next = flow.counts?.[name]?.spent.count;

  while (next !== undefined && !chain.includes(next)) {
    chain.push(next);
    next = flow.counts?.[next]?.spent.count;
  }

  // A cycle is reported once, at the counts in it.
  return next === name ? [...chain, next] : null;
}

/** A gate that failed until its count was spent has still failed. */
function lintGateBypass({ flow, reportAt }: Lint, row: Row, gate: string): void {
  const visitedNames = new Set<string>();
  let name = row.count;

  while (name !== undefined && !visitedNames.has(name)) {
    visitedNames.add(name);
    const spent: Row | undefined = flow.counts?.[name]?.spent;

    if (spent?.end === "completed") {
      const message = `found end: completed once ${shown(name)} is spent, and it is counted when ${gate} has failed, which must hold`;
      reportAt(["counts", name, "spent"], "spent_completes_gate", message);
    }

    name = spent?.count;
  }
}
