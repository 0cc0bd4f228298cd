// project-tests: proof that the project's own checks pass and that nothing they rely on was
// changed.

import { judgeChecks } from "../../core/completion.ts";
import type { RunView, CursorView } from "../../core/state.ts";
import type { FunctionInput, FunctionResult } from "../../ports/functions.ts";
import type { Verifier } from "../../ports/verifier.ts";
import { checkCommit, toProof } from "../contract/check-commit.ts";

/** The proof `project_tests`. It fails if the project has no check of its own. */
export function createProjectTestsProof(verifier: Verifier) {
  return {
    version: 1,
    async prove(input: FunctionInput<RunView, CursorView>): Promise<FunctionResult> {
      const checks = input.state.drafted.checks.filter(({ kind }) => kind === "project");
      if (checks.length === 0) {
        return { ok: false, facts: { checks: 0 }, detail: "no project check was found to run" };
      }

      const checked = await checkCommit(verifier, input, { checks });
      const { regressed, failing } = judgeChecks(checked.results, input.state.checks);
      const failures = [...regressed, ...failing].map(
        ({ check, status }) => `${check.title}: ${status}`,
      );

      return toProof(checked, failures);
    },
  };
}
