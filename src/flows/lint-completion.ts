// lint-completion: follows every abstract path through a list of steps, to see whether `completed`
// can be reached past a failure.
//
// Outcomes are abstract: each step passes, fails or is skipped; facts may hold or not, counts may
// be spent or not. So a path may be found that no run takes, never the other way round.
//
// Invariants:
//   C1. No path to `completed` past a gate that last failed.
//   C2. No path to `completed` without a proof by the runner since the last agent turn.
//   C3. A row that depends on a fact the runner made since may complete: the runner has judged.
//   C4. An agent's claim alone completes nothing.

import type { Flow, Row, Step } from "../contracts/flow.ts";
import type { DataPath } from "../kit/finding.ts";
import { describeStepList, listSpentRows, findTargetIndex } from "./lint-routes.ts";
import type { Lint } from "./lint-subject.ts";
import {
  listRowsAfterFailure,
  isGate,
  listStepLists,
  listRowsAfterPass,
  type LocatedRow,
  type StepList,
} from "./step-lists.ts";

const statesMax = 20_000;

/** No list of steps can complete past a failure, or on an agent's word alone. */
export function lintCompletion(lint: Lint): void {
  for (const list of listStepLists(lint.flow)) {
    lintCompletionOnSays(lint, list);
    // What follows the work (after, closing) may end completed with a reason; what precedes it has
    // produced nothing yet.
    if (list.group === "phases" && list.kind !== "closing") explore(lint, list);
  }
}

/** Reports rows that complete on an agent's claims alone. C4 */
function lintCompletionOnSays({ flow, reportAt }: Lint, list: StepList): void {
  for (const [index, step] of list.steps.entries()) {
    const path = [...list.path, index];
    for (const located of [
      ...listRowsAfterPass(step, path),
      ...listRowsAfterFailure(flow, step, path),
    ]) {
      const { row } = located;
      const facts = Object.keys(row.when ?? {}).filter((name) => !/^(option|count)\./.test(name));
      const isEnd =
        row.end === "completed" ||
        listSpentRows(flow, row).some(({ row: spentRow }) => spentRow.end === "completed");
      if (isEnd && facts.length > 0 && facts.every(isClaim)) {
        reportAt(
          located.path,
          "completed_on_says",
          `found end: completed on what an agent says alone (${facts.join(", ")}), expected a fact of the runner's beside it`,
        );
      }
    }
  }
}

const isClaim = (fact: string): boolean => fact.split(".").includes("says");

type Outcome = "passed" | "failed" | "skipped";
/**
 * Where a path is: the index of the step, the last outcome of each step, and whether a proof has
 * passed since the last turn.
 */
type PathState = {
  readonly index: number;
  readonly outcomes: readonly (Outcome | null)[];
  readonly isProved: boolean;
};

/** Goes through every state that a path can reach, each once. */
function explore(lint: Lint, list: StepList): void {
  const { flow, reportAt } = lint;
  const { steps } = list;
  const completions = openCompletionReport(lint, list);
  const visitedKeys = new Set<string>();
  const stack: PathState[] = [{ index: 0, outcomes: steps.map(() => null), isProved: true }];

  const enter = (state: PathState): void => {
    const key = JSON.stringify(state);
    if (visitedKeys.has(key) || visitedKeys.size >= statesMax) return;
    visitedKeys.add(key);
    stack.push(state);
  };

  for (let state = stack.pop(); state !== undefined; state = stack.pop()) {
    const step = steps[state.index];
    if (step === undefined) continue;
    for (const stateAfter of stepOutcomes(step, state)) {
      for (const route of listRoutes(flow, list, step, stateAfter)) {
        const leaving = route.isSkip ? withSkippedStep(stateAfter) : stateAfter;
        const target =
          route.row === null ? leaving.index + 1 : findTargetIndex(steps, leaving.index, route.row);
        if (route.row?.end === "completed" || target === steps.length) {
          completions.add(leaving, route);
        } else if (route.row !== null && typeof route.row.go === "object") {
          completions.addPhaseChange();
        } else if (target !== null) {
          enter(goTo(leaving, target));
        }
      }
    }
  }

  if (completions.count() === 0) {
    reportAt(
      list.path,
      "never_completes",
      `found no way to completed in ${describeStepList(list)}`,
    );
  }

  if (visitedKeys.size >= statesMax) {
    const message = `found more than ${statesMax} ways through ${describeStepList(list)}; the rest was not looked at`;
    reportAt(list.path, "explored_partly", message, "warning");
  }
}

const withSkippedStep = (state: PathState): PathState => ({
  ...state,
  outcomes: state.outcomes.with(state.index, "skipped"),
  isProved: true,
});

/** Going back forgets the outcomes at and after the target. */
function goTo({ index, outcomes, isProved }: PathState, target: number): PathState {
  const isForward = target > index;
  const keptOutcomes = isForward
    ? outcomes
    : outcomes.map((outcome, position) => (position >= target ? null : outcome));

  return { index: target, outcomes: keptOutcomes, isProved };
}

/** Counts the ways to `completed`, and reports each that should not be there, once per row. */
function openCompletionReport({ reportAt }: Lint, { steps, kind }: StepList) {
  let completionCount = 0;
  const reportedKeys = new Set<string>();

  const reportOnce = (path: DataPath, rule: string, message: string): void => {
    const key = JSON.stringify([path, rule]);
    if (!reportedKeys.has(key)) reportAt(path, rule, message);
    reportedKeys.add(key);
  };

  return {
    add: ({ outcomes, isProved }: PathState, { row, path }: Route): void => {
      completionCount += 1;
      if (row !== null && restsOnRunner(steps, row)) return; // C3
      const failedGate = steps.find((step, index) => isGate(step) && outcomes[index] === "failed");
      if (failedGate !== undefined) {
        const message = `found a way to completed while ${failedGate.id} has failed, expected no way past a failed gate`;
        reportOnce(path, "completed_past_gate", message); // C1
      } else if (!isProved && kind === "phase") {
        reportOnce(
          path,
          "completed_without_proof",
          "found a way to completed without a proof of the runner's since the last agent turn",
        );
      } // C2
    },
    /** A way to another phase may complete there. */
    addPhaseChange: (): void => {
      completionCount += 1;
    },
    count: (): number => completionCount,
  };
}

/**
 * The possible results of a step here. A human step never fails; one without conditions is never
 * skipped.
 */
function stepOutcomes(step: Step, { index, outcomes, isProved }: PathState): readonly PathState[] {
  const possible: Outcome[] = ["passed"];
  if (step.human === undefined) possible.push("failed");
  if (step.only_if !== undefined || step.unless !== undefined) possible.push("skipped");

  return possible.map((outcome) => ({
    index,
    outcomes: outcomes.with(index, outcome),
    isProved: isProvedAfter(step, outcome, isProved),
  }));
}

/** C2: a turn unproves, a passed gate proves; tasks prove if every turn in them is proved. */
function isProvedAfter(step: Step, outcome: Outcome, wasProved: boolean): boolean {
  if (outcome === "skipped") return wasProved;
  if (isGate(step)) return outcome === "passed";
  if (step.agent !== undefined) return false;
  if (step.flow !== undefined) return outcome === "passed";
  if (step.tasks === undefined) return wasProved;
  const { each: taskSteps } = step.tasks;
  const hasCheck = taskSteps.some(({ check }) => check !== undefined);

  return (
    outcome === "passed" &&
    taskSteps.every((taskStep) => taskStep.agent === undefined || isGate(taskStep) || hasCheck)
  );
}

/**
 * One way on from a step: by a row, or without one to the next step. `isSkip`: a person skips the
 * failed step.
 */
type Route = { readonly row: Row | null; readonly path: DataPath; readonly isSkip: boolean };

/**
 * The rows an outcome may take: those whose facts about outcomes match, up to the first that is
 * sure to match.
 */
function listRoutes(flow: Flow, list: StepList, step: Step, state: PathState): readonly Route[] {
  const path = [...list.path, state.index];
  const isFailed = state.outcomes[state.index] === "failed";
  const rows = isFailed ? listRowsAfterFailure(flow, step, path) : listRowsAfterPass(step, path);
  const matchingRows = rows.filter(({ row }) => mayMatch(list.steps, row, state));
  const isStepId = (fact: string): boolean => list.steps.some(({ id }) => id === fact);
  const sureIndex = matchingRows.findIndex(({ row }) =>
    Object.keys(row.when ?? {}).every(isStepId),
  );
  const reachedRows = sureIndex < 0 ? matchingRows : matchingRows.slice(0, sureIndex + 1);
  const routes = reachedRows
    .flatMap((located) => [located, ...listSpentRows(flow, located.row)])
    .flatMap(toRoutes);

  return sureIndex >= 0 ? routes : [...routes, { row: null, path, isSkip: false }];
}

/**
 * A failed step's built-in question has three answers: again (nothing new), skip the step, stop.
 */
function toRoutes({ row, path }: LocatedRow): readonly Route[] {
  if (row.ask === undefined) return [{ row, path, isSkip: false }];
  return Object.hasOwn(row.ask, "B") ? [{ row: null, path, isSkip: true }] : [];
}

/** Whether a row's condition can hold here: outcomes must match, other facts may. */
function mayMatch(steps: readonly Step[], row: Row, { outcomes }: PathState): boolean {
  return Object.entries(row.when ?? {}).every(([fact, want]) => {
    const index = steps.findIndex(({ id }) => id === fact);
    if (index >= 0) {
      return Array.isArray(want) ? want.includes(outcomes[index] ?? "") : want === outcomes[index];
    }

    // Any other fact of a step is absent while the step has no outcome, and an absent fact matches
    // nothing.
    const [stepId, factName] = fact.split(".");
    const ownerIndex = steps.findIndex(({ id }) => id === stepId);
    if (ownerIndex < 0) return true;
    const outcome = outcomes[ownerIndex] ?? null;

    return outcome !== null && (outcome !== "skipped" || factName === undefined);
  });
}

/**
 * C3: a fact that a `run` step made. It is valid only while the path has not gone back before that
 * step.
 */
function restsOnRunner(steps: readonly Step[], row: Row): boolean {
  return Object.keys(row.when ?? {}).some((fact) => {
    const [stepId, factName] = fact.split(".");
    return (
      factName !== undefined &&
      factName !== "says" &&
      steps.some((step) => step.id === stepId && step.run !== undefined)
    );
  });
}
