// verdicts: a cache of check results by tree, command and environment, so that a check is not run
// twice on the same input.
//
// Invariants:
//   K1. Only results that this process made, or that the journal names, are trusted, each by its
//       evidence and never by a file beside it: anyone who can write into a folder could write a
//       verdict there.
//   K2. Only a plain pass or fail is kept: a check that was flaky, hung, or could not be started is
//       run again.
//   K3. The key is everything that matters: tree with its protected files, installed packages,
//       command and expectation, environment, isolation and product version. Evidence that is gone,
//       damaged or of another version isn't used.

import type { Check, CheckResult, CheckStatus } from "../contracts/evidence.ts";
import type { GitSha, Hash } from "../contracts/ids.ts";
import { canonicalJson } from "../kit/canonical-json.ts";
import { parseEvidence } from "./evidence.ts";
import { isSameCommand } from "./same-command.ts";

type TreeKey = { readonly tree: GitSha; readonly dependencies: Hash | null };
export type VerdictQuery = TreeKey & {
  readonly check: Check;
  /** Computed only if everything else matches; null if it is unknown before the command is run. */
  readonly envHash: () => Hash | null;
  /** How many runs a status must rest on to be trusted now. */
  readonly runsMin: (status: CheckStatus) => number;
};
export type VerdictCache = {
  /**
   * An earlier result for the same input, if it rests on enough runs; `recorded`: the results that
   * the journal names.
   */
  find(query: VerdictQuery, recorded: readonly CheckResult[]): Promise<CheckResult | null>;
  keep(key: TreeKey & { readonly envHash: Hash }, result: CheckResult, runs: number): void;
};
type CachedVerdict = TreeKey & {
  readonly envHash: Hash;
  readonly result: CheckResult;
  readonly runs: number;
};

const verdictsMax = 1_000;

export function openVerdictCache(parts: {
  readonly readBlob: (hash: Hash) => Promise<Uint8Array>;
  readonly product: string;
  readonly isolation: string;
}): VerdictCache {
  /** By the hash of its evidence; null for evidence that was read once and cannot be used. */
  const verdicts = new Map<Hash, CachedVerdict | null>();
  const remember = (hash: Hash, verdict: CachedVerdict | null): void => {
    verdicts.set(hash, verdict);
    for (const oldest of [...verdicts.keys()].slice(0, Math.max(0, verdicts.size - verdictsMax))) {
      verdicts.delete(oldest);
    }
  };

  const load = async (result: CheckResult): Promise<void> => {
    if (verdicts.has(result.evidence) || !isPassOrFail(result)) return;
    const evidence = await parts.readBlob(result.evidence).then(parseEvidence, () => null);
    const isOfThisVersion =
      evidence !== null &&
      evidence.product === parts.product &&
      evidence.isolation === parts.isolation; // K3
    const isUsable =
      isOfThisVersion &&
      evidence.status === result.status &&
      isSameCheck(evidence.check, result.check);
    if (!isUsable || evidence.tree_before === null) return remember(result.evidence, null);
    const { tree_before: tree, dependencies = null, env_hash: envHash, repeats = [] } = evidence;
    remember(result.evidence, {
      tree,
      dependencies,
      envHash,
      result,
      runs: Math.max(1, repeats.length),
    });
  };

  return {
    async find({ check, tree, dependencies, envHash, runsMin }, recorded) {
      for (const result of recorded) if (isSameCheck(result.check, check)) await load(result); // K1
      const matches = [...verdicts.values()].filter(
        (candidate): candidate is CachedVerdict =>
          candidate !== null &&
          candidate.tree === tree &&
          candidate.dependencies === dependencies &&
          isSameCheck(candidate.result.check, check) &&
          (candidate.result.check.kind === "restore") === (check.kind === "restore") &&
          candidate.runs >= runsMin(candidate.result.status),
      );
      const hash = matches.length === 0 ? null : envHash();
      const verdict =
        hash === null ? undefined : matches.findLast((candidate) => candidate.envHash === hash);

      return verdict === undefined ? null : { ...verdict.result, check, cached: true };
    },
    keep(key, result, runs) {
      if (isPassOrFail(result)) remember(result.evidence, { ...key, result, runs });
    },
  };
}

/**
 * The same command with the same expectation: that it returns 2 as expected doesn't show that it
 * returns 3.
 */
const isSameCheck = (left: Check, right: Check): boolean =>
  isSameCommand(left.command, right.command) &&
  canonicalJson(left.expect ?? null) === canonicalJson(right.expect ?? null);

const isPassOrFail = ({ status, quarantined }: CheckResult): boolean =>
  (status === "passed" || status === "failed") && quarantined === undefined; // K2
