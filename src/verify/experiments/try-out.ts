// try-out: runs the experiments on the checks of a request once all of them have passed, each in
// throw-away checkouts, and records the results.
//
// Invariants:
//   T1. Only passing checks are tried out, and unless the setting is `always`, only if every
//       required check passes: otherwise the time would be wasted.
//   T2. The same evidence is tried out once, unless it turned out to be flaky.
//   T3. Every experiment runs in the folder, environment and isolation of the check itself: the
//       code under test cannot distinguish them. Only one has an environment of its own, which is
//       what it asks about (other-world/wrap-in-other-world.ts).
//   T4. A check that was shown to miss what was broken has failed, and its evidence says so.
//   T5. An experiment that takes too long leaves a gap: the code under test could have caused that.
//   T6. A check that did not pass before the work must pass at least twice without a semantic
//       change, or it is flaky.
//   T7. An experiment whose dependencies could not be restored was not made: what failed then shows
//       nothing of the check.

import { configDefaults } from "../../contracts/config-defaults.ts";
import type { Check, CheckResult, CheckStatus, Evidence } from "../../contracts/evidence.ts";
import { redactValue } from "../../kit/redact-value.ts";
import { parseEvidence } from "../evidence.ts";
import { patternRedactor } from "../bounded-output.ts";
import type { OpenParts } from "../verifier-parts.ts";
import { runExperiments, type ExperimentFindings } from "./experiment-on-check.ts";
import {
  addWhatOthersLeave,
  type Examined,
  listShown,
  type OwnFindings,
  type ShownByAll,
  triedKinds,
} from "./compare-checks.ts";
import type { CheckTrial } from "./experiment-runs.ts";
import type { CheckRequest } from "../../ports/verifier.ts";

/** Whether experiments follow if a check passes: they run it again anyway. */
export const isTriedOut = (
  { canary, readBlob }: OpenParts,
  { base, commit, evidenceBefore }: CheckRequest,
  { id, kind }: Check,
): boolean =>
  canary !== "off" &&
  readBlob !== undefined &&
  base !== undefined &&
  base !== commit &&
  triedKinds.has(kind) &&
  evidenceBefore?.[id] !== undefined;

/** The evidence of each check before the work, by the check's id. */
type Baselines = ReadonlyMap<string, Evidence>;

/**
 * Adds the results of the experiments; returns the results unchanged if experiments are off, or
 * were cancelled.
 */
export async function tryOut(
  trial: CheckTrial,
  results: readonly CheckResult[],
): Promise<readonly CheckResult[]> {
  const baselines = await readBaselines(trial, results);
  if (!areTriedOut(trial, results, baselines)) return results; // T1

  const examined = await examineAll(trial, results, baselines);
  if (trial.request.cancel.aborted) return results;

  const shown = listShown(examined);
  const concluded: CheckResult[] = [];
  for (const one of examined) concluded.push(await conclude(trial, one, shown));

  return concluded;
}

async function readBaselines(
  { parts, request }: CheckTrial,
  results: readonly CheckResult[],
): Promise<Baselines> {
  const baselines = new Map<string, Evidence>();
  for (const { check } of results) {
    const evidence = await readEvidence(parts, request.evidenceBefore?.[check.id]);
    if (evidence !== null) baselines.set(check.id, evidence);
  }

  return baselines;
}

/** Whether the setting, and how the checks ended, call for experiments (T1). */
function areTriedOut(
  { parts: { canary: mode = configDefaults.checks.canary }, request, base }: CheckTrial,
  results: readonly CheckResult[],
  baselines: Baselines,
): boolean {
  if (mode === "off" || request.commit === base) return false;
  if (mode !== "final") return true;

  const wasBrokenBefore = ({ check: { id, kind } }: CheckResult): boolean =>
    (kind === "project" || kind === "restore") && baselines.get(id)?.status === "failed";
  return results.every((result) => result.status === "passed" || wasBrokenBefore(result));
}

/** Runs the experiments of each result that is to be tried out and was not yet. */
async function examineAll(
  trial: CheckTrial,
  results: readonly CheckResult[],
  baselines: Baselines,
): Promise<readonly Examined[]> {
  const { parts, request, base } = trial;
  const failedRestores = new Set(
    results
      .filter(({ check, status }) => check.kind === "restore" && status !== "passed")
      .map(({ check: { id } }) => id),
  );
  const failedChecks = new Set(
    results.filter(({ status }) => status !== "passed").map(({ check }) => check.id),
  );
  const differences = await parts.workspace.differences(base, request.commit);
  const examined: Examined[] = [];

  for (const result of results) {
    const baseline = baselines.get(result.check.id) ?? null;
    if (!isWanted(result) || request.cancel.aborted) {
      examined.push({ result, baseline, findings: null });
      continue;
    }

    const known = findKnownResult(trial, result); // T2
    if (known !== null) {
      examined.push({ result: known, baseline, findings: null });
      continue;
    }

    const evidence = await readEvidence(parts, result.evidence);
    const subject = { result, evidence, baseline, differences };
    const findings = await runExperiments({ ...trial, failedRestores, failedChecks }, subject);
    examined.push({ result, baseline, findings });
  }

  return examined;
}

const isWanted = ({ status, check, quarantined }: CheckResult): boolean =>
  status === "passed" && triedKinds.has(check.kind) && quarantined === undefined;

/** The result of the same evidence if that was tried out before; null if it wasn't (T2). */
function findKnownResult({ parts }: CheckTrial, result: CheckResult): CheckResult | null {
  const { check, evidence, canary, cached } = result;
  const earlier = parts.tried?.get(evidence) ?? (canary === undefined ? undefined : result);
  if (earlier === undefined) return null;
  return { ...earlier, check, ...(cached === true ? { cached } : {}) };
}

/** The result with what was found out about it, which is kept for the same evidence (T2). */
async function conclude(
  trial: CheckTrial,
  { result, findings }: Examined,
  shown: ShownByAll,
): Promise<CheckResult> {
  if (findings === null) return result;
  const extended = await withFindings(trial, result, addWhatOthersLeave(findings, shown));
  if (extended.status !== "flaky") {
    trial.parts.tried?.set(result.evidence, extended).set(extended.evidence, extended);
  }

  return extended;
}

/** Adds the findings to the result, and to evidence that says the same (T4). */
async function withFindings(
  { parts }: CheckTrial,
  result: CheckResult,
  { unsteady, ...findings }: OwnFindings,
): Promise<CheckResult> {
  const evidence = await readEvidence(parts, result.evidence);
  const redact = (parts.redactor ?? patternRedactor).text;
  const redacted = redactValue(redact, findings);
  const { why, ...newStatus } = judgeFindings(findings, unsteady, redact);
  const repeats = unsteady === undefined ? {} : { repeats: [...unsteady] };
  const record = { ...evidence, ...newStatus, ...repeats, ...redacted };
  const hash =
    evidence === null
      ? result.evidence
      : await parts.putBlob(Buffer.from(`${JSON.stringify(record)}\n`));

  return {
    ...result,
    ...newStatus,
    ...redacted,
    evidence: hash,
    ...(why === undefined ? {} : { why }),
  };
}

/** The status that findings change a passing check to, and why; empty if it stays. */
function judgeFindings(
  { canary }: Pick<ExperimentFindings, "canary">,
  unsteady: readonly CheckStatus[] | undefined,
  redact: (text: string) => string,
): { readonly status?: "failed" | "flaky"; readonly why?: string } {
  if (canary?.outcome === "missed") {
    const why = redact(`it still passes with this broken on purpose: ${canary.detail}`);
    return { status: "failed", why };
  }

  if (unsteady === undefined) return {};
  return {
    status: "flaky",
    why: `on one and the same tree it came to ${unsteady.join(", then ")}`,
  };
}

async function readEvidence(
  { readBlob }: OpenParts,
  hash: string | undefined,
): Promise<Evidence | null> {
  return hash === undefined || readBlob === undefined
    ? null
    : readBlob(hash).then(parseEvidence, () => null);
}

export type TriedOut = Map<string, CheckResult>;
