// run-checks: runs the checks of a request one after the other, in checkouts of its commit with the
// base's protected files, and then the experiments on those that passed.
// Invariants V1 and on: verify/verifier.ts.

import type { Check, CheckResult } from "../contracts/evidence.ts";
import type { GitSha } from "../contracts/ids.ts";
import type { CheckoutOverrides } from "../ports/workspace.ts";
import type { CheckRequest } from "../ports/verifier.ts";
import { CheckSession } from "./check-session.ts";
import { detectRestores } from "./detect/detect-restore.ts";
import { tryOut } from "./experiments/try-out.ts";
import type { OpenParts } from "./verifier-parts.ts";
import { buildOverrides } from "./protected/base-overrides.ts";

export async function runChecks(
  parts: OpenParts,
  request: CheckRequest,
): Promise<readonly CheckResult[]> {
  if (request.checks.length === 0 || request.cancel.aborted) return [];
  const restoreChecks = request.checks.filter(({ kind }) => kind === "restore");
  const restoresAt = async (commit: GitSha): Promise<readonly Check[]> => [
    ...(await findRestores(parts, commit)),
    ...restoreChecks,
  ];

  const checks = request.checks.filter(({ kind }) => kind !== "restore");
  const overrides = await findOverrides(parts, request);
  const session = new CheckSession(parts, request, await restoresAt(request.commit), overrides);
  await session.open();
  const results = await session.runAll(checks);
  if (results === null) return session.results; // V3

  return request.base === undefined
    ? results
    : tryOut({ parts, request, base: request.base, restoresAt, taken: overrides }, results); // V10
}

/** Whether dependencies are restored before checks. */
export const isRestoring = ({
  restores = [],
  restoreFrom,
}: Pick<OpenParts, "restores" | "restoreFrom">): boolean =>
  restores.length > 0 || restoreFrom !== undefined;

/**
 * What restores the dependencies of a commit: what its own lock files say, or the fixed commands.
 */
async function findRestores(
  { restores = [], restoreFrom, workspace }: OpenParts,
  commit: GitSha,
): Promise<readonly Check[]> {
  if (restoreFrom === undefined) return restores;
  return detectRestores(
    { files: new Set(await workspace.pathsAt(commit)), read: () => null },
    restoreFrom,
  );
}

/** The base's protected files, replacing those that were changed and may not be (V5). */
async function findOverrides(
  parts: OpenParts,
  { fromBase, commit, checks }: CheckRequest,
): Promise<CheckoutOverrides | null> {
  if (fromBase === undefined || fromBase.changes.length === 0) return null;
  const { workspace, protect = [] } = parts;
  const commands = checks.map(({ command }) => command);

  return buildOverrides(
    { workspace, protect, restores: isRestoring(parts) },
    { ...fromBase, commit, commands },
  );
}
