// check-commit: runs checks on a commit with the protected files of the base: agents cannot change
// the files that judge their work.

import type { Check, CheckResult, ProtectedChange } from "../../contracts/evidence.ts";
import type { CursorView, RunView } from "../../core/state.ts";
import { fromBaseField, baseTestFields } from "../../engine/protected-files.ts";
import type { FunctionInput, FunctionResult } from "../../ports/functions.ts";
import type { CheckRequest, Verifier } from "../../ports/verifier.ts";

export type CheckInput = Pick<
  FunctionInput<RunView, CursorView>,
  "attempt" | "state" | "commit" | "cancel" | "onLiveEvent"
>;
/**
 * `refused`: changed protected files that nobody approved. They were replaced by those of the base.
 */
export type CheckedCommit = {
  readonly results: readonly CheckResult[];
  readonly refused: readonly ProtectedChange[];
};

/**
 * `further`: commands that decide besides the checks of the run. With `base` in `request`, passing
 * checks are tried out.
 */
export async function checkCommit(
  verifier: Verifier,
  { attempt, state, commit, cancel, onLiveEvent }: CheckInput,
  request: Pick<CheckRequest, "checks" | "known" | "base" | "goal">,
  further: readonly Check[] = [],
): Promise<CheckedCommit> {
  const { base, objective, checks } = state.drafted;
  const { changes } = await verifier.inspectProtected({
    base: base.commit,
    commit,
    scope: objective.scope,
    approved: state.approved ?? [],
    held: state.held ?? [],
    checks: [...(checks as readonly Check[]), ...further],
  });
  const refused = changes.filter(({ allowed }) => allowed === null);
  const baseFields = { ...baseTestFields(state, changes), ...fromBaseField(state, refused) };

  return {
    results: await verifier.check({
      attempt,
      commit,
      cancel,
      onLiveEvent,
      ...request,
      ...baseFields,
    }),
    refused,
  };
}

/** A proof that holds if there are no failures and no protected file was changed. */
export function toProof(
  { results, refused }: CheckedCommit,
  failures: readonly string[],
): FunctionResult {
  const detail = [
    ...refused.map(({ path, how }) => `${path} (${how}) judges this work and was changed by it`),
    ...failures,
  ].join("; ");

  const facts = { checks: results.length, ...(refused.length === 0 ? {} : { oracles: "changed" }) };
  return { ok: detail === "", facts, checks: results, detail };
}
