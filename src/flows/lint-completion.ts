// lint-completion: follows every abstract path through a list of steps, to see whether `completed` can be reached past a failure.
//
// Outcomes are abstract: each step passes, fails or is skipped; facts may hold or not, counts may be spent or not. So a path may be found
// that no run takes, never the other way round.
//
// Invariants:
//   C1. No path to `completed` past a gate that last failed.
//   C2. No path to `completed` without a proof by the runner since the last agent turn.
//   C3. A row that depends on a fact the runner made since may complete: the runner has judged.
//   C4. An agent's claim alone completes nothing.

import type { Flow, Row, Step } from "../contracts/flow.ts";
import type { DataPath } from "../kit/finding.ts";
import { stepListName, spentOf, stepTarget } from "./lint-routes.ts";
import type { Lint } from "./lint-subject.ts";
import { rowsAfterFailure, isGate, flowLists, rowsAfterPass, type LocatedRow, type StepList } from "./lists.ts";

const statesMax = 20_000;

export function lintCompletion(lint: Lint): void {
  for (const list of flowLists(lint.flow)) {
    lintCompletionOnSays(lint, list);
    // What follows the work (after, closing) may end completed with a reason; what precedes it has produced nothing yet.
    if (list.group === "phases" && list.kind !== "closing") explore(lint, list);
  }
}

/** C4 */
function lintCompletionOnSays({ flow, say }: Lint, list: StepList): void {
  for (const [n, step] of list.steps.entries()) {
    const path = [...list.path, n];
    for (const { row, path: at } of [...rowsAfterPass(step, path), ...rowsAfterFailure(flow, step, path)]) {
      const facts = Object.keys(row.when ?? {}).filter((name) => !/^(option|count)\./.test(name));
      const isEnd = row.end === "completed" || spentOf(flow, row).some(({ row: spent }) => spent.end === "completed");
      if (isEnd && facts.length > 0 && facts.every(isSaid))
        say(
          at,
          "completed_on_says",
          `found end: completed on what an agent says alone (${facts.join(", ")}), expected a fact of the runner's beside it`,
        );
    }
  }
}

const isSaid = (fact: string): boolean => fact.split(".").includes("says");

type Outcome = "passed" | "failed" | "skipped";
/** The state of a path: the step, the last result of each step, and whether a proof has passed since the last turn. */
type Spot = { readonly at: number; readonly last: readonly (Outcome | null)[]; readonly isProved: boolean };

function explore({ flow, say }: Lint, list: StepList): void {
  const { steps } = list;
  const reported = new Set<string>();
  const report = (path: DataPath, rule: string, message: string): void => {
    if (reported.has(JSON.stringify([path, rule]))) return;
    reported.add(JSON.stringify([path, rule]));
    say(path, rule, message);
  };
  let completes = 0;
  const seen = new Set<string>();
  const stack: Spot[] = [{ at: 0, last: steps.map(() => null), isProved: true }];
  const enter = (spot: Spot): void => {
    const key = JSON.stringify(spot);
    if (seen.has(key) || seen.size >= statesMax) return;
    seen.add(key);
    stack.push(spot);
  };
  const complete = (spot: Spot, row: Row | null, path: DataPath): void => {
    completes += 1;
    if (row !== null && restsOnRunner(steps, row)) return; // C3
    const failed = steps.find((step, n) => isGate(step) && spot.last[n] === "failed");
    if (failed !== undefined)
      report(path, "completed_past_gate", `found a way to completed while ${failed.id} has failed, expected no way past a failed gate`); // C1
    else if (!spot.isProved && list.kind === "phase")
      report(path, "completed_without_proof", "found a way to completed without a proof of the runner's since the last agent turn"); // C2
  };
  while (stack.length > 0) {
    const spot = stack.pop();
    const step = spot === undefined ? undefined : steps[spot.at];
    if (spot === undefined || step === undefined) continue;
    for (const after of stepOutcomes(step, spot)) {
      for (const { row, path, isSkip } of flowWays(flow, list, step, after)) {
        const here = isSkip ? { ...after, last: after.last.with(after.at, "skipped"), isProved: true } : after;
        const to = row === null ? here.at + 1 : stepTarget(steps, here.at, row);
        if (row?.end === "completed" || to === steps.length) complete(here, row, path);
        else if (row !== null && typeof row.go === "object") completes += 1;
        else if (to !== null)
          enter({
            at: to,
            last: to > here.at ? here.last : here.last.map((outcome, n) => (n >= to ? null : outcome)),
            isProved: here.isProved,
          });
      }
    }
  }
  if (completes === 0) say(list.path, "never_completes", `found no way to completed in ${stepListName(list)}`);
  if (seen.size >= statesMax)
    say(
      list.path,
      "explored_partly",
      `found more than ${statesMax} ways through ${stepListName(list)}; the rest was not looked at`,
      "warning",
    );
}

/** The possible results of a step here. A human step never fails; one without conditions is never skipped. */
function stepOutcomes(step: Step, spot: Spot): readonly Spot[] {
  const outcomes: Outcome[] = ["passed"];
  if (step.human === undefined) outcomes.push("failed");
  if (step.only_if !== undefined || step.unless !== undefined) outcomes.push("skipped");
  return outcomes.map((outcome) => ({
    at: spot.at,
    last: spot.last.with(spot.at, outcome),
    isProved: isProvedAfter(step, outcome, spot.isProved),
  }));
}

/** C2: a turn unproves, a passed gate proves; tasks prove if every turn in them is proved. */
function isProvedAfter(step: Step, outcome: Outcome, was: boolean): boolean {
  if (outcome === "skipped") return was;
  if (isGate(step)) return outcome === "passed";
  if (step.agent !== undefined) return false;
  if (step.flow !== undefined) return outcome === "passed";
  if (step.tasks !== undefined)
    return (
      outcome === "passed" &&
      step.tasks.each.every(
        (candidate) =>
          candidate.agent === undefined || isGate(candidate) || step.tasks?.each.some((other) => other.check !== undefined) === true,
      )
    );
  return was;
}

type Way = { readonly row: Row | null; readonly path: DataPath; readonly isSkip: boolean };

/** The rows an outcome may take: those whose facts about outcomes fit, up to the first that is sure to match. */
function flowWays(flow: Flow, list: StepList, step: Step, spot: Spot): readonly Way[] {
  const path = [...list.path, spot.at];
  const isFailed = spot.last[spot.at] === "failed";
  const rows = isFailed ? rowsAfterFailure(flow, step, path) : rowsAfterPass(step, path);
  const fitting = rows.filter(({ row }) => fits(list.steps, row, spot));
  const sure = fitting.findIndex(({ row }) => Object.keys(row.when ?? {}).every((fact) => list.steps.some(({ id }) => id === fact)));
  const ways = (sure < 0 ? fitting : fitting.slice(0, sure + 1))
    .flatMap((located) => [located, ...spentOf(flow, located.row)])
    .flatMap(asWays);
  return sure >= 0 ? ways : [...ways, { row: null, path, isSkip: false }];
}

/** A failed step's built-in question has three answers: again (nothing new), skip the step, stop. */
function asWays({ row, path }: LocatedRow): readonly Way[] {
  if (row.ask === undefined) return [{ row, path, isSkip: false }];
  return Object.hasOwn(row.ask, "B") ? [{ row: null, path, isSkip: true }] : [];
}

function fits(steps: readonly Step[], row: Row, spot: Spot): boolean {
  return Object.entries(row.when ?? {}).every(([fact, want]) => {
    const index = steps.findIndex(({ id }) => id === fact);
    if (index >= 0) return Array.isArray(want) ? want.includes(spot.last[index] ?? "") : want === spot.last[index];
    // Any other fact of a step is absent while the step has no outcome, and an absent fact matches nothing.
    const [head, second] = fact.split(".");
    const owner = steps.findIndex(({ id }) => id === head);
    if (owner < 0) return true;
    const outcome = spot.last[owner] ?? null;
    return outcome !== null && (outcome !== "skipped" || second === undefined);
  });
}

/** C3: a fact that a `run` step made. It is valid only while the path has not gone back before that step. */
function restsOnRunner(steps: readonly Step[], row: Row): boolean {
  return Object.keys(row.when ?? {}).some((fact) => {
    const [head, second] = fact.split(".");
    return second !== undefined && second !== "says" && steps.some((step) => step.id === head && step.run !== undefined);
  });
}
