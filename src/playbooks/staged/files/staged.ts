// staged: the playbook of staged projects. Its file `_docs/_autopilot_state.md` is shared with
// people and other tools.
//
// Invariants:
//   W1. The file is derived from the journal, its blobs and the file's text when the run was
//       drafted, and from nothing else.
//   W2. A foreign edit is never overwritten before it was read and journaled.
//   W3. The text from when the run was drafted is not overwritten before its differences are
//       journaled and, if a step had failed for good, a person has decided.

import { lstatSync } from "node:fs";
import { join } from "node:path";
import { retriesMax, stagedStatePath } from "../../../contracts/staged-state.ts";
import { type Claim, StagedHistory } from "../views/staged-history.ts";
import type { ParsedStagedState } from "../views/parse-staged-state.ts";
import { renderStagedSummary } from "../views/staged-summary.ts";
import { renderStagedState } from "../views/staged-state.ts";
import { firstFew } from "../../../views/wording.ts";
import type { CommandContext } from "../../../project/command-context.ts";
import type {
  Playbook,
  PlaybookParts,
  FinishedProject,
  ForeignRun,
  OpenedPlaybook,
} from "../../contract/playbook.ts";
import { detectStaged } from "./staged-detect.ts";
import { StagedFile } from "./staged-file.ts";
import { prepareStaged } from "./staged-prepare.ts";
import { readDraftedState, readDraftedText } from "./staged-record.ts";
import { prepareStagedResume } from "./staged-prepare-resume.ts";

export const stagedPlaybook: Playbook = {
  ownedPaths: [stagedStatePath, `${stagedStatePath}.*.tmp`], // the second are temporary files that a crash left behind
  prepare: prepareStaged,
  prepareResume: prepareStagedResume,
  open: (parts) => Promise.resolve(openStaged(parts)),
  findForeign: findForeignStaged,
  findFinished: findFinishedStaged,
};

function openStaged({ root, folder, view, entries, readBlob }: PlaybookParts): OpenedPlaybook {
  const run = view();
  const draftedFileText = readDraftedText(run, readBlob);
  const history = new StagedHistory(run.drafted.flow, readDraftedState(run, readBlob), (hash) =>
    findClaim(readBlob(hash)),
  );

  const file = new StagedFile(root, folder);
  /** The newest entry about an edit of the file. */
  let differenceSeq = 0;

  const onEntry: OpenedPlaybook["onEntry"] = (entry) => {
    history.add(entry);
    if (entry.event === "document_differed" && entry.path === stagedStatePath) {
      differenceSeq = entry.seq;
    }
  };
  for (const entry of entries()) onEntry(entry, run);
  return {
    onEntry,
    phaseNotes: (phase) => history.notesFor(phase),
    writeFiles: async () => {
      if (!history.mayWrite) return; // W3
      await file.accept(differenceSeq); // W2
      await file.write(renderStagedState(history.state), draftedFileText); // W1
    },
  };
}

const decisionCharsMax = 300;
const blockersShownMax = 3;

/** The parts of an agent's return that the file reports. */
function findClaim(bytes: Buffer | null): Claim | null {
  try {
    const { claim } = JSON.parse(bytes?.toString("utf8") ?? "null") as {
      readonly claim: { summary?: unknown; decisions?: unknown; sub_step?: unknown } | null;
    };
    if (claim === null || typeof claim.summary !== "string") return null;
    const decisions: readonly unknown[] = Array.isArray(claim.decisions) ? claim.decisions : [];
    const texts = decisions.filter(
      (text): text is string => typeof text === "string" && text.trim() !== "",
    );

    const sub_step =
      typeof claim.sub_step === "string" && claim.sub_step.trim() !== "" ? claim.sub_step : null;
    return {
      summary: claim.summary,
      decisions: texts.map((text) => text.slice(0, decisionCharsMax)),
      sub_step,
    };
  } catch {
    return null; // unreadable: treated as no claim
  }
}

/** `_docs/00_problem/…` to `_docs/06_…/…` */
const knownDocuments = /^_docs\/0[0-6]_[a-z]+\//;

/** A staged project with open steps, begun by another tool or by a run that was stopped. */
async function findForeignStaged(
  _context: CommandContext,
  root: string,
): Promise<ForeignRun | null> {
  if (lstatSync(join(root, "_docs"), { throwIfNoEntry: false })?.isDirectory() !== true) {
    return null;
  } // a cheap test that most projects fail

  const { flow, step, name, because, stateFile, tree } = await detectStaged(root);
  const documents = tree.view.paths.filter((path) => knownDocuments.test(path));
  if ((stateFile === null && documents.length === 0) || step === "done") return null;

  return {
    flow,
    files: [
      ...(stateFile === null ? [] : [stagedStatePath]),
      ...(documents.length === 0 ? [] : ["_docs/"]),
    ],
    summary: `a staged project, ${flow} at step ${step} ${name}: ${because}${describeFailed(stateFile, step)}`,
    options: { chosen: `taken up from _docs/ at step ${step} ${name}` },
    // Only warnings: if the state file has faults, the folders decide, and the project can still be
    // resumed.
    findings: (stateFile?.findings ?? []).map((finding) => ({
      ...finding,
      severity: "warning" as const,
    })),
  };
}

/** A staged project whose steps are all done. */
async function findFinishedStaged(root: string): Promise<FinishedProject | null> {
  if (lstatSync(join(root, "_docs"), { throwIfNoEntry: false })?.isDirectory() !== true) {
    return null;
  }

  const { flow, step, stateFile } = await detectStaged(root);
  if (step !== "done") return null;
  return {
    message: `Every step of ${flow} is done; nothing was begun.`,
    summary:
      stateFile === null
        ? []
        : ["Staged project", ...renderStagedSummary(stateFile.state).map((line) => `  ${line}`)],
    next: ["autopilot go --flow existing-code takes new tasks"],
  };
}

/** Says so if the current step failed and its retries are used up: it waits for a person. */
function describeFailed(stateFile: ParsedStagedState | null, step: string): string {
  const { current, blockers } = stateFile?.state ?? { current: null, blockers: [] };
  if (
    current?.status !== "failed" ||
    current.retry_count < retriesMax ||
    String(current.step) !== step
  ) {
    return "";
  }

  const blockersText = blockers.length === 0 ? "" : ` (${firstFew(blockers, blockersShownMax)})`;
  return `; it failed and its retries are used up${blockersText}`;
}
