// landing: lands a run's work while no other run in the same checkout is landing.

import type { LandResult, Workspace } from "../../ports/workspace.ts";
import type { ProjectPaths } from "../../project/runs/project-paths.ts";
import { oneAtATime } from "../../project/runs/one-at-a-time.ts";

const waitMs = 600_000;
const busy = { landed: false, because: "checkout_busy", detail: "Another run's work is landing here." } as const;

/** Lands when no other run does: git itself keeps two landings apart only in part, the second would begin before the first has moved the branch. */
export async function landInTurn(
  workspace: Pick<Workspace, "land">,
  paths: ProjectPaths,
  message: string,
  cancel: AbortSignal,
): Promise<LandResult> {
  return (await oneAtATime(paths, "landing", () => workspace.land(message), { waitMs, cancel })) ?? busy;
}
