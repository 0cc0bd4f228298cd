// run-checks: runs checks on a commit with the protected tests of the base.

import type { Check, CheckResult } from "../../../contracts/evidence.ts";
import { baseTestFields } from "../../../engine/protected-files.ts";
import type { StepInput, RoadmapParts } from "./roadmap-parts.ts";

/** Agents cannot change the files that judge their work: changed ones that nobody approved are replaced by those of the base commit. */
export async function runChecks(
  { verifier }: Pick<RoadmapParts, "verifier">,
  { attempt, state, cancel, onLiveEvent }: Pick<StepInput, "attempt" | "state" | "cancel" | "onLiveEvent">,
  checks: readonly Check[],
  commit: string,
): Promise<readonly CheckResult[]> {
  if (checks.length === 0) return [];
  const { base, objective } = state.drafted;
  const { changes } = await verifier.oracles({
    base: base.commit,
    commit,
    scope: objective.scope,
    approved: state.approved ?? [],
    checks: [...(state.drafted.checks as readonly Check[]), ...checks],
  });
  const refusedChanges = changes.filter(({ allowed }) => allowed === null);
  const restoredFiles = refusedChanges.length === 0 ? {} : { oracles: { base: base.commit, changes: refusedChanges } };
  const knownStatuses = Object.fromEntries(Object.entries(state.checks).map(([id, { latest }]) => [id, latest.status]));
  return verifier.check({
    attempt,
    checks,
    commit,
    known: knownStatuses,
    cancel,
    onLiveEvent,
    ...baseTestFields(state, changes),
    ...restoredFiles,
  });
}

/** The checks that did not pass, in one line; empty if all did. */
export function describeFailed(results: readonly CheckResult[]): string {
  const failures = results.filter(({ status }) => status !== "passed");
  const exitText = (exitCode: number | null): string => (exitCode === null ? "" : ` (exit ${exitCode})`);
  return failures.map(({ check, status, exit_code }) => `${check.title}: \`${check.command}\` ${status}${exitText(exit_code)}`).join("; ");
}
