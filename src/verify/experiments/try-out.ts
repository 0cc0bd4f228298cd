// try-out: runs the experiments on the checks of a request once all of them have passed, each in throw-away checkouts, and records the
// results.
//
// Invariants:
//   T1. Only passing checks are tried out, and unless the setting is `always`, only if every required check passes: otherwise the time would
//       be wasted.
//   T2. The same evidence is tried out once, unless it turned out to be flaky.
//   T3. Every experiment runs in the folder, environment and isolation of the check itself: the code under test cannot distinguish them. Only
//       one has an environment of its own, which is what it asks about (world/other-world.ts).
//   T4. A check that was shown to miss what was broken has failed, and its evidence says so.
//   T5. An experiment that takes too long leaves a gap: the code under test could have caused that.
//   T6. A check that did not pass before the work must pass at least twice without a semantic change, or it is flaky.

import type { Check, CheckResult, CheckStatus, Evidence } from "../../contracts/evidence.ts";
import { redactValue } from "../../kit/redact-value.ts";
import { parseEvidence } from "../evidence.ts";
import { patternRedactor } from "../output.ts";
import type { OpenParts } from "../verifier-parts.ts";
import { runExperiments, type ExperimentFindings } from "./experiment-on-check.ts";
import type { CheckRequest, CheckTrial } from "./experiment-runs.ts";

const triedKinds: ReadonlySet<Check["kind"]> = new Set(["criterion", "project", "red_green", "holdout"]);

/** Whether experiments follow if a check passes: they run it again anyway. */
export const isTriedOut = ({ canary, readBlob }: OpenParts, { base, commit, before }: CheckRequest, { id, kind }: Check): boolean =>
  canary !== "off" && readBlob !== undefined && base !== undefined && base !== commit && triedKinds.has(kind) && before?.[id] !== undefined;

/** Adds the results of the experiments; returns the results unchanged if experiments are off, or were cancelled. */
export async function tryOut(trial: CheckTrial, results: readonly CheckResult[]): Promise<readonly CheckResult[]> {
  const { parts, request, base } = trial;
  const { canary: mode = "final" } = parts;
  const baselines = new Map<string, Evidence>();
  for (const { check } of results) {
    const evidence = await readEvidence(parts, request.before?.[check.id]);
    if (evidence !== null) baselines.set(check.id, evidence);
  }
  const passedBefore = new Set([...baselines].filter(([, { status }]) => status === "passed").map(([id]) => id));
  const isRed = ({ check, status }: CheckResult): boolean =>
    status !== "passed" && !(check.kind === "project" && baselines.get(check.id)?.status === "failed");
  if (mode === "off" || request.commit === base || (mode === "final" && results.some(isRed))) return results; // T1
  const differences = await parts.workspace.differences(base, request.commit);
  const allResults: CheckResult[] = [];
  for (const result of results) {
    const isWanted = result.status === "passed" && triedKinds.has(result.check.kind) && result.quarantined === undefined;
    const earlier = isWanted ? (parts.tried?.get(result.evidence) ?? (result.canary === undefined ? undefined : result)) : undefined; // T2
    if (!isWanted || request.cancel.aborted) allResults.push(result);
    else if (earlier !== undefined)
      allResults.push({ ...earlier, check: result.check, ...(result.cached === true ? { cached: true } : {}) });
    else {
      const evidence = await readEvidence(parts, result.evidence);
      const baseline = baselines.get(result.check.id) ?? null;
      const findings = await runExperiments({ ...trial, passedBefore }, { result, evidence, baseline, differences });
      const extended = await withFindings(trial, result, findings);
      if (extended.status !== "flaky") parts.tried?.set(result.evidence, extended).set(extended.evidence, extended);
      allResults.push(extended);
    }
  }
  return request.cancel.aborted ? results : allResults;
}

/** Adds the findings to the result, and to evidence that says the same (T4). */
async function withFindings(
  { parts }: CheckTrial,
  result: CheckResult,
  { unsteady, ...findings }: ExperimentFindings,
): Promise<CheckResult> {
  const evidence = await readEvidence(parts, result.evidence);
  const redact = (parts.redactor ?? patternRedactor).text;
  const redacted = redactValue(redact, findings);
  const isBlind = findings.canary?.outcome === "missed";
  const blindness = {
    status: "failed" as const,
    why: redact(`it still passes with this broken on purpose: ${findings.canary?.detail ?? ""}`),
  };
  const flakiness = (statuses: readonly CheckStatus[]) => ({
    status: "flaky" as const,
    why: `on one and the same tree it came to ${statuses.join(", then ")}`,
  });
  const steadiness = unsteady === undefined ? { why: undefined } : flakiness(unsteady);
  const { why, ...newStatus } = isBlind ? blindness : steadiness;
  const repeats = unsteady === undefined ? {} : { repeats: [...unsteady] };
  const record = { ...evidence, ...newStatus, ...repeats, ...redacted };
  const hash = evidence === null ? result.evidence : await parts.putBlob(Buffer.from(`${JSON.stringify(record)}\n`));
  return { ...result, ...newStatus, ...redacted, evidence: hash, ...(why === undefined ? {} : { why }) };
}

async function readEvidence({ readBlob }: OpenParts, hash: string | undefined): Promise<Evidence | null> {
  return hash === undefined || readBlob === undefined ? null : readBlob(hash).then(parseEvidence, () => null);
}

export type TriedOut = Map<string, CheckResult>;
