import type { RunView, WalkView } from "../../core/state.ts";
import type { FunctionOrder, FunctionResult } from "../../ports/functions.ts";
import type { Workspace } from "../../ports/workspace.ts";
import type { Home } from "../home.ts";
import { landInTurn } from "./landing.ts";

/** Brings the verified work to the user's branch where nothing has to be forced; landing twice is landing once. A child's goes to its parent. */
export function land(workspace: Workspace, { isChild, home }: { readonly isChild: boolean; readonly home: Home }) {
  return {
    version: 1,
    effect: "idempotent" as const,
    async perform({ state, cancel }: FunctionOrder<RunView, WalkView>): Promise<FunctionResult> {
      if (isChild) return { ok: true, facts: { landed: false, why: "child_run" }, detail: "The run that called this flow takes its work." };
      const { run_id, objective } = state.drafted;
      const message = `Merge autopilot/${run_id}: ${objective.goal.split("\n", 1)[0] ?? ""}`;
      const result = await landInTurn(workspace, home, message, cancel);
      if (result.landed)
        return { ok: true, facts: { landed: true, how: result.how, commit: result.commit }, reason: "landed", stands: true };
      if (result.because === "nothing_to_land") return { ok: true, facts: { landed: false, why: result.because }, detail: result.detail };
      return { ok: false, facts: { landed: false, why: result.because }, reason: result.because, detail: result.detail };
    },
  };
}
