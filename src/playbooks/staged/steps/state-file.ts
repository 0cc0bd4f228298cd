// state-file: reads the state file again at a boundary. What others wrote into it since is journaled, and what of it decides becomes facts.

import type { Entry } from "../../../contracts/event.ts";
import type { Facts } from "../../../contracts/outcome.ts";
import { stagedStatePath } from "../../../contracts/staged-state.ts";
import { own } from "../../../core/record.ts";
import type { RunView, CursorView } from "../../../core/state.ts";
import { isRecordedSkipped, isResearchDecided } from "../views/staged-decisions.ts";
import { stagedDifferences, stepText } from "../views/staged-differences.ts";
import { readStagedState, type StagedRead } from "../views/staged-state-read.ts";
import type { DocumentDiffered, FunctionInput, FunctionResult } from "../../../ports/functions.ts";
import type { Workspace } from "../../../ports/workspace.ts";
import { type StatedStep, StagedFile } from "../files/staged-file.ts";
import { draftedState, draftedText } from "../files/staged-record.ts";
import type { StagedParts } from "./parts.ts";
import { lookAtCommit } from "./tree-look.ts";

export function stateFile({ paths, folder, readBlob, workspace, entries }: Omit<StagedParts, "verifier">) {
  return {
    version: 1,
    effect: "idempotent" as const,
    async perform({ state, cursor, commit }: FunctionInput<RunView, CursorView>): Promise<FunctionResult> {
      const file = new StagedFile(paths.root, folder);
      const read = await readAgain(file, {
        first: draftedText(state, readBlob),
        seq: state.seq,
        entries,
        because: "what proves the steps of this run lies on its branch; optional steps before theirs are passed over",
      });
      const said = await file.said();
      const facts = {
        edited: read.differed.length > 0,
        decided: isResearchDecided(read.state?.decisions ?? []),
        skip: isPassedOver(state, cursor, said, writtenSince(read, draftedState(state, readBlob)?.decisions ?? [])),
        drafts_found: Number(surveyed(state)?.facts["drafts"] ?? 0),
        ...(await researchFacts(workspace, commit)),
      };
      const reported = read.why === null ? {} : { detail: read.why };
      return { ok: true, facts, differed: read.differed, ...reported };
    },
  };
}

type Again = {
  readonly state: StagedRead["state"] | null;
  /** The runner's own text, if the file was edited since. */
  readonly ours: StagedRead["state"] | null;
  readonly differed: readonly DocumentDiffered[];
  readonly why: string | null;
};

type Reading = {
  readonly first: string | null;
  readonly seq: number;
  readonly because: string;
  /** The whole journal; read only if it must be known whether something was written down. */
  readonly entries: () => Iterable<Entry>;
};

/** Reads it, and remembers that it was read; what differs is for the journal. `because`: why our Current Step holds. */
export async function readAgain(file: StagedFile, { first, seq, because, entries }: Reading): Promise<Again> {
  if (await file.isPending()) await file.accept(newestDifference(entries())); // read before, journaled, and not drawn over yet
  const looked = await file.look(first);
  if (looked.kind === "absent") return { state: null, ours: null, differed: [], why: null };
  if (looked.kind === "unusable") return { state: null, ours: null, differed: [], why: looked.why };
  const { state } = readStagedState(looked.text);
  if (looked.kind === "known") return { state, ours: null, differed: [], why: null };
  const ours = readStagedState(looked.before).state;
  const differed = stagedDifferences(state, ours, { step: stepText(ours.current), because });
  const isOther = state.current !== null && stepText(state.current) !== stepText(ours.current);
  await file.pend(looked.text, isOther && state.current !== null ? { step: state.current.step, status: state.current.status } : null, seq);
  if (differed.length === 0) await file.accept(Number.POSITIVE_INFINITY); // only its spaces differ
  return { state, ours, differed, why: null };
}

/** The newest line of the journal that reports this file; 0 where there is none. */
function newestDifference(entries: Iterable<Entry>): number {
  let newest = 0;
  for (const entry of entries) if (entry.event === "document_differed" && entry.path === stagedStatePath) newest = entry.seq;
  return newest;
}

type Written = Pick<StagedRead["state"], "decisions" | "completed">;

/** Edits since the run was drafted: steps that an earlier run skipped are asked for again. */
function writtenSince({ state, ours }: Again, drafted: readonly string[]): Written {
  const isNew = (row: Written["completed"][number]): boolean =>
    ours !== null && !ours.completed.some(({ step, key_outcome }) => step === row.step && key_outcome === row.key_outcome);
  return {
    decisions: (state?.decisions ?? []).filter((decision) => !drafted.includes(decision)),
    completed: (state?.completed ?? []).filter(isNew),
  };
}

/** Whether an edit skips this optional step: by naming a later one, or explicitly. */
function isPassedOver(run: RunView, { phase }: CursorView, said: StatedStep | null, since: Written): boolean {
  const name = run.phases.find(({ id }) => id === phase)?.name ?? "";
  const wasFailed = own(run.cursors, "before.survey")?.last["failed_optional"]?.facts["answer"] === "B";
  if (wasFailed && surveyed(run)?.facts["entered"] === phase) return true;
  if (isRecordedSkipped(name, since)) return true;
  if (said === null || !/^\d+$/.test(phase)) return false;
  if (said.step === "done") return true;
  return said.step > Number(phase) || (said.step === Number(phase) && said.status === "skipped");
}

/** What was found when the project was resumed. */
export const surveyed = (run: RunView) => own(run.cursors, "before.survey")?.last["look"];

const drafts = /^_docs\/01_solution\/solution_draft[^/]*\.md$/;

/** Shown to the person who decides whether research continues. */
async function researchFacts(workspace: Workspace, commit: string): Promise<Facts> {
  const tree = await lookAtCommit(workspace, commit);
  const found = tree.paths.filter((path) => drafts.test(path)).sort();
  const has = (name: string): string => (tree.paths.includes(`_docs/01_solution/${name}`) ? "yes" : "no");
  const newest = found.at(-1);
  const text = newest === undefined ? null : await tree.read(newest);
  const summary = /^#+\s*(.+)$/m.exec(text ?? "")?.[1] ?? text?.split("\n").find((line) => line.trim() !== "") ?? "";
  return {
    drafts: found.length,
    tech_stack: has("tech_stack.md"),
    security_analysis: has("security_analysis.md"),
    summary: summary.trim().slice(0, 200),
  };
}
