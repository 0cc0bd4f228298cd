// check-session: runs the checks of one request in a checkout of its commit, and keeps their
// results.
// Invariants V1 and on: verify/verifier.ts.

import type {
  Check,
  CheckResult,
  CheckStatus,
  Evidence,
  TestTally,
} from "../contracts/evidence.ts";
import type { GitSha, Hash } from "../contracts/ids.ts";
import type { Verifier } from "../ports/verifier.ts";
import type { CheckoutOverrides } from "../ports/workspace.ts";
import { buildCommandRequest } from "./check-command.ts";
import { type Checkout, type CheckRun, whyNotPassed } from "./check-run.ts";
import { type CommandResult, predictEnvHash, runCommand } from "./command.ts";
import { openTestOutput, listFolderPaths } from "./test-output.ts";
import { parseEvidence, storeEvidence } from "./evidence.ts";
import { isTriedOut } from "./experiments/try-out.ts";
import { createTestFileFilter } from "./has-tests.ts";
import { createManifestReader } from "./detect/manifest-file.ts";
import { findUnmetNeeds } from "./detect/unmet-needs.ts";
import { findBrokenTests, toTestNames, mergeNames } from "./detect/test-names.ts";
import { listOverriddenPaths } from "./protected/base-overrides.ts";
import { findQuarantine } from "./quarantine.ts";
import {
  combineStatuses,
  selectComparableRuns,
  pickDecidingRun,
  countRunsWanted,
  type RepeatPolicy,
} from "./repeats.ts";
import type { OpenParts } from "./verifier-parts.ts";
import { chooseTestSource, describeRecordGap } from "./reporter/choose-test-source.ts";
import { mayBeAffected, openReporterTrial, type ReporterTrial } from "./reporter/reporter-trust.ts";
import { describeBrokenTests, describeLostTests, describeSkippedTests } from "./lost-tests.ts";
import { reportRunning } from "./report-running.ts";
import {
  findWrittenFiles,
  describeTouchedFiles,
  wroteNothing,
  type WrittenTo,
} from "./written-files.ts";

export type CheckRequest = Parameters<Verifier["check"]>[0];

type Recording = {
  readonly testOutput: ReturnType<typeof openTestOutput>;
  readonly isRecorded: boolean;
};

const repeatMaxDefault = 3;

export class CheckSession {
  readonly results: CheckResult[] = [];
  readonly #parts: OpenParts;
  readonly #request: CheckRequest;
  readonly #restores: readonly Check[];
  readonly #overrides: CheckoutOverrides | null;
  #checkout: Checkout | null = null;
  /** The checkout as it was before a check ran in it; null if that is unknown. */
  #cleanStamp: Hash | null = null;
  #isSpoiled = false;

  constructor(
    parts: OpenParts,
    request: CheckRequest,
    restores: readonly Check[],
    overrides: CheckoutOverrides | null,
  ) {
    this.#parts = parts;
    this.#request = request;
    this.#restores = restores;
    this.#overrides = overrides;
  }

  async open(): Promise<Checkout> {
    const { workspace } = this.#parts;
    const folder = await workspace.checkout(
      this.#request.commit,
      "check",
      ...(this.#overrides === null ? [] : [this.#overrides]),
    );

    this.#isSpoiled = false;
    this.#cleanStamp = await workspace.stampOf(folder);
    this.#checkout = {
      folder,
      tree: await workspace.treeOf(folder),
      dependencies: await workspace.dependenciesIn(folder),
    };

    return this.#checkout;
  }

  /**
   * Runs the restores, then the checks, unless an earlier result can be reused. Null if it was
   * cancelled.
   */
  async runAll(checks: readonly Check[]): Promise<readonly CheckResult[] | null> {
    const cachedResults = await Promise.all(
      [...this.#restores, ...checks].map((check) => this.#cachedResult(check)),
    );
    const isAllCached = cachedResults.every((result) => result !== null);

    for (const [index, restore] of this.#restores.entries()) {
      const cachedResult = isAllCached ? (cachedResults[index] ?? null) : null; // a check that runs needs the restored dependencies
      if (cachedResult === null && !(await this.#decideCheck(restore))) return null;
      if (cachedResult !== null) this.results.push(cachedResult);
    }

    for (const [index, check] of checks.entries()) {
      const cachedResult = cachedResults[this.#restores.length + index] ?? null;
      if (cachedResult !== null) this.results.push(cachedResult);
      else if (!(await this.#decideCheck(check))) return null;
    }

    return this.results;
  }

  /**
   * The earlier result of the same tree, command and environment, if it proves as much as running
   * it now would.
   */
  async #cachedResult(check: Check): Promise<CheckResult | null> {
    const { verdicts } = this.#parts;
    const checkout = this.#checkout;
    if (verdicts === null || checkout === null || this.#quarantine(check) !== null) return null;
    const { known = {}, recorded = [] } = this.#request;
    if (known[check.id] === "flaky") return null;
    const policy = this.#repeatPolicy(check);
    const runsMin = (status: CheckStatus): number => countRunsWanted(check, [status], policy);
    const envHash = (): Hash | null =>
      predictEnvHash(
        buildCommandRequest(this.#parts, check, checkout.folder, this.#request.cancel),
      );

    const { tree, dependencies } = checkout;
    const earlierResult = await verdicts.find(
      { check, tree, dependencies, envHash, runsMin },
      recorded,
    );
    return earlierResult?.uninstalled === undefined ? earlierResult : null; // the missing package may have been installed since
  }

  /** Runs a check as often as needed, and keeps its result. False if it was cancelled. */
  async #decideCheck(check: Check): Promise<boolean> {
    const { onLiveEvent, attempt } = this.#request;
    if (this.#request.cancel.aborted) return false;
    onLiveEvent({ signal: "checking", attempt, title: check.title, command: check.command });
    const baseEvidence = await this.#baseEvidence(check);
    const isReported =
      kindsRecorded.has(check.kind) &&
      (baseEvidence === null || baseEvidence.recorded !== undefined);
    const trial = openReporterTrial<CheckRun>(isReported);
    const runs = await this.#runUntilDecided(check, trial);

    return runs !== null && (await this.#keepResult(check, runs, baseEvidence, trial.note()));
  }

  /**
   * Repeats the check until its runs agree or show that it is flaky (V6). Null if it was cancelled
   * (V3).
   */
  async #runUntilDecided(
    check: Check,
    trial: ReporterTrial<CheckRun>,
  ): Promise<readonly CheckRun[] | null> {
    const policy = this.#repeatPolicy(check);
    const statusesOf = (finished: readonly CheckRun[]): readonly CheckStatus[] =>
      finished.map(({ status }) => status);
    let runs: readonly CheckRun[];

    do {
      const run = await this.#runOnce(check, trial.usesReporter());
      if (run === null) return null;
      runs = trial.add(run);
    } while (trial.needsRun() || runs.length < countRunsWanted(check, statusesOf(runs), policy));

    if (
      runs.length >= policy.repeatMax ||
      (await this.#testsBrokenSinceBase(check, runs)).length === 0
    ) {
      return runs;
    }

    // Once more: a test that is flaky within a check that fails anyway does not count as broken
    // (V8).
    const rerun = await this.#runOnce(check, trial.usesReporter());
    return rerun === null ? null : [...runs, rerun];
  }

  /**
   * Stores the evidence of a check's runs and adds its result. False without a run that decides.
   */
  async #keepResult(
    check: Check,
    runs: readonly CheckRun[],
    baseEvidence: Evidence | null,
    reporterNote: string,
  ): Promise<boolean> {
    const { commit } = this.#request;
    const statuses = runs.map((run) => run.status);
    const status = combineStatuses(statuses);
    const reportingRuns = status === "flaky" ? runs : selectComparableRuns(runs);
    const deciding = pickDecidingRun(reportingRuns, status, this.#request.before === undefined);
    if (deciding === undefined) return false;
    const { result, checkout, treeBefore, treeAfter, tests, wrote } = deciding;
    // Later runs are compared with these; and which tests a new pass rests on is asked by name.
    const areNamesKept =
      status === "failed" ||
      this.#request.before === undefined ||
      baseEvidence?.status === "failed";

    const broke = await this.#testsBrokenSinceBase(check, runs);
    const unmetNeeds = findUnmetNeeds(
      status,
      deciding,
      createManifestReader(this.#parts.workspace.foldersOf(checkout.folder)),
    );
    const why = unmetNeeds?.why ?? deciding.why ?? describeBrokenTests(broke);
    const quarantine = this.#quarantine(check);
    const { isolation, product, putBlob, redactor, verdicts } = this.#parts;
    const note = [result.note, reporterNote].filter((text) => text !== "").join("; ");

    const observation = {
      check,
      result: { ...result, note },
      status,
      cwd: checkout.folder,
      isolation,
      commit,
      treeBefore,
      treeAfter,
      product,
    };

    const details = {
      statuses,
      oracles: this.#overrides === null ? [] : listOverriddenPaths(this.#overrides),
      dependencies: checkout.dependencies,
      quarantine,
      tests,
      why,
      names: areNamesKept ? toTestNames(mergeNames(reportingRuns.map(({ names }) => names))) : null,
      recorded: deciding.recorded,
      gap: status === "passed" ? await this.#describeGaps(deciding, baseEvidence) : null,
      failing: deciding.failing,
      ...(unmetNeeds === null ? {} : { uninstalled: unmetNeeds.names }),
      broke,
      ...wrote,
      testsBefore: this.#baseTally(check),
    };

    const checkResult = await storeEvidence({ ...observation, ...details }, putBlob, redactor);
    if (quarantine === null || quarantine.isOver) {
      verdicts?.keep(
        { tree: treeBefore, dependencies: checkout.dependencies, envHash: result.envHash },
        checkResult,
        runs.length,
      );
    }

    this.results.push(checkResult);
    return true;
  }

  /**
   * One run, on the commit's tree (V2). Null if it was cancelled. `isRecorded`: whether its test
   * runners report to us.
   */
  async #runOnce(check: Check, isRecorded: boolean): Promise<CheckRun | null> {
    const checkout = await this.#cleanCheckout(check);
    if (checkout === null || this.#request.cancel.aborted) return null;
    const testOutput = openTestOutput(check.command, listFolderPaths(checkout.folder, this.#parts));
    const result = await this.#runCommand(check, checkout, { testOutput, isRecorded });
    if (result.status === "cancelled") return null;
    const treeAfter = await this.#noteTree(check, checkout);
    const wrote = await this.#findWritten(check, checkout, treeAfter);
    const hasTests = createTestFileFilter(
      checkout.folder,
      this.#parts.workspace.foldersOf(checkout.folder),
    );
    const output = testOutput.take(hasTests);
    const record = result.record?.take(hasTests) ?? null;
    const baseEvidence = await this.#baseEvidence(check);
    const { tests, names, failing, recorded } = chooseTestSource(output, record, baseEvidence);

    const failureReason = whyNotPassed(result, {
      tests,
      wrote,
      baseTally: this.#baseTally(check),
      baseEvidence,
    });
    const note = [result.note, failureReason ?? ""].filter((text) => text !== "").join("; ");
    return {
      result: { ...result, note },
      status: failureReason === null ? result.status : "failed",
      tests,
      names,
      failing,
      wrote,
      why: failureReason,
      recorded,
      foreignLines: record?.foreignLines ?? 0,
      hasReporter: isRecorded && mayBeAffected(result),
      tally: output.tests,
      checkout,
      treeBefore: checkout.tree,
      treeAfter,
    };
  }

  /** Runs the command and reports once a second that it is still running. */
  #runCommand(check: Check, { folder }: Checkout, recording: Recording): Promise<CommandResult> {
    const { onLiveEvent, attempt, cancel } = this.#request;
    const { testOutput } = recording;

    const stopReporting = reportRunning(this.#parts.clock, (elapsedMs) =>
      onLiveEvent({
        signal: "check_running",
        attempt,
        title: check.title,
        elapsedMs,
        line: testOutput.lastLine(),
      }),
    );

    return runCommand({
      ...buildCommandRequest(this.#parts, check, folder, cancel),
      ...recording,
    }).finally(stopReporting);
  }

  /**
   * Returns the tree after a run. Restored dependencies belong to the clean checkout; whatever a
   * check writes spoils it (V2).
   */
  async #noteTree(check: Check, checkout: Checkout): Promise<GitSha> {
    const treeAfter = await this.#parts.workspace.treeOf(checkout.folder);
    const stamp = await this.#parts.workspace.stampOf(checkout.folder);

    if (check.kind === "restore") {
      this.#checkout = { ...checkout, tree: treeAfter };
      this.#cleanStamp = stamp;
    } else {
      this.#isSpoiled = stamp === null || stamp !== this.#cleanStamp;
    }

    return treeAfter;
  }

  async #findWritten(
    check: Check,
    { folder, tree }: Checkout,
    treeAfter: GitSha,
  ): Promise<WrittenTo> {
    if (check.kind === "restore") return wroteNothing;
    const overridden = this.#overrides === null ? [] : listOverriddenPaths(this.#overrides);
    return findWrittenFiles(this.#parts, folder, { isChanged: treeAfter !== tree, overridden });
  }

  /**
   * A checkout that no check has written to: the current one, or a new one (V2). Null if it was
   * cancelled.
   */
  async #cleanCheckout(check: Check): Promise<Checkout | null> {
    if (this.#isSpoiled) {
      await this.open();
      // A clean folder has lost its restored dependencies too, so they are restored again; if that
      // fails, the next check shows it.
      if (check.kind !== "restore") {
        for (const restoreCheck of this.#restores) {
          if ((await this.#runOnce(restoreCheck, false)) === null) return null;
        }
      }
    }

    return this.#checkout;
  }

  /**
   * What it reported of its tests on the base, nothing if it was not run there; undefined if that
   * is not compared.
   */
  #baseTally({ id }: Check): TestTally | undefined {
    return this.#request.tests === undefined
      ? undefined
      : (this.#request.tests[id] ?? { ran: 0, failed: 0, skipped: 0 });
  }

  /** Tests that passed on the base, beside failures there, and fail now in every run (V8). */
  async #testsBrokenSinceBase(check: Check, runs: readonly CheckRun[]): Promise<readonly string[]> {
    if (check.kind !== "project" || runs.some(({ status }) => status !== "failed")) return [];
    const baseEvidence = await this.#baseEvidence(check);
    if (baseEvidence?.status !== "failed" || baseEvidence.names === undefined) return [];
    const laterNames = selectComparableRuns(runs).map(({ names }) => names);

    return findBrokenTests(baseEvidence.names, laterNames, this.#request.tests !== undefined);
  }

  /**
   * The evidence from before anything was changed; null if there is none, or it is not compared.
   */
  async #baseEvidence({ id }: Check): Promise<Evidence | null> {
    const evidence = this.#request.before?.[id];
    const { readBlob } = this.#parts;
    return evidence === undefined || readBlob === undefined
      ? null
      : readBlob(evidence).then(parseEvidence, () => null);
  }

  /** What a pass leaves open for a person to review; null if nothing. */
  async #describeGaps(run: CheckRun, baseEvidence: Evidence | null): Promise<string | null> {
    const { commit, tests } = this.#request;
    const gaps = [
      await describeLostTests(
        { before: baseEvidence, now: run, mayRemove: tests === undefined },
        this.#parts.workspace,
        commit,
      ),
      baseEvidence?.status === "passed" && run.tests?.ran === 0
        ? null
        : describeSkippedTests(baseEvidence, run.tests),
      describeTouchedFiles(run.wrote, baseEvidence),
      describeRecordGap(run, baseEvidence),
    ];
    return gaps.filter((gap) => gap !== null).join("; ") || null;
  }

  #quarantine(check: Check): ReturnType<typeof findQuarantine> {
    return findQuarantine(this.#parts.quarantine ?? [], check, this.#parts.clock.now());
  }

  #repeatPolicy(check: Check): RepeatPolicy {
    return {
      previousStatus: this.#request.known?.[check.id],
      repeatMax: this.#parts.repeatMax ?? repeatMaxDefault,
      isTriedOut: isTriedOut(this.#parts, this.#request, check),
    };
  }
}

/**
 * The checks whose test runners report over our own channel; gates and restores run no tests of
 * interest, and a hold-out is run as it is.
 */
const kindsRecorded: ReadonlySet<Check["kind"]> = new Set(["criterion", "project", "red_green"]);
