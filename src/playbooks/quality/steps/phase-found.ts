// phase-found: step at the start of a phase that checks whether existing documents already prove
// it.
//
// Invariants:
//   P1. Without an earlier log nothing is reused, whatever is under quality/.
//   P2. A reopened phase is always repeated: files that the user deleted are deleted on the run's
//       branch too, so that they prove nothing.

import type { Entry } from "../../../contracts/event.ts";
import { missingFileField } from "../views/quality-names.ts";
import { optionValue } from "../../../core/selectors.ts";
import type { RunView, CursorView } from "../../../core/state.ts";
import { withoutFreshness } from "../../../engine/survey-gates.ts";
import type { FunctionInput, FunctionResult } from "../../../ports/functions.ts";
import type { Verifier } from "../../../ports/verifier.ts";
import type { Workspace } from "../../../ports/workspace.ts";
import { countBugHeadings } from "./count-in-documents.ts";
import { findEarlierEnd } from "./earlier-end.ts";
import { listGatesOfPhase } from "./phase-gates.ts";
import { openQualityTree } from "./quality-tree.ts";

type StepInput = FunctionInput<RunView, CursorView>;
type Parts = {
  readonly verifier: Pick<Verifier, "prove">;
  readonly workspace: Pick<Workspace, "pathsAt" | "textAt" | "commitFiles">;
  readonly entries: () => readonly Entry[];
  readonly readBlob: (hash: string) => Buffer | null;
};

/** The step `phase_found`. Its fact `proved` tells the flow to skip the phase's agent. */
export function createPhaseFoundStep(parts: Parts) {
  return {
    version: 1,
    effect: "keyed" as const,
    async perform(input: StepInput): Promise<FunctionResult> {
      if (input.cursor.visit > 1) return deleteMissing(parts, input); // P2
      if (optionValue(input.state, "earlier_log") === "none") return provedResult(false); // P1
      const gates = listGatesOfPhase(input.state, input.cursor.phase).map(withoutFreshness);
      if (gates.length === 0) return checkEarlierVerification(parts, input);
      const { attempt, commit, cancel, onLiveEvent } = input;

      const { holds, failures } = await parts.verifier.prove({
        attempt,
        gates,
        commit,
        changed: [],
        cancel,
        onLiveEvent,
      });
      return provedResult(
        holds,
        failures.map((failure) => `${failure.file ?? failure.rule}: ${failure.found}`).join("; "),
      );
    },
  };
}

const provedResult = (proved: boolean, detail = ""): FunctionResult => ({
  ok: true,
  facts: { proved },
  ...(detail === "" ? {} : { detail }),
});

/**
 * The last phase has no artifacts of its own: it is proved if the earlier log says so and its bug
 * count still matches.
 */
async function checkEarlierVerification(
  { workspace, readBlob }: Parts,
  { state, commit }: StepInput,
): Promise<FunctionResult> {
  const earlierEnd = findEarlierEnd(state, "6", readBlob);
  if (earlierEnd === null) return provedResult(false);
  const verdict = earlierEnd.key_counts["gate_verdict"];
  if (verdict === "fail") return provedResult(false, "its terminal gate had failed");
  if (optionValue(state, "earlier_verified") !== true) return provedResult(false);
  const tree = await openQualityTree(workspace, commit);
  const bugs = countBugHeadings(await tree.text("quality/BUGS.md"));
  const matchesCount = earlierEnd.key_counts["bugs_md_count"] === bugs;

  return provedResult(matchesCount, matchesCount ? "" : `BUGS.md has ${bugs} bugs now`);
}

/**
 * Deletes from the run's branch the files that were missing from the user's checkout when the run
 * was resumed.
 */
async function deleteMissing(
  { workspace, entries }: Parts,
  { attempt, cursor, commit }: StepInput,
): Promise<FunctionResult> {
  const missingPaths = findMissingPaths(entries(), cursor.phase);
  const presentPaths = (await workspace.pathsAt(commit)).filter((path) => missingPaths.has(path));
  if (presentPaths.length === 0) return { ok: true, facts: { proved: false, cleared: 0 } };
  const files = presentPaths.map((path) => ({ path, text: null }));

  const applied = await workspace.commitFiles({
    attempt,
    since: commit,
    files,
    subject: "autopilot: what was taken away is made anew",
  });
  if (applied !== null && "conflict" in applied) {
    return {
      ok: false,
      facts: { proved: false },
      reason: "merge_conflict",
      detail: `another attempt changed ${applied.conflict.join(", ")}`,
    };
  }

  return {
    ok: true,
    facts: { proved: false, cleared: presentPaths.length },
    ...(applied === null ? {} : { applied }),
  };
}

/**
 * Files reported missing since this phase was last completed, except those changed or deleted
 * since.
 */
function findMissingPaths(entries: readonly Entry[], phase: string): ReadonlySet<string> {
  const missingPaths = new Set<string>();
  for (const entry of entries) {
    if (entry.event === "phase_completed" && entry.walk === phase) missingPaths.clear();
    if (entry.event === "changes_applied") {
      for (const path of entry.paths) missingPaths.delete(path);
    }

    if (entry.event === "document_differed" && entry.field === missingFileField) {
      missingPaths.add(entry.path);
    }
  }

  return missingPaths;
}
