// lint-counts: lints retry counts: each is declared, used and bounded, and exhausting it leads to
// an end.

import type { Row } from "../contracts/flow.ts";
import { shown, type DataPath } from "../kit/finding.ts";
import { didYouMean } from "../kit/suggest.ts";
import type { Lint } from "./lint-subject.ts";
import { isGate, listAllSteps } from "./step-lists.ts";

const countMax = 10_000;

/** Counts are declared, used and bounded by something known, and spending one leads to an end. */
export function lintCounts(lint: Lint): void {
  const { flow, say } = lint;
  const counts = flow.counts ?? {};
  const usedCounts = new Set<string>();

  const noteUse = (row: Row, path: DataPath): void => {
    if (row.count === undefined) return;
    usedCounts.add(row.count);

    if (!Object.hasOwn(counts, row.count)) {
      say(
        [...path, "count"],
        "unknown_count",
        `found the count ${shown(row.count)}, which is not declared under counts.${didYouMean(row.count, Object.keys(counts))}`,
      );
    }
  };

  for (const { step, path, list } of listAllSteps(flow)) {
    for (const key of ["then", "otherwise"] as const) {
      for (const [index, row] of (step[key] ?? []).entries()) {
        const rowPath = [...path, key, index];
        noteUse(row, rowPath);
        const count = row.count === undefined ? undefined : counts[row.count];
        if (count?.per === "task" && list.kind !== "each") {
          say(
            [...rowPath, "count"],
            "count_scope",
            `found a count per task outside the steps a task runs`,
          );
        }

        if (key === "otherwise" && isGate(step)) lintGateBypass(lint, row, step.id);
      }
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
      say(
        [...path, "spent"],
        "spent_round",
        `found spent counts that go round: ${cycle.join(" -> ")}`,
      );
    }
  }

  for (const name of Object.keys(counts)) {
    if (!usedCounts.has(name)) {
      say(["counts", name], "count_unused", `found the count ${shown(name)}, which no row names`);
    }
  }
}

/** A count is bounded by a whole number, or by an option that counts and has a default. */
function lintBound({ flow, say }: Lint, atMost: number | string, path: DataPath): void {
  if (typeof atMost === "number") {
    if (!Number.isInteger(atMost) || atMost < 0 || atMost > countMax) {
      say(path, "count_bound", `found ${atMost}, expected a whole number from 0 to ${countMax}`);
    }

    return;
  }

  const name = atMost.slice("option.".length);
  const option = Object.hasOwn(flow.options ?? {}, name) ? flow.options?.[name] : undefined;
  if (option === undefined) {
    say(
      path,
      "unknown_option",
      `found ${atMost}, which is not declared under options.${didYouMean(name, Object.keys(flow.options ?? {}))}`,
    );
  } else if (option.type !== "count") {
    say(path, "count_bound", `found ${atMost}, which is a ${option.type}, expected a count`);
  } else if (option.default === undefined) {
    say(path, "count_bound", `found ${atMost}, which has no default, so nothing bounds it`);
  }
}

/** The chain of counts that spent rows use, if it returns to this one. */
function findSpentCycle({ flow }: Lint, name: string): readonly string[] | null {
  const chain = [name];
  for (
    let next = flow.counts?.[name]?.spent.count;
    next !== undefined;
    next = flow.counts?.[next]?.spent.count
  ) {
    if (chain.includes(next)) return next === name ? [...chain, next] : null; // Reported once, at the counts in the cycle.
    chain.push(next);
  }

  return null;
}

/** A gate that failed until its count was spent has still failed. */
function lintGateBypass({ flow, say }: Lint, row: Row, gate: string): void {
  const visitedNames = new Set<string>();
  for (
    let name = row.count;
    name !== undefined && !visitedNames.has(name);
    name = flow.counts?.[name]?.spent.count
  ) {
    visitedNames.add(name);
    if (flow.counts?.[name]?.spent.end !== "completed") continue;
    say(
      ["counts", name, "spent"],
      "spent_completes_gate",
      `found end: completed once ${shown(name)} is spent, and it is counted when ${gate} has failed, which must hold`,
    );
  }
}
