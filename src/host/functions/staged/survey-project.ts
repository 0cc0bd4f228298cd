// survey-project: what lies in the folders when a project is taken up, held against what its state file says. Where they disagree, the folders hold.

import { retriesMax, stagedStatePath } from "../../../contracts/staged-state.ts";
import { phaseRule } from "../../../core/reading.ts";
import type { RunView, WalkView } from "../../../core/state.ts";
import { differedFields, stepText } from "../../../faces/staged-differences.ts";
import type { StagedRead } from "../../../faces/staged-state-read.ts";
import type { DocumentDiffered, FunctionOrder, FunctionResult } from "../../../ports/functions.ts";
import { draftedState } from "../../faces/staged-record.ts";
import { fileOf, isLeftOut } from "../../faces/staged-scan.ts";
import type { StagedParts } from "./parts.ts";
import { lookAtCommit } from "./tree-look.ts";

type Phase = RunView["phases"][number];

export function surveyProject({ workspace, readBlob }: Pick<StagedParts, "workspace" | "readBlob">) {
  return {
    version: 1,
    effect: "none" as const,
    async perform({ state, commit }: FunctionOrder<RunView, WalkView>): Promise<FunctionResult> {
      const { paths } = await lookAtCommit(workspace, commit);
      const recorded = draftedState(state, readBlob);
      const entered = enteredOf(state, recorded);
      const failed = failedIn(state, recorded, entered);
      const facts = {
        entered: entered?.id ?? "",
        drafts: paths.filter((path) => /^_docs\/01_solution\/solution_draft[^/]*\.md$/.test(path)).length,
        failed,
        ...(failed === "no" ? {} : { failed_step: entered?.id ?? "", blocker: recorded?.blockers.join("; ") ?? "" }),
      };
      return { ok: true, facts, differed: corrections(state, recorded, entered) };
    },
  };
}

/** The first step that the folders do not prove and the record does not leave out. */
function enteredOf({ phases, proved, drafted: { flow } }: RunView, recorded: StagedRead["state"] | null): Phase | null {
  const isOpen = (phase: Phase): boolean =>
    !proved.includes(phase.id) && !(phaseRule(flow, phase.id).optional === true && isLeftOut(flow, phase, recorded));
  return phases.find((phase) => phase.group === "phases" && isOpen(phase)) ?? null;
}

/** A step whose retries were used up is not retried by itself: a person says so. */
function failedIn(run: RunView, recorded: StagedRead["state"] | null, entered: Phase | null): "no" | "required" | "optional" {
  const current = recorded?.current ?? null;
  if (current === null || entered === null || current.flow !== run.drafted.flow.flow || String(current.step) !== entered.id) return "no";
  if (current.status !== "failed" || current.retry_count < retriesMax) return "no";
  return phaseRule(run.drafted.flow, entered.id).optional === true ? "optional" : "required";
}

/** The cross-check: both values, and the file that decided. */
function corrections(run: RunView, recorded: StagedRead["state"] | null, entered: Phase | null): readonly DocumentDiffered[] {
  const current = recorded?.current ?? null;
  if (recorded === null) return [];
  const { flow } = run.drafted;
  const kept = entered === null ? "every step is proved" : `${flow.flow} step ${entered.id} ${entered.name}`;
  const because = (found: string): readonly DocumentDiffered[] => [
    { path: stagedStatePath, field: differedFields.current, found: stepText(current), kept, because: found },
  ];
  if (current === null) return because("its Current Step cannot be read, so the folders tell");
  if (current.flow !== flow.flow) return because(`the run walks ${flow.flow}`);
  const at = current.step === "done" ? Number.POSITIVE_INFINITY : current.step;
  const is = entered === null ? Number.POSITIVE_INFINITY : Number(entered.id);
  if (at === is) return [];
  const behind = entered === null || is > at ? String(current.step) : entered.id;
  const what = fileOf(flow, behind) ?? `the documents of step ${behind}`;
  return because(is > at ? `${what} is there, so step ${behind} is done` : `${what} is not there, so step ${behind} is not done`);
}
