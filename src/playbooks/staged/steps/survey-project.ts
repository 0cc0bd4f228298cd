// survey-project: step that compares the folders of a project with its state file when a run
// starts. If they disagree, the folders count.
//
// Invariant:
//   V1. If the state file shows a failed step with its retries used up, a person must decide,
//       wherever the run would begin; unless the folders prove that very step.

import type { CurrentStep } from "../../../contracts/staged-state.ts";
import { phaseRule } from "../../../core/selectors.ts";
import type { RunView, CursorView } from "../../../core/state.ts";
import { type BeginStep, findCorrections, areRetriesSpent } from "../views/staged-corrections.ts";
import type { ParsedStagedState } from "../views/parse-staged-state.ts";
import type { DocumentDiffered, FunctionInput, FunctionResult } from "../../../ports/functions.ts";
import { readDraftedState } from "../files/staged-record.ts";
import {
  findProofFile,
  isSkipped,
  findPartialProof,
  describePartial,
} from "../files/staged-scan.ts";
import type { StagedParts } from "./staged-parts.ts";
import { solutionDraft } from "./state-file.ts";
import { viewCommit } from "./tree-view.ts";

type Phase = RunView["phases"][number];
type StagedRecord = ParsedStagedState["state"] | null;

/** The step `survey_project`. */
export function createSurveyProjectStep({
  workspace,
  readBlob,
}: Pick<StagedParts, "workspace" | "readBlob">) {
  return {
    version: 1,
    effect: "none" as const,
    async perform({ state, commit }: FunctionInput<RunView, CursorView>): Promise<FunctionResult> {
      const { paths } = await viewCommit(workspace, commit);
      const record = readDraftedState(state, readBlob);
      const entered = findEntered(state, record);
      const failed = classifyFailure(state, record, entered);

      const facts = {
        entered: entered?.id ?? "",
        drafts: paths.filter((path) => solutionDraft.test(path)).length,
        failed,
        ...(failed === "no"
          ? {}
          : {
              failed_step: describeFailedStep(record?.current),
              blocker: record?.blockers.join("; ") ?? "",
            }),
      };

      // If a person must decide first, reset-failed-step.ts journals the corrections afterwards.
      return {
        ok: true,
        facts,
        differed: failed === "no" ? buildCorrections(state, record, entered, paths) : [],
      };
    },
  };
}

/** The step where a run with this record begins. */
export function findBegin(run: RunView, record: StagedRecord): BeginStep {
  const entered = findEntered(run, record);
  return entered === null
    ? null
    : { flow: run.drafted.flow.flow, step: entered.id, name: entered.name };
}

/** The first step that the folders do not prove and the record does not skip. */
function findEntered(
  { phases, proved, drafted: { flow } }: RunView,
  record: StagedRecord,
): Phase | null {
  const isOpen = (phase: Phase): boolean =>
    !proved.includes(phase.id) &&
    !(phaseRule(flow, phase.id).optional === true && isSkipped(flow, phase, record));
  return phases.find((phase) => phase.group === "phases" && isOpen(phase)) ?? null;
}

/** Whether the record shows a failed step that a person must decide about. V1 */
function classifyFailure(
  run: RunView,
  record: StagedRecord,
  entered: Phase | null,
): "no" | "required" | "optional" {
  const current = record?.current ?? null;
  if (current === null || !areRetriesSpent(record)) return "no";
  if (current.flow !== run.drafted.flow.flow) return "required";
  if (
    entered === null ||
    run.proved.includes(String(current.step)) ||
    Number(entered.id) > Number(current.step)
  ) {
    return "no";
  }

  return String(current.step) === entered.id &&
    phaseRule(run.drafted.flow, entered.id).optional === true
    ? "optional"
    : "required";
}

function describeFailedStep(current: CurrentStep | null | undefined): string {
  if (current === null || current === undefined) return "";
  const { flow, step, name, sub_step } = current;
  return `${flow} step ${step} ${name}${sub_step === null ? "" : `, at ${sub_step}`}`;
}

/**
 * The differences between the state file and where the run begins, each with the file that decides.
 */
function buildCorrections(
  run: RunView,
  record: StagedRecord,
  entered: Phase | null,
  paths: readonly string[],
): readonly DocumentDiffered[] {
  if (record === null) return [];
  const partial = entered === null ? null : findPartialProof(run.drafted.flow, entered.id, paths);
  const begin = findBegin(run, record);
  const moveReason = explainMove(run, record.current, entered);
  if (partial === null || begin === null) return findCorrections(record, begin, moveReason);
  const begunReason =
    record.current?.status === "not_started"
      ? `${describePartial(partial)}, so step ${begin.step} was begun`
      : null;

  return findCorrections(record, { ...begin, isBegun: true }, moveReason ?? begunReason);
}

/** Why the run begins at another step than the state file says; null if it does not. */
function explainMove(
  { drafted: { flow } }: RunView,
  current: CurrentStep | null,
  entered: Phase | null,
): string | null {
  if (current === null) return "its Current Step cannot be read, so the folders tell";
  if (current.flow !== flow.flow) return `the run walks ${flow.flow}`;
  const recordedStep = current.step === "done" ? Number.POSITIVE_INFINITY : current.step;
  const enteredStep = entered === null ? Number.POSITIVE_INFINITY : Number(entered.id);
  if (recordedStep === enteredStep) return null;
  const decidingStep =
    entered === null || enteredStep > recordedStep ? String(current.step) : entered.id;
  const proof = findProofFile(flow, decidingStep) ?? `the documents of step ${decidingStep}`;

  return enteredStep > recordedStep
    ? `${proof} is there, so step ${decidingStep} is done`
    : `${proof} is not there, so step ${decidingStep} is not done`;
}
