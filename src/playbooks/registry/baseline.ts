// baseline: step that runs every check on the base commit, to know what failed before the work.

import { type CheckResult, couldNotRun } from "../../contracts/evidence.ts";
import type { RunView, CursorView } from "../../core/state.ts";
import type { FunctionInput, FunctionResult } from "../../ports/functions.ts";
import type { Verifier } from "../../ports/verifier.ts";

/** Runs every check on the tree the run began on, so that what was red before is known and what was green must stay so. `unable`: none can run. */
export function baseline(verifier: Verifier) {
  return {
    version: 1,
    effect: "none" as const,
    async perform({ attempt, state, previous, cancel, onLiveEvent }: FunctionInput<RunView, CursorView>): Promise<FunctionResult> {
      const { checks, base } = state.drafted;
      const results = await verifier.check({ attempt, checks, commit: base.commit, cancel, onLiveEvent });
      const passing = results.filter(({ status }) => status === "passed").length;
      const facts = { ran: results.length, passing, failing: results.length - passing, unable: false };
      const idle = results.filter(couldNotRun);
      const isUnable = idle.some(({ check }) => check.kind === "project") && results.every(couldNotRun);
      // Reported once: resuming without a change means continuing without them.
      if (!isUnable || previous?.facts["unable"] === true) return { ok: true, facts, checks: results };
      return { ok: true, facts: { ...facts, unable: true }, checks: results, reason: "checks_cannot_run", detail: namesOf(idle) };
    },
  };
}

const namesOf = (idle: readonly CheckResult[]): string =>
  idle
    .map(
      ({ check, why, status }) =>
        `${check.title}: ${why ?? (status === "not_found" ? "a command it names was not found" : "it can't be started")}`,
    )
    .join("; ");
