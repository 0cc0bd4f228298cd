// run-checks: runs the checks of a request, one after the other, in checkouts of its commit with the base's protected files.
// Invariants V1 and on: verify/verifier.ts.

import type { CheckResult } from "../contracts/evidence.ts";
import type { CheckoutOverrides } from "../ports/workspace.ts";
import { CheckSession, type CheckRequest } from "./check-session.ts";
import { tryOut } from "./experiments/try-out.ts";
import type { OpenParts } from "./parts.ts";
import { buildOverrides } from "./protected/undo.ts";

export async function runChecks(parts: OpenParts, request: CheckRequest): Promise<readonly CheckResult[]> {
  if (request.checks.length === 0 || request.cancel.aborted) return [];
  const restores = [...(parts.restores ?? []), ...request.checks.filter(({ kind }) => kind === "restore")];
  const checks = request.checks.filter(({ kind }) => kind !== "restore");
  const overrides = await findOverrides(parts, request);
  const session = new CheckSession(parts, request, restores, overrides);
  await session.open();
  const results = await session.runAll(checks);
  if (results === null) return session.results; // V3
  return request.base === undefined ? results : tryOut({ parts, request, base: request.base, restores, taken: overrides }, results); // V10
}

/** The base's protected files, replacing those that were changed and may not be (V5). */
async function findOverrides(parts: OpenParts, { oracles, commit, checks }: CheckRequest): Promise<CheckoutOverrides | null> {
  if (oracles === undefined || oracles.changes.length === 0) return null;
  const { workspace, protect = [], restores = [] } = parts;
  const commands = checks.map(({ command }) => command);
  return buildOverrides({ workspace, protect, restores: restores.length > 0 }, { ...oracles, commit, commands });
}
