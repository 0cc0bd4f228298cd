// landing: lands a run's work while no other run in the same checkout is landing.

import type { JudgeMerge, LandResult, Workspace } from "../../ports/workspace.ts";
import type { ProjectPaths } from "../../project/runs/project-paths.ts";
import { runUnderLock } from "../../project/runs/run-under-lock.ts";

/** Landing may include a run of the project's checks on the merge. */
const landingWaitMaxMs = 600_000;
const checkoutBusy = {
  landed: false,
  because: "checkout_busy",
  detail: "Another run's work is landing here.",
} as const;

/**
 * Waits until no other run is landing. Git alone does not prevent a second landing from starting
 * before the first has moved the branch.
 */
export async function landInTurn(
  workspace: Pick<Workspace, "land">,
  paths: ProjectPaths,
  {
    message,
    judgeMerge,
    cancel,
  }: { readonly message: string; readonly judgeMerge: JudgeMerge; readonly cancel: AbortSignal },
): Promise<LandResult> {
  return (
    (await runUnderLock(paths, "landing", () => workspace.land(message, judgeMerge), {
      waitMs: landingWaitMaxMs,
      cancel,
    })) ?? checkoutBusy
  );
}
