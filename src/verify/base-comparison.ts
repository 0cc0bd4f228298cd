// base-comparison: compares the runs of a check with what it showed on the base, before anything
// was changed.
// Invariants V1 and on: verify/verifier.ts.

import type { Check, Evidence, TestTally } from "../contracts/evidence.ts";
import type { CheckRequest } from "../ports/verifier.ts";
import type { CheckRun } from "./check-run.ts";
import { findBrokenTests } from "./detect/test-names.ts";
import { parseEvidence } from "./evidence.ts";
import { describeLostTests, describeSkippedTests } from "./lost-tests.ts";
import { selectComparableRuns } from "./repeats.ts";
import { describeRecordGap } from "./reporter/choose-test-source.ts";
import type { OpenParts } from "./verifier-parts.ts";
import { describeTouchedFiles } from "./written-files.ts";

export class BaseComparison {
  readonly #parts: OpenParts;
  readonly #request: CheckRequest;

  constructor(parts: OpenParts, request: CheckRequest) {
    this.#parts = parts;
    this.#request = request;
  }

  /** Whether the request is for the base itself: nothing came before. */
  get isBase(): boolean {
    return this.#request.evidenceBefore === undefined;
  }

  /**
   * What the check reported of its tests on the base, nothing if it was not run there; undefined if
   * that is not compared.
   */
  tally({ id }: Check): TestTally | undefined {
    const { talliesBefore } = this.#request;
    return talliesBefore === undefined
      ? undefined
      : (talliesBefore[id] ?? { ran: 0, failed: 0, skipped: 0 });
  }

  /** The check's evidence on the base; null if there is none, or it is not compared. */
  async evidence({ id }: Check): Promise<Evidence | null> {
    const evidence = this.#request.evidenceBefore?.[id];
    const { readBlob } = this.#parts;
    if (evidence === undefined || readBlob === undefined) return null;
    return readBlob(evidence).then(parseEvidence, () => null);
  }

  /** Tests that passed on the base, beside failures there, and fail now in every run (V8). */
  async findBrokenTests(check: Check, runs: readonly CheckRun[]): Promise<readonly string[]> {
    if (check.kind !== "project" || runs.some(({ status }) => status !== "failed")) return [];
    const baseEvidence = await this.evidence(check);
    if (baseEvidence?.status !== "failed" || baseEvidence.names === undefined) return [];
    const laterNames = selectComparableRuns(runs).map(({ names }) => names);

    return findBrokenTests(
      baseEvidence.names,
      laterNames,
      this.#request.talliesBefore !== undefined,
    );
  }

  /** What a pass leaves open for a person to review; null if nothing. */
  async describeGaps(run: CheckRun, baseEvidence: Evidence | null): Promise<string | null> {
    const { commit, talliesBefore } = this.#request;
    const lostTests = await describeLostTests(
      { before: baseEvidence, now: run, mayRemove: talliesBefore === undefined },
      this.#parts.workspace,
      commit,
    );

    const hasRunNone = baseEvidence?.status === "passed" && run.tests?.ran === 0;
    const skippedTests = hasRunNone ? null : describeSkippedTests(baseEvidence, run.tests);
    const touchedFiles = describeTouchedFiles(run.wrote, baseEvidence);
    const recordGap = describeRecordGap(run, baseEvidence);

    const gaps = [lostTests, skippedTests, touchedFiles, recordGap];
    return gaps.filter((gap) => gap !== null).join("; ") || null;
  }
}
