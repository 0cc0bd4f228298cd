// project-tests: proof that the project's own checks pass and that nothing they rely on was changed.

import { judgeChecks } from "../../core/completion.ts";
import type { RunView, CursorView } from "../../core/state.ts";
import { testsBefore } from "../../engine/protected-files.ts";
import type { FunctionInput, FunctionResult } from "../../ports/functions.ts";
import type { Verifier } from "../../ports/verifier.ts";

/** A named proof: the project's own checks hold on this commit. With none found there is nothing to hold. */
export function projectTests(verifier: Verifier) {
  return {
    version: 1,
    async prove({ attempt, state, commit, cancel, onLiveEvent }: FunctionInput<RunView, CursorView>): Promise<FunctionResult> {
      const checks = state.drafted.checks.filter(({ kind }) => kind === "project");
      if (checks.length === 0) return { ok: false, facts: { checks: 0 }, detail: "no project check was found to run" };
      const { base, objective } = state.drafted;
      const { changes } = await verifier.oracles({
        base: base.commit,
        commit,
        scope: objective.scope,
        approved: state.approved ?? [],
        checks: state.drafted.checks,
      });
      const refused = changes.filter(({ allowed }) => allowed === null);
      const oracles = refused.length === 0 ? {} : { oracles: { base: base.commit, changes: refused } };
      const results = await verifier.check({ attempt, checks, commit, cancel, onLiveEvent, ...testsBefore(state, changes), ...oracles });
      const { passed, regressed, failing } = judgeChecks(results, state.checks);
      const detail = [
        ...refused.map(({ path, how }) => `${path} (${how}) judges this work and was changed by it`),
        ...[...regressed, ...failing].map(({ check, status }) => `${check.title}: ${status}`),
      ].join("; ");
      return {
        ok: passed && refused.length === 0,
        facts: { checks: results.length, ...(refused.length === 0 ? {} : { oracles: "changed" }) },
        checks: results,
        detail,
      };
    },
  };
}
