// staged-prepare-resume: before a staged run is resumed, shows its summary and turns edits of the
// state file into events.

import { listSome } from "../../../kit/list-some.ts";
import type { Draft } from "../../../contracts/event.ts";
import { retriesMax } from "../../../contracts/staged-state.ts";
import type { RunView } from "../../../core/state.ts";
import { isResearchDecided } from "../views/staged-decisions.ts";
import type { ParsedStagedState } from "../views/parse-staged-state.ts";
import { differedFields } from "../views/staged-differences.ts";
import { renderStagedSummary } from "../views/staged-summary.ts";
import { git } from "../../../workspace/git/git.ts";
import { findGitPlaces } from "../../../workspace/git/git-places.ts";
import { openUserView } from "../../../workspace/git/user-view.ts";
import { runFolder } from "../../../project/runs/project-paths.ts";
import { rereadStateFile } from "../steps/state-file.ts";
import type { PreparedResume, PrepareResumeInput } from "../../contract/playbook.ts";
import { openBlobReader, readEntries } from "../../contract/run-journal.ts";
import { StagedFile } from "./staged-file.ts";
import { readDraftedText } from "./staged-record.ts";
import { runBranchName } from "../../../contracts/run-branch.ts";

const filesShownMax = 5;

export async function prepareStagedResume({
  context,
  paths,
  view,
}: PrepareResumeInput): Promise<PreparedResume> {
  const folder = runFolder(paths, view.drafted.run_id);
  const file = new StagedFile(paths.root, folder);
  const draftedFileText = readDraftedText(view, openBlobReader(folder));

  const reading = await rereadStateFile(file, {
    draftedFileText,
    seq: view.seq,
    entries: () => readEntries(folder),
  });

  const { state, ownState, differed } = reading;
  for (const line of state === null ? [] : renderStagedSummary(state)) context.show(line);
  const answers =
    state === null || ownState === null ? [] : findAnswers(view, state, ownState, context.user);
  const shownDifferences = differed.filter(({ field }) => field !== differedFields.dropped); // shown with the decisions that are left

  return {
    events: [
      ...differed.map((difference): Draft => ({ event: "document_differed", ...difference })),
      ...answers,
    ],
    warnings: [
      ...(reading.unreadableBecause === null
        ? []
        : [`${reading.unreadableBecause}; it is set aside and written anew.`]),
      ...shownDifferences.map(
        ({ field, because: why }) =>
          `${field} of the state file was changed by somebody else: ${why}.`,
      ),
      ...(await describeUnseenEdits(paths.root, view)),
    ],
  };
}

type FileState = ParsedStagedState["state"];

/**
 * Answers to open questions that follow from an edit of the file: a reset step, a skipped step, the
 * research decision.
 */
function findAnswers(
  view: RunView,
  editedState: FileState,
  ownState: FileState,
  user: string,
): readonly Draft[] {
  const answers: Draft[] = [];
  for (const block of Object.values(view.blocks)) {
    const answer = findAnswer(view, block, editedState, ownState);
    if (answer === null) continue;
    answers.push({
      event: "block_answered",
      request: `state-file:${view.seq}:${block.block}`,
      block: block.block,
      answer,
      actor: `operator:${user}`,
      reason_code: "block_answered",
    });
  }

  return answers;
}

/** The option of a question that the edit chooses; null if it chooses none. */
function findAnswer(
  view: RunView,
  block: RunView["blocks"][string],
  editedState: FileState,
  ownState: FileState,
): "A" | "B" | null {
  const [editedStep, ownStep] = [editedState.current, ownState.current];
  if (
    block.step === "decision" &&
    isResearchDecided(editedState.decisions) &&
    !isResearchDecided(ownState.decisions)
  ) {
    return "B";
  }

  // The other answers are for the question about a step that failed for good.
  const isAboutFailure = block.house || block.code === "phase_failed";
  if (!isAboutFailure || editedStep === null || editedStep.flow !== view.drafted.flow.flow) {
    return null;
  }

  const isLaterStep =
    typeof editedStep.step === "number" &&
    typeof ownStep?.step === "number" &&
    editedStep.step > ownStep.step;
  if ((editedStep.status === "skipped" || isLaterStep) && Object.hasOwn(block.options, "B")) {
    return "B";
  }

  const wereRetriesSpent = ownStep?.status === "failed" && ownStep.retry_count === retriesMax;
  const isReset = editedStep.status !== "failed" && editedStep.retry_count === 0;
  return wereRetriesSpent && editedStep.step === ownStep.step && isReset ? "A" : null;
}

/**
 * Warns about documents that were changed on the user's branch since the run's branch started: the
 * run does not see them.
 */
async function describeUnseenEdits(
  root: string,
  { drafted: { run_id, base } }: RunView,
): Promise<readonly string[]> {
  if (base.branch === null) return [];
  const places = findGitPlaces(root);
  if (places === null) return [];

  const { code, out } = await git({
    ...(await openUserView(places)),
    args: [
      "diff",
      "--name-only",
      "-z",
      "--no-renames",
      `refs/heads/${runBranchName(run_id)}...refs/heads/${base.branch}`,
      "--",
      "_docs",
    ],
    acceptedExitCodes: [0, 128], // 128: one of the branches is gone
  });
  const changedPaths = code === 0 ? out.toString("utf8").split("\0") : [];
  const files = changedPaths.filter(
    (path) => path !== "" && !path.endsWith("/_autopilot_state.md"),
  );
  if (files.length === 0) return [];

  return [
    `Changed on ${base.branch} since, and not seen by this run, which works on its own branch: ${listSome(files, filesShownMax)}. autopilot stop, then autopilot go takes the project up with them.`,
  ];
}
