import type { LandResult, Workspace } from "../../ports/workspace.ts";
import type { Home } from "../../project/runs/home.ts";
import { oneAtATime } from "../../project/runs/one-at-a-time.ts";

const waitMs = 600_000;
const busy = { landed: false, because: "checkout_busy", detail: "Another run's work is landing here." } as const;

/** Lands when no other run does: git itself keeps two landings apart only in part, the second would begin before the first has moved the branch. */
export async function landInTurn(
  workspace: Pick<Workspace, "land">,
  home: Home,
  message: string,
  cancel: AbortSignal,
): Promise<LandResult> {
  return (await oneAtATime(home, "landing", () => workspace.land(message), { waitMs, cancel })) ?? busy;
}
