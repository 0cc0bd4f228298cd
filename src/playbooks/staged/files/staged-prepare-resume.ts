// staged-prepare-resume: before a staged run continues: the summary first, then foreign edits of the state file, read and journaled.

import type { Draft } from "../../../contracts/event.ts";
import { retriesMax } from "../../../contracts/staged-state.ts";
import type { RunView } from "../../../core/state.ts";
import { isResearchDecided } from "../views/staged-decisions.ts";
import type { StagedRead } from "../views/staged-state-read.ts";
import { differedFields } from "../views/staged-differences.ts";
import { stagedSummary } from "../views/staged-summary.ts";
import { git } from "../../../workspace/git/git.ts";
import { findGitPlaces } from "../../../workspace/git/places.ts";
import { userViewCall } from "../../../workspace/git/user-view.ts";
import { runFolder } from "../../../project/runs/project-paths.ts";
import { readAgain } from "../steps/state-file.ts";
import type { PreparedResume, PrepareResumeInput } from "../../contract/playbook.ts";
import { blobsIn, findEntries } from "../../contract/recorded.ts";
import { StagedFile } from "./staged-file.ts";
import { draftedText } from "./staged-record.ts";

const filesShownMax = 5;

export async function prepareStagedResume({ context, paths, view }: PrepareResumeInput): Promise<PreparedResume> {
  const folder = runFolder(paths, view.drafted.run_id);
  const file = new StagedFile(paths.root, folder);
  const first = draftedText(view, blobsIn(folder));
  const because = "what proves the steps of this run lies on its branch; optional steps before theirs are passed over";
  const again = await readAgain(file, { first, seq: view.seq, because, entries: () => findEntries(folder) });
  for (const line of again.state === null ? [] : stagedSummary(again.state)) context.show(line);
  const answers = again.state === null || again.ours === null ? [] : findAnswers(view, again.state, again.ours, context.user);
  return {
    events: [...again.differed.map((differed): Draft => ({ event: "document_differed", ...differed })), ...answers],
    warnings: [
      ...(again.why === null ? [] : [`${again.why}; it is set aside and written anew.`]),
      ...again.differed
        .filter(({ field }) => field !== differedFields.dropped)
        .map(({ field, because: why }) => `${field} of the state file was changed by somebody else: ${why}.`),
      ...(await unseenEdits(paths.root, view)),
    ],
  };
}

/** What an edit says that a question of the run waits for: a reset, a step left out, the research decision. */
function findAnswers(view: RunView, theirs: StagedRead["state"], ours: StagedRead["state"], user: string): readonly Draft[] {
  const { current } = theirs;
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
    if (block.step === "decision" && isResearchDecided(theirs.decisions) && !isResearchDecided(ours.decisions)) return answer("B");
    // Of a step that failed for good, in this run or before it.
    if (!(block.house || block.code === "phase_failed") || current === null || current.flow !== view.drafted.flow.flow) return [];
    const was = ours.current;
    const isSkipped =
      current.status === "skipped" || (typeof current.step === "number" && typeof was?.step === "number" && current.step > was.step);
    if (isSkipped && Object.hasOwn(block.options, "B")) return answer("B");
    const wasSpent = was?.status === "failed" && was.retry_count === retriesMax;
    return wasSpent && current.step === was.step && current.status !== "failed" && current.retry_count === 0 ? answer("A") : [];
  });
}

/** Documents that were changed on the user's branch since it parted from the run's: the run does not see them. */
async function unseenEdits(root: string, { drafted: { run_id, base } }: RunView): Promise<readonly string[]> {
  if (base.branch === null) return [];
  const places = findGitPlaces(root);
  if (places === null) return [];
  const { code, out } = await git({
    ...userViewCall(places),
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
