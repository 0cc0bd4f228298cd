// staged: the playbook of staged projects: `_docs/_autopilot_state.md`, shared with people and with other tools.
//
// Invariants:
//   W1. The file follows from the journal and from its text when the run was drafted, and from nothing else.
//   W2. A foreign edit is never overwritten before it was read and journaled.
//   W3. The text from when the run was drafted is not overwritten before its differences are journaled and, if a step had failed for good,
//       a person has decided.

import { lstatSync } from "node:fs";
import { join } from "node:path";
import { retriesMax, stagedStatePath } from "../../../contracts/staged-state.ts";
import { type Claim, StagedHistory } from "../views/staged-history.ts";
import type { StagedRead } from "../views/staged-state-read.ts";
import { stagedSummary } from "../views/staged-summary.ts";
import { stagedStateText } from "../views/staged-state.ts";
import { firstFew } from "../../../views/wording.ts";
import type { CommandContext } from "../../../project/command-context.ts";
import type { Playbook, PlaybookParts, Finished, Foreign, OpenedPlaybook } from "../../contract/playbook.ts";
import { detectStaged } from "./staged-detect.ts";
import { StagedFile } from "./staged-file.ts";
import { prepareStaged } from "./staged-prepare.ts";
import { draftedState, draftedText } from "./staged-record.ts";
import { prepareStagedResume } from "./staged-prepare-resume.ts";

export const stagedPlaybook: Playbook = {
  owned: [stagedStatePath, `${stagedStatePath}.*.tmp`], // what a crash left of a drawing is ours too
  prepare: prepareStaged,
  prepareResume: prepareStagedResume,
  open: (parts) => Promise.resolve(openStaged(parts)),
  foreign: foreignStaged,
  finished: finishedStaged,
};

function openStaged({ root, folder, view, entries, readBlob }: PlaybookParts): OpenedPlaybook {
  const run = view();
  const first = draftedText(run, readBlob);
  const history = new StagedHistory(run.drafted.flow, draftedState(run, readBlob), (hash) => findClaim(readBlob(hash)));
  const file = new StagedFile(root, folder);
  let differedAt = 0;
  const take: OpenedPlaybook["take"] = (entry) => {
    history.take(entry);
    if (entry.event === "document_differed" && entry.path === stagedStatePath) differedAt = entry.seq;
  };
  for (const entry of entries()) take(entry, run);
  return {
    take,
    recorded: (phase) => history.handOver(phase),
    draw: async () => {
      if (!history.isTakenOver) return; // W3
      await file.accept(differedAt); // W2
      await file.write(stagedStateText(history.state), first);
    },
  };
}

const decisionCharsMax = 300;

/** The parts of an agent's return that the file reports. */
function findClaim(bytes: Buffer | null): Claim | null {
  try {
    const { claim } = JSON.parse(bytes?.toString("utf8") ?? "null") as {
      readonly claim: { summary?: unknown; decisions?: unknown; sub_step?: unknown } | null;
    };
    if (claim === null || typeof claim.summary !== "string") return null;
    const decisions: readonly unknown[] = Array.isArray(claim.decisions) ? claim.decisions : [];
    const texts = decisions.filter((text): text is string => typeof text === "string" && text.trim() !== "");
    const sub_step = typeof claim.sub_step === "string" && claim.sub_step.trim() !== "" ? claim.sub_step : null;
    return { summary: claim.summary, decisions: texts.map((text) => text.slice(0, decisionCharsMax)), sub_step };
  } catch {
    return null; // what cannot be read says nothing
  }
}

const known = /^_docs\/0[0-6]_[a-z]+\//;

/** A staged project that another tool began, or a run of ours that was ended: its documents are there, and not every step is done. */
async function foreignStaged(_context: CommandContext, root: string): Promise<Foreign | null> {
  if (lstatSync(join(root, "_docs"), { throwIfNoEntry: false })?.isDirectory() !== true) return null; // most folders, at no cost
  const { flow, step, name, because, read, tree } = await detectStaged(root);
  const documents = tree.look.paths.filter((path) => known.test(path));
  if ((read === null && documents.length === 0) || step === "done") return null;
  const files = [...(read === null ? [] : [stagedStatePath]), ...(documents.length === 0 ? [] : ["_docs/"])];
  return {
    flow,
    files,
    summary: `a staged project, ${flow} at step ${step} ${name}: ${because}${describeFailed(read, step)}`,
    options: { chosen: `taken up from _docs/ at step ${step} ${name}` },
    // If the file is not conclusive the folders are, so nothing in it keeps a project from being resumed.
    findings: (read?.findings ?? []).map((finding) => ({ ...finding, severity: "warning" as const })),
  };
}

/** Asked again, a project whose steps are all done answers with its status summary. */
async function finishedStaged(root: string): Promise<Finished | null> {
  if (lstatSync(join(root, "_docs"), { throwIfNoEntry: false })?.isDirectory() !== true) return null;
  const { flow, step, read } = await detectStaged(root);
  if (step !== "done") return null;
  return {
    message: `Every step of ${flow} is done; nothing was begun.`,
    summary: read === null ? [] : ["Staged project", ...stagedSummary(read.state).map((line) => `  ${line}`)],
    next: ["autopilot go --flow existing-code takes new tasks"],
  };
}

/** A step whose retries are used up waits for a person; a status query reports that. */
function describeFailed(read: StagedRead | null, step: string): string {
  const { current, blockers } = read?.state ?? { current: null, blockers: [] };
  if (current?.status !== "failed" || current.retry_count < retriesMax || String(current.step) !== step) return "";
  return `; it failed and its retries are used up${blockers.length === 0 ? "" : ` (${firstFew(blockers, 3)})`}`;
}
