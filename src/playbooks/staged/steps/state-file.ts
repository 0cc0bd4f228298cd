// state-file: step that rereads the state file at a boundary. Edits by others are journaled, and
// decisions in them become facts.

import type { Entry } from "../../../contracts/event.ts";
import type { Facts } from "../../../contracts/outcome.ts";
import { stagedStatePath } from "../../../contracts/staged-state.ts";
import { ownValue } from "../../../core/own-values.ts";
import type { RunView, CursorView } from "../../../core/state.ts";
import { isRecordedSkipped, isResearchDecided } from "../views/staged-decisions.ts";
import { findStagedDifferences, describeStep } from "../views/staged-differences.ts";
import { parseStagedState, type ParsedStagedState } from "../views/parse-staged-state.ts";
import type { DocumentDiffered, FunctionInput, FunctionResult } from "../../../ports/functions.ts";
import type { Workspace } from "../../../ports/workspace.ts";
import { type StatedStep, StagedFile } from "../files/staged-file.ts";
import { readDraftedState, readDraftedText } from "../files/staged-record.ts";
import type { StagedParts } from "./staged-parts.ts";
import { viewCommit } from "./tree-view.ts";

/** The step `state_file`. */
export function createStateFileStep({
  paths,
  folder,
  readBlob,
  workspace,
  entries,
}: Omit<StagedParts, "verifier">) {
  return {
    version: 1,
    effect: "idempotent" as const,
    async perform({
      state,
      cursor,
      commit,
    }: FunctionInput<RunView, CursorView>): Promise<FunctionResult> {
      const file = new StagedFile(paths.root, folder);
      const reading = await rereadStateFile(file, {
        draftedFileText: readDraftedText(state, readBlob),
        seq: state.seq,
        entries,
      });

      const statedStep = await file.statedStep();
      const draftedDecisions = readDraftedState(state, readBlob)?.decisions ?? [];

      const facts = {
        edited: reading.differed.length > 0,
        decided: isResearchDecided(reading.state?.decisions ?? []),
        skip: isSkippedByEdit(state, cursor, statedStep, findEdits(reading, draftedDecisions)),
        drafts_found: Number(findSurveyOutcome(state)?.facts["drafts"] ?? 0),
        ...(await researchFacts(workspace, commit)),
      };

      const detail =
        reading.unreadableBecause === null ? {} : { detail: reading.unreadableBecause };
      return { ok: true, facts, differed: reading.differed, ...detail };
    },
  };
}

type StateFileReading = {
  /** Null if there is no file, or it cannot be read. */
  readonly state: ParsedStagedState["state"] | null;
  /** What the runner itself last wrote, if the file was edited since. */
  readonly ownState: ParsedStagedState["state"] | null;
  readonly differed: readonly DocumentDiffered[];
  /** Why the file cannot be read. */
  readonly unreadableBecause: string | null;
};

const keptStepReason =
  "what proves the steps of this run lies on its branch; optional steps before theirs are passed over";

type ReadOptions = {
  readonly draftedFileText: string | null;
  /** The newest entry of the run. */
  readonly seq: number;
  /** The whole journal; called only if an edit may already have been journaled. */
  readonly entries: () => Iterable<Entry>;
};

/** Reads the file and marks its edits as about to be journaled; the caller journals `differed`. */
export async function rereadStateFile(
  file: StagedFile,
  { draftedFileText, seq, entries }: ReadOptions,
): Promise<StateFileReading> {
  if (await file.isPending()) await file.accept(newestDifferenceSeq(entries())); // read and journaled before a restart, not overwritten yet
  const fileStatus = await file.inspect(draftedFileText);
  if (fileStatus.kind === "absent")
    return { state: null, ownState: null, differed: [], unreadableBecause: null };
  if (fileStatus.kind === "unusable") {
    return { state: null, ownState: null, differed: [], unreadableBecause: fileStatus.why };
  }

  const { state } = parseStagedState(fileStatus.text);
  if (fileStatus.kind === "known")
    return { state, ownState: null, differed: [], unreadableBecause: null };
  const ownState = parseStagedState(fileStatus.baseText).state;
  const differed = findStagedDifferences(state, ownState, {
    step: describeStep(ownState.current),
    because: keptStepReason,
  });

  const { current } = state;
  const hasMoved = current !== null && describeStep(current) !== describeStep(ownState.current);
  await file.markPending(
    fileStatus.text,
    hasMoved ? { step: current.step, status: current.status } : null,
    seq,
  );

  if (differed.length === 0) await file.accept(Number.POSITIVE_INFINITY); // nothing differs that is compared
  return { state, ownState, differed, unreadableBecause: null };
}

/** The newest journal entry about this file; 0 if there is none. */
function newestDifferenceSeq(entries: Iterable<Entry>): number {
  let newestSeq = 0;
  for (const entry of entries) {
    if (entry.event === "document_differed" && entry.path === stagedStatePath) {
      newestSeq = entry.seq;
    }
  }

  return newestSeq;
}

type Edits = Pick<ParsedStagedState["state"], "decisions" | "completed">;

/**
 * Decisions and completed rows that were added since the run was drafted: steps that an earlier run
 * skipped are asked about again.
 */
function findEdits(
  { state, ownState }: StateFileReading,
  draftedDecisions: readonly string[],
): Edits {
  const isNew = (row: Edits["completed"][number]): boolean =>
    ownState !== null &&
    !ownState.completed.some(
      ({ step, key_outcome }) => step === row.step && key_outcome === row.key_outcome,
    );

  return {
    decisions: (state?.decisions ?? []).filter((decision) => !draftedDecisions.includes(decision)),
    completed: (state?.completed ?? []).filter(isNew),
  };
}

/** Whether an edit skips this optional step: by naming a later one, or explicitly. */
function isSkippedByEdit(
  run: RunView,
  { phase }: CursorView,
  statedStep: StatedStep | null,
  edits: Edits,
): boolean {
  const name = run.phases.find(({ id }) => id === phase)?.name ?? "";
  const isGivenUp =
    ownValue(run.cursors, "before.survey")?.last["failed_optional"]?.facts["answer"] === "B"; // a person skipped the failed step
  if (isGivenUp && findSurveyOutcome(run)?.facts["entered"] === phase) return true;
  if (isRecordedSkipped(name, edits)) return true;
  if (statedStep === null || !/^\d+$/.test(phase)) return false;
  if (statedStep.step === "done") return true;

  return (
    statedStep.step > Number(phase) ||
    (statedStep.step === Number(phase) && statedStep.status === "skipped")
  );
}

/** The result of the survey at the start of the run. */
export const findSurveyOutcome = (run: RunView) =>
  ownValue(run.cursors, "before.survey")?.last["look"];

const summaryCharsMax = 200;
/** `_docs/01_solution/solution_draft01.md` */
export const solutionDraft = /^_docs\/01_solution\/solution_draft[^/]*\.md$/;

/** Shown to the person who decides whether research continues. */
async function researchFacts(workspace: Workspace, commit: string): Promise<Facts> {
  const tree = await viewCommit(workspace, commit);
  const draftPaths = tree.paths.filter((path) => solutionDraft.test(path)).sort();
  const has = (name: string): string =>
    tree.paths.includes(`_docs/01_solution/${name}`) ? "yes" : "no";
  const newestPath = draftPaths.at(-1);
  const text = newestPath === undefined ? "" : ((await tree.read(newestPath)) ?? "");
  const firstHeading = /^#+\s*(.+)$/m.exec(text)?.[1];
  const firstLine = text.split("\n").find((line) => line.trim() !== "");
  const summary = firstHeading ?? firstLine ?? "";

  return {
    drafts: draftPaths.length,
    tech_stack: has("tech_stack.md"),
    security_analysis: has("security_analysis.md"),
    summary: summary.trim().slice(0, summaryCharsMax),
  };
}
