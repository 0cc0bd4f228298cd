import type { RunView, WalkView } from "../../core/state.ts";
import type { FunctionOrder, FunctionResult } from "../../ports/functions.ts";
import type { Workspace } from "../../ports/workspace.ts";

/** Brings the verified work to the user's branch where nothing has to be forced; landing twice is landing once. */
export function land(workspace: Workspace) {
  return {
    version: 1,
    effect: "idempotent" as const,
    async perform({ state }: FunctionOrder<RunView, WalkView>): Promise<FunctionResult> {
      const { run_id, objective } = state.drafted;
      const result = await workspace.land(`Merge autopilot/${run_id}: ${objective.goal.split("\n", 1)[0] ?? ""}`);
      if (result.landed) return { ok: true, facts: { landed: true, how: result.how, commit: result.commit }, reason: "landed" };
      if (result.because === "nothing_to_land") return { ok: true, facts: { landed: false, why: result.because }, detail: result.detail };
      return { ok: false, facts: { landed: false, why: result.because }, reason: result.because, detail: result.detail };
    },
  };
}
