// check-session: runs the checks of one request in a checkout of its commit, and keeps their
// results.
// Invariants V1 and on: verify/verifier.ts.

import type { CheckRequest } from "../ports/verifier.ts";
import { configDefaults } from "../contracts/config-defaults.ts";
import type { Check, CheckResult, CheckStatus, Evidence } from "../contracts/evidence.ts";
import type { GitSha, Hash } from "../contracts/ids.ts";
import type { CheckoutOverrides } from "../ports/workspace.ts";
import { BaseComparison } from "./base-comparison.ts";
import { buildCommandRequest } from "./check-command.ts";
import { type Checkout, type CheckRun, whyNotPassed } from "./check-run.ts";
import { CleanCheckout } from "./clean-checkout.ts";
import { type CommandResult, predictEnvHash, runCommand } from "./run-command.ts";
import { createManifestReader } from "./detect/manifest-file.ts";
import { mergeNames, toTestNames } from "./detect/test-names.ts";
import { findUnmetNeeds } from "./detect/unmet-needs.ts";
import { type Observation, storeEvidence } from "./evidence.ts";
import { isTriedOut } from "./experiments/try-out.ts";
import { createTestFileFilter } from "./has-tests.ts";
import { describeBrokenTests } from "./lost-tests.ts";
import { listOverriddenPaths } from "./protected/base-overrides.ts";
import { findQuarantine } from "./quarantine.ts";
import {
  combineStatuses,
  countRunsWanted,
  pickDecidingRun,
  type RepeatPolicy,
  selectComparableRuns,
} from "./repeats.ts";
import { reportRunning } from "./report-running.ts";
import { chooseTestSource } from "./reporter/choose-test-source.ts";
import { mayBeAffected, openReporterTrial, type ReporterTrial } from "./reporter/reporter-trust.ts";
import { listFolderPaths, openTestOutput } from "./read-test-output.ts";
import type { OpenParts } from "./verifier-parts.ts";
import { findWrittenFiles, type WrittenTo, wroteNothing } from "./written-files.ts";

type Recording = {
  readonly testOutput: ReturnType<typeof openTestOutput>;
  readonly isRecorded: boolean;
};

export class CheckSession {
  readonly results: CheckResult[] = [];
  readonly #parts: OpenParts;
  readonly #request: CheckRequest;
  readonly #restores: readonly Check[];
  /** Paths that are the base's instead of the commit's. */
  readonly #overriddenPaths: readonly string[];
  readonly #checkout: CleanCheckout;
  readonly #base: BaseComparison;

  constructor(
    parts: OpenParts,
    request: CheckRequest,
    restores: readonly Check[],
    overrides: CheckoutOverrides | null,
  ) {
    this.#parts = parts;
    this.#request = request;
    this.#restores = restores;
    this.#overriddenPaths = overrides === null ? [] : listOverriddenPaths(overrides);
    this.#checkout = new CleanCheckout(parts.workspace, request.commit, overrides);
    this.#base = new BaseComparison(parts, request);
  }

  open(): Promise<void> {
    return this.#checkout.open();
  }

  /**
   * Runs the restores, then the checks, unless an earlier result can be reused. Null if it was
   * cancelled.
   */
  async runAll(checks: readonly Check[]): Promise<readonly CheckResult[] | null> {
    const restores = await this.#withCachedResults(this.#restores);
    const wanted = await this.#withCachedResults(checks);
    const isAllCached = [...restores, ...wanted].every(({ cached }) => cached !== null);

    for (const { check, cached } of restores) {
      // A check that runs needs the restored dependencies.
      if (!(await this.#addResult(check, isAllCached ? cached : null))) return null;
    }

    for (const { check, cached } of wanted) {
      if (!(await this.#addResult(check, cached))) return null;
    }

    return this.results;
  }

  #withCachedResults(
    checks: readonly Check[],
  ): Promise<readonly { readonly check: Check; readonly cached: CheckResult | null }[]> {
    return Promise.all(
      checks.map(async (check) => ({ check, cached: await this.#cachedResult(check) })),
    );
  }

  /** Adds the earlier result, or that of running the check. False if it was cancelled. */
  async #addResult(check: Check, cachedResult: CheckResult | null): Promise<boolean> {
    if (cachedResult === null) return this.#decideCheck(check);
    this.results.push(cachedResult);
    return true;
  }

  /**
   * The earlier result of the same tree, command and environment, if it proves as much as running
   * it now would.
   */
  async #cachedResult(check: Check): Promise<CheckResult | null> {
    const { verdicts } = this.#parts;
    const checkout = this.#checkout.current;
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
    // A package that was missing then may have been installed since.
    return earlierResult?.uninstalled === undefined ? earlierResult : null;
  }

  /** Runs a check as often as needed, and keeps its result. False if it was cancelled. */
  async #decideCheck(check: Check): Promise<boolean> {
    const { onLiveEvent, attempt } = this.#request;
    if (this.#request.cancel.aborted) return false;
    onLiveEvent({ signal: "checking", attempt, title: check.title, command: check.command });
    const baseEvidence = await this.#base.evidence(check);
    const wasRecorded = baseEvidence === null || baseEvidence.recorded !== undefined;
    const trial = openReporterTrial<CheckRun>(kindsRecorded.has(check.kind) && wasRecorded);
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
    const needsMore = (finished: readonly CheckRun[]): boolean =>
      finished.length < countRunsWanted(check, listStatuses(finished), policy);
    let runs: readonly CheckRun[];

    do {
      const run = await this.#runOnce(check, trial.usesReporter());
      if (run === null) return null;
      runs = trial.add(run);
    } while (trial.needsRun() || needsMore(runs));

    if (runs.length >= policy.repeatMax) return runs;
    const brokenTests = await this.#base.findBrokenTests(check, runs);
    if (brokenTests.length === 0) return runs;

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
    const status = combineStatuses(listStatuses(runs));
    const reportingRuns = status === "flaky" ? runs : selectComparableRuns(runs);
    const deciding = pickDecidingRun(reportingRuns, status, this.#base.isBase);
    if (deciding === undefined) return false;

    const quarantine = this.#quarantine(check);
    const observation: Observation = {
      ...this.#observe(check, status, deciding, reporterNote),
      ...(await this.#findFaults(check, status, deciding, runs)),
      statuses: listStatuses(runs),
      quarantine,
      names: this.#areNamesKept(status, baseEvidence)
        ? toTestNames(mergeNames(reportingRuns.map(({ names }) => names)))
        : null,
      gap: status === "passed" ? await this.#base.describeGaps(deciding, baseEvidence) : null,
    };

    const { putBlob, redactor, verdicts } = this.#parts;
    const checkResult = await storeEvidence(observation, putBlob, redactor);

    if (quarantine === null || quarantine.isOver) {
      const { checkout, treeBefore, result } = deciding;
      verdicts?.keep(
        { tree: treeBefore, dependencies: checkout.dependencies, envHash: result.envHash },
        checkResult,
        runs.length,
      );
    }

    this.results.push(checkResult);
    return true;
  }

  /** What the deciding run showed, and where it ran. */
  #observe(
    check: Check,
    status: CheckStatus,
    deciding: CheckRun,
    reporterNote: string,
  ): Observation {
    const { result, checkout, treeBefore, treeAfter, tests, recorded, failing, wrote } = deciding;
    const { isolation, product } = this.#parts;

    return {
      check,
      result: { ...result, note: joinNotes(result.note, reporterNote) },
      status,
      cwd: checkout.folder,
      isolation,
      commit: this.#request.commit,
      treeBefore,
      treeAfter,
      product,
      fromBase: this.#overriddenPaths,
      dependencies: checkout.dependencies,
      tests,
      testsBefore: this.#base.tally(check),
      recorded,
      failing,
      ...wrote,
    };
  }

  /** Why the check has not passed, if its exit code does not say so. */
  async #findFaults(
    check: Check,
    status: CheckStatus,
    deciding: CheckRun,
    runs: readonly CheckRun[],
  ): Promise<Pick<Observation, "broke" | "why" | "uninstalled">> {
    const broke = await this.#base.findBrokenTests(check, runs);
    const folders = this.#parts.workspace.foldersOf(deciding.checkout.folder);
    const unmetNeeds = findUnmetNeeds(status, deciding, createManifestReader(folders));

    return {
      broke,
      why: unmetNeeds?.why ?? deciding.why ?? describeBrokenTests(broke),
      ...(unmetNeeds === null ? {} : { uninstalled: unmetNeeds.names }),
    };
  }

  /** Later runs are compared with these; and which tests a new pass rests on is asked by name. */
  #areNamesKept(status: CheckStatus, baseEvidence: Evidence | null): boolean {
    return status === "failed" || this.#base.isBase || baseEvidence?.status === "failed";
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
    const treeAfter = await this.#checkout.noteRun(check, checkout);
    const wrote = await this.#findWritten(check, checkout, treeAfter);

    const folders = this.#parts.workspace.foldersOf(checkout.folder);
    const hasTests = createTestFileFilter(checkout.folder, folders);
    const output = testOutput.take(hasTests);
    const record = result.record?.take(hasTests) ?? null;
    const baseEvidence = await this.#base.evidence(check);
    const baseTally = this.#base.tally(check);
    const { tests, names, failing, recorded } = chooseTestSource(output, record, baseEvidence);
    const why = whyNotPassed(result, { tests, wrote, baseTally, baseEvidence });

    return {
      result: { ...result, note: joinNotes(result.note, why ?? "") },
      status: why === null ? result.status : "failed",
      tests,
      names,
      failing,
      wrote,
      why,
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

  async #findWritten(
    check: Check,
    { folder, tree }: Checkout,
    treeAfter: GitSha,
  ): Promise<WrittenTo> {
    if (check.kind === "restore") return wroteNothing;
    return findWrittenFiles(this.#parts, folder, {
      isChanged: treeAfter !== tree,
      overridden: this.#overriddenPaths,
    });
  }

  /**
   * A checkout that no check has written to: the current one, or a new one (V2). Null if it was
   * cancelled.
   */
  async #cleanCheckout(check: Check): Promise<Checkout | null> {
    if (!this.#checkout.isSpoiled) return this.#checkout.current;
    await this.open();
    if (check.kind === "restore") return this.#checkout.current;

    // A clean folder has lost its restored dependencies too, so they are restored again; if that
    // fails, the next check shows it.
    for (const restoreCheck of this.#restores) {
      if ((await this.#runOnce(restoreCheck, false)) === null) return null;
    }

    return this.#checkout.current;
  }

  #quarantine(check: Check): ReturnType<typeof findQuarantine> {
    return findQuarantine(this.#parts.quarantine ?? [], check, this.#parts.clock.now());
  }

  #repeatPolicy(check: Check): RepeatPolicy {
    return {
      previousStatus: this.#request.known?.[check.id],
      repeatMax: this.#parts.repeatMax ?? configDefaults.checks.repeat,
      isTriedOut: isTriedOut(this.#parts, this.#request, check),
    };
  }
}

/**
 * The checks whose test runners report over our own channel; gates and restores run no tests of
 * interest, and a hold-out is run as it is.
 */
const kindsRecorded: ReadonlySet<Check["kind"]> = new Set(["criterion", "project", "red_green"]);

const listStatuses = (runs: readonly CheckRun[]): readonly CheckStatus[] =>
  runs.map(({ status }) => status);

const joinNotes = (...notes: readonly string[]): string =>
  notes.filter((note) => note !== "").join("; ");
