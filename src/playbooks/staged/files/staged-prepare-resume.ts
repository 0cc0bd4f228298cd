// staged-prepare-resume: before a staged run is resumed, shows its summary and turns edits of the state file into events.

import type { Draft } from "../../../contracts/event.ts";
import { retriesMax } from "../../../contracts/staged-state.ts";
import type { RunView } from "../../../core/state.ts";
import { isResearchDecided } from "../views/staged-decisions.ts";
import type { ParsedStagedState } from "../views/parse-staged-state.ts";
import { differedFields } from "../views/staged-differences.ts";
import { stagedSummary } from "../views/staged-summary.ts";
import { git } from "../../../workspace/git/git.ts";
import { findGitPlaces } from "../../../workspace/git/git-places.ts";
import { openUserView } from "../../../workspace/git/user-view.ts";
import { runFolder } from "../../../project/runs/project-paths.ts";
import { rereadStateFile } from "../steps/state-file.ts";
import type { PreparedResume, PrepareResumeInput } from "../../contract/playbook.ts";
import { blobReader, readEntries } from "../../contract/run-journal.ts";
import { StagedFile } from "./staged-file.ts";
import { draftedText } from "./staged-record.ts";

const filesShownMax = 5;

export async function prepareStagedResume({ context, paths, view }: PrepareResumeInput): Promise<PreparedResume> {
  const folder = runFolder(paths, view.drafted.run_id);
  const file = new StagedFile(paths.root, folder);
  const draftedFileText = draftedText(view, blobReader(folder));
  const because = "what proves the steps of this run lies on its branch; optional steps before theirs are passed over";
  const reading = await rereadStateFile(file, { draftedFileText, seq: view.seq, because, entries: () => readEntries(folder) });
  for (const line of reading.state === null ? [] : stagedSummary(reading.state)) context.show(line);
  const answers =
    reading.state === null || reading.ownState === null ? [] : findAnswers(view, reading.state, reading.ownState, context.user);
  return {
    events: [...reading.differed.map((differed): Draft => ({ event: "document_differed", ...differed })), ...answers],
    warnings: [
      ...(reading.why === null ? [] : [`${reading.why}; it is set aside and written anew.`]),
      ...reading.differed
        .filter(({ field }) => field !== differedFields.dropped)
        .map(({ field, because: why }) => `${field} of the state file was changed by somebody else: ${why}.`),
      ...(await describeUnseenEdits(paths.root, view)),
    ],
  };
}

/** Answers to open questions that follow from an edit of the file: a reset step, a skipped step, the research decision. */
function findAnswers(
  view: RunView,
  editedState: ParsedStagedState["state"],
  ownState: ParsedStagedState["state"],
  user: string,
): readonly Draft[] {
  const { current } = editedState;
  return Object.values(view.blocks).flatMap((block): Draft[] => {
    const answer = (choice: string): Draft[] => [
      {
        event: "block_answered",
        request: `state-file:${view.seq}:${block.block}`,
        block: block.block,
        answer: choice,
        actor: `operator:${user}`,
        reason_code: "block_answered",
      },
    ];
    if (block.step === "decision" && isResearchDecided(editedState.decisions) && !isResearchDecided(ownState.decisions)) return answer("B");
    // The other answers are for the question about a step that failed for good.
    if (!(block.house || block.code === "phase_failed") || current === null || current.flow !== view.drafted.flow.flow) return [];
    const ownStep = ownState.current;
    const isSkipped =
      current.status === "skipped" ||
      (typeof current.step === "number" && typeof ownStep?.step === "number" && current.step > ownStep.step);
    if (isSkipped && Object.hasOwn(block.options, "B")) return answer("B");
    const wereRetriesSpent = ownStep?.status === "failed" && ownStep.retry_count === retriesMax;
    return wereRetriesSpent && current.step === ownStep.step && current.status !== "failed" && current.retry_count === 0 ? answer("A") : [];
  });
}

/** Warns about documents that were changed on the user's branch since the run's branch started: the run does not see them. */
async function describeUnseenEdits(root: string, { drafted: { run_id, base } }: RunView): Promise<readonly string[]> {
  if (base.branch === null) return [];
  const places = findGitPlaces(root);
  if (places === null) return [];
  const { code, out } = await git({
    ...(await openUserView(places)),
    args: ["diff", "--name-only", "-z", "--no-renames", `refs/heads/autopilot/${run_id}...refs/heads/${base.branch}`, "--", "_docs"],
    codes: [0, 128],
  });
  const files =
    code === 0
      ? out
          .toString("utf8")
          .split("\0")
          .filter((path) => path !== "" && !path.endsWith("/_autopilot_state.md"))
      : [];
  if (files.length === 0) return [];
  const more = files.length > filesShownMax ? ` and ${files.length - filesShownMax} more` : "";
  return [
    `Changed on ${base.branch} since, and not seen by this run, which works on its own branch: ${files.slice(0, filesShownMax).join(", ")}${more}. autopilot stop, then autopilot go takes the project up with them.`,
  ];
}
