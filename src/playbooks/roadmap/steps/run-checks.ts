// run-checks: runs checks on a commit with the protected tests of the base.

import type { Check, CheckResult } from "../../../contracts/evidence.ts";
import { checkCommit } from "../../contract/check-commit.ts";
import type { StepInput, RoadmapParts } from "./roadmap-parts.ts";

export async function runChecks(
  { verifier }: Pick<RoadmapParts, "verifier">,
  input: Pick<StepInput, "attempt" | "state" | "cancel" | "onLiveEvent">,
  checks: readonly Check[],
  commit: string,
): Promise<readonly CheckResult[]> {
  if (checks.length === 0) return [];
  const known = Object.fromEntries(
    Object.entries(input.state.checks).map(([id, { latest }]) => [id, latest.status]),
  );

  return (await checkCommit(verifier, { ...input, commit }, { checks, known }, checks)).results;
}

/** The checks that did not pass, in one line; empty if all did. */
export function describeFailed(results: readonly CheckResult[]): string {
  const failures = results.filter(({ status }) => status !== "passed");
  const exitText = (exitCode: number | null): string =>
    exitCode === null ? "" : ` (exit ${exitCode})`;
  return failures
    .map(
      ({ check, status, exit_code }) =>
        `${check.title}: \`${check.command}\` ${status}${exitText(exit_code)}`,
    )
    .join("; ");
}
