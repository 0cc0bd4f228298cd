// baseline: step that runs every check on the base commit, to know what failed before the work.

import { type CheckResult, couldNotRun } from "../../contracts/evidence.ts";
import type { RunView, CursorView } from "../../core/state.ts";
import type { FunctionInput, FunctionResult } from "../../ports/functions.ts";
import type { Verifier } from "../../ports/verifier.ts";

/**
 * The step `baseline`. Checks that failed before the work are known afterwards, and those that
 * passed must keep passing. Its fact `unable` means that no check can run at all.
 */
export function createBaselineStep(verifier: Verifier) {
  return {
    version: 1,
    effect: "none" as const,
    async perform({
      attempt,
      state,
      previous,
      cancel,
      onLiveEvent,
    }: FunctionInput<RunView, CursorView>): Promise<FunctionResult> {
      const { checks, base } = state.drafted;
      const results = await verifier.check({
        attempt,
        checks,
        commit: base.commit,
        isBaseline: true,
        cancel,
        onLiveEvent,
      });
      const passing = results.filter(({ status }) => status === "passed").length;

      const facts = {
        ran: results.length,
        passing,
        failing: results.length - passing,
        unable: false,
      };

      const unrunnable = results.filter(couldNotRun);
      const noneCanRun =
        unrunnable.some(({ check }) => check.kind === "project") && results.every(couldNotRun);
      // Reported once: resuming without a change means continuing without them.
      if (!noneCanRun || previous?.facts["unable"] === true) {
        return { ok: true, facts, checks: results };
      }

      return {
        ok: true,
        facts: { ...facts, unable: true },
        checks: results,
        reason: "checks_cannot_run",
        detail: describeUnrunnable(unrunnable),
      };
    },
  };
}

function describeUnrunnable(unrunnable: readonly CheckResult[]): string {
  const reasonOf = ({ why, status }: CheckResult): string =>
    why ?? (status === "not_found" ? "a command it names was not found" : "it can't be started");
  return unrunnable.map((result) => `${result.check.title}: ${reasonOf(result)}`).join("; ");
}
