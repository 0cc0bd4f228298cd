// baseline: step that runs every check on the base commit, to know what failed before the work.

import type { RunView, CursorView } from "../../core/state.ts";
import type { FunctionOrder, FunctionResult } from "../../ports/functions.ts";
import type { Verifier } from "../../ports/verifier.ts";

/** Runs every check on the tree the run began on, so that what was red before is known and what was green must stay so. */
export function baseline(verifier: Verifier) {
  return {
    version: 1,
    effect: "none" as const,
    async perform({ attempt, state, cancel, onSignal }: FunctionOrder<RunView, CursorView>): Promise<FunctionResult> {
      const { checks, base } = state.drafted;
      const results = await verifier.check({ attempt, checks, commit: base.commit, cancel, onSignal });
      const passing = results.filter(({ status }) => status === "passed").length;
      return { ok: true, facts: { ran: results.length, passing, failing: results.length - passing }, checks: results };
    },
  };
}
