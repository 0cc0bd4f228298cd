// verifier: runs checks and judges gates on a commit, in folders no agent has seen.
//
// Invariants:
//   V1. Checks run one at a time, for all callers.
//   V2. Every check starts on the commit's tree. If the check before it wrote anything, even files
//       that git ignores, it gets a new folder.
//   V3. A check that was cancelled leaves no evidence: it proves nothing. The caller gets the
//       results before it, and must look at its cancel signal first.
//   V4. Artifact rules read a checkout in which no command runs (A5 in gates/prove-artifacts.ts).
//   V5. Protected files are the base's, if the request says so: the checkout has the base's
//       protected files and the agent's code.
//   V6. One tree has one verdict: a check that fails, or passes and did not before, is run again
//       before it is believed.
//   V7. A check that passes and ran none of its tests, or skipped or never reached some that it ran
//       on the base, has not passed: the protected files are the same, so something kept it from
//       judging. If it merely ran fewer, that is a gap.
//   V8. A project check that failed on the base still counts: each of its tests that is known to
//       have passed there must still pass.
//   V9. A check that passes and rewrote protected files as it ran, which it did not on the base,
//       has not passed: the code under test affected its judge.
//   V10. A passing check has been shown to be able to fail, or its result says that this could not
//        be shown (experiments/try-out.ts).
//   V11. A check that exits with 0 and reports failed tests has not passed, unless it did so on the
//        base.
//   V12. If something else changed the files that checkouts share while a check ran, its result
//        doesn't count.

import type { Verifier } from "../ports/verifier.ts";
import { lookUpClaims } from "./claims/look-up-claims.ts";
import { findProtected } from "./protected/find-protected.ts";
import { buildOverrides } from "./protected/base-overrides.ts";
import type { VerifierParts } from "./verifier-parts.ts";
import { proveArtifacts } from "./gates/prove-artifacts.ts";
import { openQueue } from "./queue.ts";
import { isRestoring, runChecks } from "./run-checks.ts";
import { openVerdictCache } from "./verdicts.ts";

export type { VerifierParts } from "./verifier-parts.ts";

export function openVerifier(parts: VerifierParts): Verifier {
  const queue = openQueue(); // V1
  const { readBlob, product, isolation } = parts;
  const verdicts =
    readBlob === undefined ? null : openVerdictCache({ readBlob, product, isolation });
  // Inherited, not copied: some parts are getters that compute on demand.
  const openParts = Object.assign(Object.create(parts) as VerifierParts, {
    verdicts,
    tried: new Map(),
  });

  const { workspace, protect = [] } = parts;
  const requireIntactAfter = async <T>(checking: Promise<T>): Promise<T> => {
    const result = await checking;
    await workspace.requireIntact(); // V12
    return result;
  };

  return {
    check: (request) =>
      queue(() => {
        const checking = runChecks(openParts, request);
        return request.isBaseline === true ? checking : requireIntactAfter(checking);
      }),
    prove: (request) => queue(() => requireIntactAfter(proveArtifacts(openParts, request))),
    inspectProtected: (request) =>
      findProtected(
        { workspace, protect, restores: isRestoring(parts), areTriedOut: parts.canary !== "off" },
        request,
      ),
    composeBaseFiles: (request) =>
      buildOverrides({ workspace, protect, restores: isRestoring(parts) }, request),
    checkClaims: (request) => lookUpClaims(workspace, request),
  };
}
