// rollback: step that reverts a failed phase in one commit and keeps the work on a diagnostic
// branch.

import { listSome } from "../../../kit/list-some.ts";
import { fillPhaseFolder } from "../../../engine/prove.ts";
import type { StepResult, StepInput, RoadmapParts } from "./roadmap-parts.ts";
import { findCheckpoint } from "./checkpoint.ts";

const pathsShownMax = 20;

/**
 * The step `rollback`: reverts the work of a phase since its checkpoint, and keeps it on a branch
 * for inspection. Work of other phases stays; if the two cannot be separated, nothing is reverted.
 */
export function createRollbackStep({ workspace }: Pick<RoadmapParts, "workspace">) {
  return {
    version: 1,
    effect: "keyed" as const,
    isDone: async (attempt: string): Promise<boolean> =>
      (await workspace.inspect(attempt, null)).commit !== null,
    async perform({ attempt, cursor, state }: StepInput): StepResult {
      const checkpoint = findCheckpoint(cursor);
      if (checkpoint === null) {
        const detail = "Where the phase began is not written down, so nothing was taken back.";
        return {
          ok: false,
          facts: { rollback_performed: false },
          reason: "workspace_unusable",
          detail,
        };
      }

      const { applied, branch, conflict } = await workspace.revert({
        attempt,
        since: checkpoint,
        of: `${cursor.path}@`, // commits of this phase's attempts, in any visit
        branch: `autopilot-diagnostic-phase-${cursor.phase}`,
        subject: `autopilot ${cursor.phase}: take back what failed (${fillPhaseFolder(state.drafted.flow, cursor.phase)})`,
      });

      const facts = {
        rollback_performed: applied !== null,
        rollback_from: applied?.parent ?? state.tip.commit,
        rollback_to: checkpoint,
        ...(branch === null ? {} : { diagnostic_branch: branch }),
      };

      if (conflict.length > 0) {
        const detail = `Later work changed ${listSome(conflict, pathsShownMax)} too, and cannot be told apart: nothing was taken back.`;
        return { ok: false, facts, reason: "merge_conflict", detail };
      }

      const detail =
        branch === null
          ? "Nothing was left to take back."
          : `What was taken back is on branch ${branch}.`;

      return { ok: true, facts, detail, ...(applied === null ? {} : { applied }) };
    },
  };
}
