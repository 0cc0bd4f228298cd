// withdraw: step that reverts a failed phase on the user's branch too, if it had already landed
// there.

import type { Entry } from "../../../contracts/event.ts";
import type { CursorView } from "../../../core/state.ts";
import { landInTurn } from "../../contract/landing.ts";
import type { StepResult, StepInput, RoadmapParts } from "./roadmap-parts.ts";
import { runBranchName } from "../../../contracts/run-branch.ts";

/**
 * The step `withdraw`. While a phase waits for a person, later phases go on, and its work lands
 * with theirs. If the person rejects it then, the revert on the run's branch is landed too. Does
 * nothing if the phase never landed.
 */
export function createWithdrawStep({
  workspace,
  paths,
  entries,
}: Pick<RoadmapParts, "workspace" | "paths" | "entries">) {
  return {
    version: 1,
    effect: "idempotent" as const,
    async perform({ state, cursor, cancel }: StepInput): StepResult {
      if (!hasLanded(entries(), cursor)) {
        return { ok: true, facts: { landed: false, why: "nothing_to_land" } };
      }

      const branch = runBranchName(state.drafted.run_id);
      const message = `Merge ${branch}: take back phase ${cursor.phase}`;
      const judgeMerge = (): Promise<null> => Promise.resolve(null); // a person decided this, so the merge is not judged by checks
      const result = await landInTurn(workspace, paths, { message, judgeMerge, cancel });
      if (result.landed) return { ok: true, facts: { landed: true }, stands: true };
      if (result.because === "nothing_to_land") return { ok: true, facts: { landed: false } };

      return {
        ok: false,
        facts: { landed: false, why: result.because, rollback_performed: false },
        reason: result.because,
        detail: `It was taken back on ${branch}, and not on your branch, where it is too (git merge ${branch}): ${result.detail}`,
      };
    },
  };
}

/** Whether anything landed since this visit of the phase first committed something. */
function hasLanded(entries: readonly Entry[], { path, visit }: CursorView): boolean {
  const firstChange = entries.findIndex(
    (entry) => entry.event === "changes_applied" && entry.attempt.startsWith(`${path}@${visit}/`),
  );
  return (
    firstChange >= 0 &&
    entries
      .slice(firstChange)
      .some((entry) => entry.event === "step_completed" && entry.facts["landed"] === true)
  );
}
