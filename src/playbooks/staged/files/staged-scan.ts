// staged-scan: the current step of a staged project, by its folders and by its record of optional steps.

import type { CurrentStep } from "../../../contracts/staged-state.ts";
import { listedPhases, phaseRule } from "../../../core/selectors.ts";
import type { FlowView } from "../../../core/state.ts";
import { findingProofs } from "../../../engine/survey.ts";
import { isRecordedSkipped, isResearchDecided } from "../views/staged-decisions.ts";
import type { StagedRead } from "../views/staged-state-read.ts";
import { proofFile } from "../views/staged-descriptions.ts";
import { judgeGates } from "../../../verify/gates/gates.ts";
import { isPlanned } from "../steps/research-decided.ts";
import { openTaskFault, unnamedTasks } from "../steps/task-proofs.ts";
import type { StagedTree } from "./staged-tree.ts";

export type Phase = { readonly id: string; readonly name: string };
export type Scan = {
  /** The first step that is not passed; null if all are. */
  readonly entered: Phase | null;
  readonly proved: readonly string[];
  /** The missing artifact, or the last one that was found. */
  readonly because: string;
  /** Where some of the entered step's documents are there and others are not: it was begun, whatever the state file says. */
  readonly part: Part | null;
};

/** A document of a step that is there, and one that is not. */
export type Part = { readonly there: string; readonly missing: string };

/** For a step that is neither proved nor untouched: a file of its proof on either side. Named proofs don't show that. */
export function flowPart(flow: FlowView, phase: string, paths: readonly string[]): Part | null {
  const files = findingProofs(flow, phase).flatMap((proof) =>
    typeof proof === "string" ? [] : [...(proof.files ?? []), proof.file ?? []].flat(),
  );
  const there = files.findLast((file) => paths.includes(file));
  const missing = files.find((file) => !paths.includes(file));
  return there === undefined || missing === undefined ? null : { there, missing };
}

export const describePart = ({ there, missing }: Part): string => `${there} is there, ${missing} is not`;

/** Null if there is no state file. */
type Recorded = StagedRead["state"] | null;

export async function scanFlow(flow: FlowView, tree: StagedTree, record: Recorded): Promise<Scan> {
  const phases = listedPhases(flow, "phases") ?? [];
  const found = await Promise.all(phases.map(({ id }) => missingOf(flow, id, tree, record)));
  const isProved = (at: number): boolean => found[at] === null;
  const isPassed = (phase: Phase, at: number): boolean =>
    isProved(at) || (phaseRule(flow, phase.id).optional === true && (found.includes(null, at + 1) || isLeftOut(flow, phase, record)));
  const at = phases.findIndex((phase, index) => !isPassed(phase, index));
  const proved = phases.filter((_, index) => isProved(index)).map(({ id }) => id);
  const entered = phases[at];
  const part = entered === undefined ? null : flowPart(flow, entered.id, tree.look.paths);
  return { entered: entered ?? null, proved, because: entered === undefined ? "every step is proved" : (found[at] ?? ""), part };
}

/** Null if a phase is found done; else what is missing. */
async function missingOf(flow: FlowView, phase: string, tree: StagedTree, record: Recorded): Promise<string | null> {
  const proofs = findingProofs(flow, phase);
  if (proofs.length === 0) return "nothing in the flow tells whether it is done";
  const gates = proofs.filter((proof) => typeof proof !== "string");
  const [failure] = judgeGates(gates, tree.facts).failures;
  if (failure !== undefined) return `${failure.file ?? failure.rule}: ${failure.found}`;
  for (const name of proofs.filter((proof) => typeof proof === "string")) {
    const fault = await lookBy(name, tree, record);
    if (fault !== null) return fault;
  }
  return null;
}

/** The named proofs that only look, asked of the folders. */
async function lookBy(name: string, { look }: StagedTree, record: Recorded): Promise<string | null> {
  switch (name) {
    case "research_decided":
      if (isResearchDecided(record?.decisions ?? []) || (await isPlanned(look))) return null;
      return "no decision to go on from research is recorded";
    case "open_task":
      return openTaskFault(look, true);
    case "every_task_named": {
      const [first] = await unnamedTasks(look);
      return first === undefined ? null : `${first} is named by no implementation report`;
    }
    default:
      return `${name} cannot be told from files alone`;
  }
}

/** An optional step is left out where the record says so, or is at a later one. */
export function isLeftOut(flow: FlowView, { id, name }: Phase, record: Recorded): boolean {
  if (record === null) return false;
  return isRecordedSkipped(name, record) || isBehind(flow, Number(id), record.current);
}

function isBehind({ flow }: FlowView, step: number, current: CurrentStep | null): boolean {
  if (current === null || current.flow !== flow) return false;
  return current.step === "done" || current.step > step || (current.step === step && current.status === "skipped");
}

/** The file that reports a step, for a person. */
export const flowFile = (flow: FlowView, phase: string): string | null =>
  listedPhases(flow, "phases")?.some(({ id }) => id === phase) === true ? proofFile(findingProofs(flow, phase)) : null;
