// survey-project: what is in the folders when a project is resumed, held against what its state file says. Where they disagree, the folders hold.
//
// Invariant:
//   V1. A state file that shows a step failed with its retries used up waits for a person, wherever the run would begin; only folders that
//       prove that very step beat it.

import type { CurrentStep } from "../../../contracts/staged-state.ts";
import { phaseRule } from "../../../core/selectors.ts";
import type { RunView, CursorView } from "../../../core/state.ts";
import { type Begin, correctionsOf, isSpent } from "../views/staged-corrections.ts";
import type { StagedRead } from "../views/staged-state-read.ts";
import type { DocumentDiffered, FunctionInput, FunctionResult } from "../../../ports/functions.ts";
import { draftedState } from "../files/staged-record.ts";
import { flowFile, isLeftOut, flowPart, describePart } from "../files/staged-scan.ts";
import type { StagedParts } from "./parts.ts";
import { lookAtCommit } from "./tree-look.ts";

type Phase = RunView["phases"][number];
type Recorded = StagedRead["state"] | null;

export function surveyProject({ workspace, readBlob }: Pick<StagedParts, "workspace" | "readBlob">) {
  return {
    version: 1,
    effect: "none" as const,
    async perform({ state, commit }: FunctionInput<RunView, CursorView>): Promise<FunctionResult> {
      const { paths } = await lookAtCommit(workspace, commit);
      const recorded = draftedState(state, readBlob);
      const entered = enteredOf(state, recorded);
      const failed = failedIn(state, recorded, entered);
      const facts = {
        entered: entered?.id ?? "",
        drafts: paths.filter((path) => /^_docs\/01_solution\/solution_draft[^/]*\.md$/.test(path)).length,
        failed,
        ...(failed === "no" ? {} : { failed_step: failedText(recorded?.current), blocker: recorded?.blockers.join("; ") ?? "" }),
      };
      // What a person must decide first is journaled once they have: reset-failed-step.ts.
      return { ok: true, facts, differed: failed === "no" ? corrections(state, recorded, entered, paths) : [] };
    },
  };
}

/** Where a run begins that finds this record. */
export function beginOf(run: RunView, recorded: Recorded): Begin {
  const entered = enteredOf(run, recorded);
  return entered === null ? null : { flow: run.drafted.flow.flow, step: entered.id, name: entered.name };
}

/** The first step that the folders do not prove and the record does not leave out. */
function enteredOf({ phases, proved, drafted: { flow } }: RunView, recorded: Recorded): Phase | null {
  const isOpen = (phase: Phase): boolean =>
    !proved.includes(phase.id) && !(phaseRule(flow, phase.id).optional === true && isLeftOut(flow, phase, recorded));
  return phases.find((phase) => phase.group === "phases" && isOpen(phase)) ?? null;
}

/** A step whose retries were used up is not retried by itself: a person says so. V1 */
function failedIn(run: RunView, recorded: Recorded, entered: Phase | null): "no" | "required" | "optional" {
  const current = recorded?.current ?? null;
  if (current === null || !isSpent(recorded)) return "no";
  if (current.flow !== run.drafted.flow.flow) return "required";
  if (entered === null || run.proved.includes(String(current.step)) || Number(entered.id) > Number(current.step)) return "no";
  return String(current.step) === entered.id && phaseRule(run.drafted.flow, entered.id).optional === true ? "optional" : "required";
}

const failedText = (current: CurrentStep | null | undefined): string =>
  current === null || current === undefined
    ? ""
    : `${current.flow} step ${current.step} ${current.name}${current.sub_step === null ? "" : `, at ${current.sub_step}`}`;

/** The cross-check: both values, and the file that decided. */
function corrections(run: RunView, recorded: Recorded, entered: Phase | null, paths: readonly string[]): readonly DocumentDiffered[] {
  if (recorded === null) return [];
  const part = entered === null ? null : flowPart(run.drafted.flow, entered.id, paths);
  const begin = beginOf(run, recorded);
  const elsewhere = whyElsewhere(run, recorded.current, entered);
  if (part === null || begin === null) return correctionsOf(recorded, begin, elsewhere);
  const begun = recorded.current?.status === "not_started" ? `${describePart(part)}, so step ${begin.step} was begun` : null;
  return correctionsOf(recorded, { ...begin, isBegun: true }, elsewhere ?? begun);
}

/** Why the run begins elsewhere than the file says; null if it doesn't. */
function whyElsewhere({ drafted: { flow } }: RunView, current: CurrentStep | null, entered: Phase | null): string | null {
  if (current === null) return "its Current Step cannot be read, so the folders tell";
  if (current.flow !== flow.flow) return `the run walks ${flow.flow}`;
  const position = current.step === "done" ? Number.POSITIVE_INFINITY : current.step;
  const is = entered === null ? Number.POSITIVE_INFINITY : Number(entered.id);
  if (position === is) return null;
  const behind = entered === null || is > position ? String(current.step) : entered.id;
  const what = flowFile(flow, behind) ?? `the documents of step ${behind}`;
  return is > position ? `${what} is there, so step ${behind} is done` : `${what} is not there, so step ${behind} is not done`;
}
