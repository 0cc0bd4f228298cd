// project-tests: proof that the project's own checks pass and that nothing they rely on was changed.

import { judgeChecks } from "../../core/completion.ts";
import type { RunView, CursorView } from "../../core/state.ts";
import { baseTestFields } from "../../engine/protected-files.ts";
import type { FunctionInput, FunctionResult } from "../../ports/functions.ts";
import type { Verifier } from "../../ports/verifier.ts";

/** The proof `project_tests`. It fails if the project has no check of its own. */
export function createProjectTestsProof(verifier: Verifier) {
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
      const refusedChanges = changes.filter(({ allowed }) => allowed === null);
      const restoredFiles = refusedChanges.length === 0 ? {} : { oracles: { base: base.commit, changes: refusedChanges } };
      const results = await verifier.check({
        attempt,
        checks,
        commit,
        cancel,
        onLiveEvent,
        ...baseTestFields(state, changes),
        ...restoredFiles,
      });
      const { passed, regressed, failing } = judgeChecks(results, state.checks);
      const detail = [
        ...refusedChanges.map(({ path, how }) => `${path} (${how}) judges this work and was changed by it`),
        ...[...regressed, ...failing].map(({ check, status }) => `${check.title}: ${status}`),
      ].join("; ");
      return {
        ok: passed && refusedChanges.length === 0,
        facts: { checks: results.length, ...(refusedChanges.length === 0 ? {} : { oracles: "changed" }) },
        checks: results,
        detail,
      };
    },
  };
}
