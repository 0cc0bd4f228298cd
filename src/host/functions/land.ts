import type { RunView, WalkView } from "../../core/state.ts";
import type { FunctionOrder, FunctionResult } from "../../ports/functions.ts";
import type { Workspace } from "../../ports/workspace.ts";
import type { Home } from "../home.ts";
import { oneAtATime } from "../one-at-a-time.ts";

const waitMs = 600_000;
const busy = { landed: false, because: "checkout_busy", detail: "Another run's work is landing here." } as const;

/** Brings the verified work to the user's branch where nothing has to be forced; landing twice is landing once. A child's goes to its parent. */
export function land(workspace: Workspace, { isChild, home }: { readonly isChild: boolean; readonly home: Home }) {
  return {
    version: 1,
    effect: "idempotent" as const,
    async perform({ state, cancel }: FunctionOrder<RunView, WalkView>): Promise<FunctionResult> {
      if (isChild) return { ok: true, facts: { landed: false, why: "child_run" }, detail: "The run that called this flow takes its work." };
      const { run_id, objective } = state.drafted;
      const message = `Merge autopilot/${run_id}: ${objective.goal.split("\n", 1)[0] ?? ""}`;
      // Git itself keeps two landings apart only in part: the second would begin before the first has moved the branch.
      const result = (await oneAtATime(home, "landing", () => workspace.land(message), { waitMs, cancel })) ?? busy;
      if (result.landed)
        return { ok: true, facts: { landed: true, how: result.how, commit: result.commit }, reason: "landed", stands: true };
      if (result.because === "nothing_to_land") return { ok: true, facts: { landed: false, why: result.because }, detail: result.detail };
      return { ok: false, facts: { landed: false, why: result.because }, reason: result.because, detail: result.detail };
    },
  };
}
