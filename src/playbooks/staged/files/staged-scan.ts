// staged-scan: finds the current step of a staged project by its documents and by which optional
// steps its record skips.

import type { CurrentStep } from "../../../contracts/staged-state.ts";
import { declaredPhases, phaseRule } from "../../../core/selectors.ts";
import type { FlowView } from "../../../core/state.ts";
import { listProofsOfDone } from "../../../engine/survey.ts";
import { isRecordedSkipped, isResearchDecided } from "../views/staged-decisions.ts";
import type { ParsedStagedState } from "../views/parse-staged-state.ts";
import { pickProofFile } from "../views/staged-descriptions.ts";
import { judgeGates } from "../../../verify/gates/gates.ts";
import { hasPlan } from "../steps/research-decided.ts";
import { findOpenTaskFault, findUnnamedTasks } from "../steps/task-proofs.ts";
import type { StagedTree } from "./staged-tree.ts";

type StagedPhase = { readonly id: string; readonly name: string };
export type FlowScan = {
  /** The first step that is not passed; null if all are. */
  readonly entered: StagedPhase | null;
  readonly proved: readonly string[];
  /** What is missing for the entered step. */
  readonly because: string;
  /**
   * Set if some of the entered step's documents exist: it was begun, whatever the state file says.
   */
  readonly partial: PartialProof | null;
};

/** A document of a step that exists, and one that is missing. */
export type PartialProof = { readonly present: string; readonly missing: string };

/** Null if all or none of a step's documents exist. Only proofs by file count. */
export function findPartialProof(
  flow: FlowView,
  phase: string,
  paths: readonly string[],
): PartialProof | null {
  const gates = listProofsOfDone(flow, phase).filter((proof) => typeof proof !== "string");
  const files = gates.flatMap((gate) => [
    ...(gate.files ?? []),
    ...(gate.file === undefined ? [] : [gate.file]),
  ]);
  const present = files.findLast((file) => paths.includes(file));
  const missing = files.find((file) => !paths.includes(file));

  return present === undefined || missing === undefined ? null : { present, missing };
}

export const describePartial = ({ present, missing }: PartialProof): string =>
  `${present} is there, ${missing} is not`;

/** Null if there is no state file. */
type StagedRecord = ParsedStagedState["state"] | null;

/** Goes through the steps of a flow in order. */
export async function scanFlow(
  flow: FlowView,
  tree: StagedTree,
  record: StagedRecord,
): Promise<FlowScan> {
  const phases = declaredPhases(flow, "phases") ?? [];
  /** What is missing of each step; null if it is proved. */
  const missing = await Promise.all(phases.map(({ id }) => findMissing(flow, id, tree, record)));
  const isProved = (index: number): boolean => missing[index] === null;

  const isPassed = (phase: StagedPhase, index: number): boolean => {
    if (isProved(index)) return true;
    const isLaterProved = missing.includes(null, index + 1);
    return (
      phaseRule(flow, phase.id).optional === true &&
      (isLaterProved || isSkipped(flow, phase, record))
    );
  };
  const enteredIndex = phases.findIndex((phase, index) => !isPassed(phase, index));
  const proved = phases.filter((_, index) => isProved(index)).map(({ id }) => id);
  const entered = phases[enteredIndex];
  const partial =
    entered === undefined ? null : findPartialProof(flow, entered.id, tree.view.paths);

  return {
    entered: entered ?? null,
    proved,
    because: entered === undefined ? "every step is proved" : (missing[enteredIndex] ?? ""),
    partial,
  };
}

/** What is missing to prove a phase; null if it is proved. */
async function findMissing(
  flow: FlowView,
  phase: string,
  tree: StagedTree,
  record: StagedRecord,
): Promise<string | null> {
  const proofs = listProofsOfDone(flow, phase);
  if (proofs.length === 0) return "nothing in the flow tells whether it is done";
  const gates = proofs.filter((proof) => typeof proof !== "string");
  const [failure] = judgeGates(gates, tree.facts).failures;
  if (failure !== undefined) return `${failure.file ?? failure.rule}: ${failure.found}`;
  for (const name of proofs.filter((proof) => typeof proof === "string")) {
    const fault = await checkNamedProof(name, tree, record);
    if (fault !== null) return fault;
  }

  return null;
}

/** Evaluates a named proof on the documents alone; null if it holds. */
async function checkNamedProof(
  name: string,
  { view }: StagedTree,
  record: StagedRecord,
): Promise<string | null> {
  switch (name) {
    case "research_decided":
      if (isResearchDecided(record?.decisions ?? []) || (await hasPlan(view))) return null;
      return "no decision to go on from research is recorded";
    case "open_task":
      return findOpenTaskFault(view, true);
    case "every_task_named": {
      const [unnamedTask] = await findUnnamedTasks(view);
      return unnamedTask === undefined
        ? null
        : `${unnamedTask} is named by no implementation report`;
    }
    default:
      return `${name} cannot be told from files alone`;
  }
}

/** An optional step is skipped if the record says so, or is already at a later step. */
export function isSkipped(
  flow: FlowView,
  { id, name }: StagedPhase,
  record: StagedRecord,
): boolean {
  if (record === null) return false;
  return isRecordedSkipped(name, record) || isBeforeCurrent(flow, Number(id), record.current);
}

function isBeforeCurrent({ flow }: FlowView, step: number, current: CurrentStep | null): boolean {
  if (current === null || current.flow !== flow) return false;
  return (
    current.step === "done" ||
    current.step > step ||
    (current.step === step && current.status === "skipped")
  );
}

/** A file by which a person can see that a step is done. */
export const findProofFile = (flow: FlowView, phase: string): string | null =>
  declaredPhases(flow, "phases")?.some(({ id }) => id === phase) === true
    ? pickProofFile(listProofsOfDone(flow, phase))
    : null;
