// phase-found: whether existing documents prove this phase. Checked when it is entered, if an earlier log exists.
//
// Invariants:
//   P1. Without an earlier log nothing is taken over: the run starts over, whatever is under quality/.
//   P2. A phase that is run again is done again: what the user deleted is deleted on the branch too, so that the old version is not found.

import type { Entry } from "../../../contracts/event.ts";
import { missingFileField } from "../views/run-state-names.ts";
import { runOption } from "../../../core/selectors.ts";
import type { RunView, CursorView } from "../../../core/state.ts";
import { withoutFreshness } from "../../../engine/found-gates.ts";
import type { FunctionInput, FunctionResult } from "../../../ports/functions.ts";
import type { Verifier } from "../../../ports/verifier.ts";
import type { Workspace } from "../../../ports/workspace.ts";
import { countBugHeadings } from "./counted-in.ts";
import { earlierEnd } from "./earlier-end.ts";
import { gatesOfPhase } from "./phase-gates.ts";
import { openQualityTree } from "./quality-tree.ts";

type StepInput = FunctionInput<RunView, CursorView>;
type Parts = {
  readonly verifier: Pick<Verifier, "prove">;
  readonly workspace: Pick<Workspace, "pathsAt" | "textAt" | "commitFiles">;
  readonly entries: () => readonly Entry[];
  readonly readBlob: (hash: string) => Buffer | null;
};

export function phaseFound(parts: Parts) {
  return {
    version: 1,
    effect: "keyed" as const,
    async perform(input: StepInput): Promise<FunctionResult> {
      if (input.cursor.visit > 1) return cleared(parts, input); // P2
      if (runOption(input.state, "earlier_log") === "none") return found(false); // P1
      const gates = gatesOfPhase(input.state, input.cursor.phase).map(withoutFreshness);
      if (gates.length === 0) return verifiedBefore(parts, input);
      const { attempt, commit, cancel, onLiveEvent } = input;
      const { holds, failures } = await parts.verifier.prove({ attempt, gates, commit, changed: [], cancel, onLiveEvent });
      return found(holds, failures.map((failure) => `${failure.file ?? failure.rule}: ${failure.found}`).join("; "));
    },
  };
}

const found = (proved: boolean, detail = ""): FunctionResult => ({ ok: true, facts: { proved }, ...(detail === "" ? {} : { detail }) });

/** The last phase leaves only what the runner itself keeps: it is done where the earlier log says so and its count still holds. */
async function verifiedBefore({ workspace, readBlob }: Parts, { state, commit }: StepInput): Promise<FunctionResult> {
  const ended = earlierEnd(state, "6", readBlob);
  if (ended === null) return found(false);
  const verdict = ended.key_counts["gate_verdict"];
  if (verdict === "fail") return found(false, "its terminal gate had failed");
  if (runOption(state, "earlier_verified") !== true) return found(false);
  const tree = await openQualityTree(workspace, commit);
  const bugs = countBugHeadings(await tree.text("quality/BUGS.md"));
  const isSame = ended.key_counts["bugs_md_count"] === bugs;
  return found(isSame, isSame ? "" : `BUGS.md has ${bugs} bugs now`);
}

/** Takes off the branch what was found gone from the user's checkout when the run was resumed. */
async function cleared({ workspace, entries }: Parts, { attempt, cursor, commit }: StepInput): Promise<FunctionResult> {
  const gone = goneSince(entries(), cursor.phase);
  const there = (await workspace.pathsAt(commit)).filter((path) => gone.has(path));
  if (there.length === 0) return { ok: true, facts: { proved: false, cleared: 0 } };
  const files = there.map((path) => ({ path, text: null }));
  const applied = await workspace.commitFiles({ attempt, since: commit, files, subject: "autopilot: what was taken away is made anew" });
  if (applied !== null && "conflict" in applied)
    return {
      ok: false,
      facts: { proved: false },
      reason: "merge_conflict",
      detail: `another attempt changed ${applied.conflict.join(", ")}`,
    };
  return { ok: true, facts: { proved: false, cleared: there.length }, ...(applied === null ? {} : { applied }) };
}

/** The paths found gone since this phase was last completed, less those that were cleared or made again since. */
function goneSince(entries: readonly Entry[], phase: string): ReadonlySet<string> {
  const gone = new Set<string>();
  for (const entry of entries) {
    if (entry.event === "phase_completed" && entry.walk === phase) gone.clear();
    if (entry.event === "changes_applied") for (const path of entry.paths) gone.delete(path);
    if (entry.event === "document_differed" && entry.field === missingFileField) gone.add(entry.path);
  }
  return gone;
}
