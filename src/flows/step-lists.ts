// step-lists: lists the step lists of a flow (of its phases, tasks, waves and closing) and the
// steps in them, with their paths in the data.

import type { Flow, Row, Step } from "../contracts/flow.ts";
import type { DataPath } from "../kit/finding.ts";

/**
 * One list of steps that a cursor runs through: a phase's, a task's, a wave's, or the closing one.
 */
export type StepList = {
  readonly kind: "phase" | "each" | "wave" | "closing";
  readonly group: "before" | "phases" | "after";
  /** The phase's id; `*` if phases are read from a document. */
  readonly phase: string;
  readonly steps: readonly Step[];
  /** Where the list is in the flow's data. */
  readonly path: DataPath;
};

/** Every list of a flow, tasks' inner lists after the list that contains them. */
export function listStepLists(flow: Flow): readonly StepList[] {
  const lists: StepList[] = [];
  const add = (list: StepList): void => {
    lists.push(list);
    for (const [index, step] of list.steps.entries()) {
      if (step.tasks === undefined) continue;
      const path = [...list.path, index, "tasks"];
      lists.push({ ...list, kind: "each", steps: step.tasks.each, path: [...path, "each"] });

      if (step.tasks.wave !== undefined) {
        lists.push({ ...list, kind: "wave", steps: step.tasks.wave, path: [...path, "wave"] });
      }
    }
  };

  for (const group of ["before", "phases", "after"] as const) {
    const phases = flow[group] ?? [];
    if (!Array.isArray(phases)) {
      add({ kind: "phase", group, phase: "*", steps: flow.steps ?? [], path: ["steps"] });
    } else {
      for (const [index, phase] of phases.entries()) {
        add({
          kind: "phase",
          group,
          phase: phase.id,
          steps: phase.steps,
          path: [group, index, "steps"],
        });
      }
    }
  }

  if (flow.closing !== undefined) {
    add({ kind: "closing", group: "phases", phase: "*", steps: flow.closing, path: ["closing"] });
  }

  return lists;
}

/** Every step of a flow, with its path. */
export function listAllSteps(
  flow: Flow,
): readonly { readonly step: Step; readonly path: DataPath; readonly list: StepList }[] {
  return listStepLists(flow).flatMap((list) =>
    list.steps.map((step, index) => ({ step, path: [...list.path, index], list })),
  );
}

/** A routing row, and where it is in the flow's data. */
export type LocatedRow = { readonly row: Row; readonly path: DataPath };

/** The rows that decide after a step passed or was skipped. */
export const listRowsAfterPass = (step: Step, path: DataPath): LocatedRow[] =>
  (step.then ?? []).map((row, index) => ({ row, path: [...path, "then", index] }));

/** The rows that decide after a step failed: its own, then the flow's. */
export function listRowsAfterFailure(flow: Flow, step: Step, path: DataPath): LocatedRow[] {
  const stepFailureRows = (step.otherwise ?? []).map((row, index) => ({
    row,
    path: [...path, "otherwise", index],
  }));

  const flowRows = flow.when_step_fails ?? [{ end: "failed" as const }];
  const flowFailureRows = flowRows.map((row, index) => ({ row, path: ["when_step_fails", index] }));
  return [...stepFailureRows, ...flowFailureRows];
}

/** The rows that can be reached: none after one that always matches. */
export function selectReachableRows(rows: readonly LocatedRow[]): readonly LocatedRow[] {
  const unconditionalIndex = rows.findIndex(
    ({ row }) => row.when === undefined || Object.keys(row.when).length === 0,
  );
  return unconditionalIndex < 0 ? rows : rows.slice(0, unconditionalIndex + 1);
}

/** A step that decides by the runner's own evidence: a check, or one with a proof. */
export const isGate = (step: Step): boolean =>
  step.check !== undefined || (step.proof !== undefined && step.proof.length > 0);
