// run-checks: runs the checks of a request, one after the other, in checkouts of its commit with the base's protected files.
// Invariants V1 and on: verify/verifier.ts.

import type { Check, CheckResult, CheckStatus, Evidence, Recorded, TestTally } from "../contracts/evidence.ts";
import type { GitSha, Hash } from "../contracts/ids.ts";
import type { Verifier } from "../ports/verifier.ts";
import type { CheckoutOverrides } from "../ports/workspace.ts";
import { commandFor } from "./check-command.ts";
import { type CommandRequest, type CommandResult, envHashFor, runCommand } from "./command.ts";
import { openTestOutput } from "./test-output.ts";
import { keepEvidence, readEvidence } from "./evidence.ts";
import { isTriedOut, tryOut } from "./experiments/try-out.ts";
import { testFilesIn } from "./holds-tests.ts";
import { readIn } from "./detect/manifest-file.ts";
import { lacksOf } from "./detect/lacks.ts";
import { brokenSince, keptNames, type ReportedNames, together, unrunSince } from "./detect/names.ts";
import { pathsOf, undoOf } from "./protected/undo.ts";
import { quarantineOf } from "./quarantine.ts";
import { decidingOf, runsWanted, statusOf, comparableRuns } from "./repeats.ts";
import type { OpenParts } from "./parts.ts";
import { believed, recordGap } from "./reporter/believe.ts";
import { mayHaveChanged, openTrust, type TrustedRun } from "./reporter/trust.ts";
import { brokenTestsMessage, fewerSince, unrunTestsMessage } from "./lost-tests.ts";
import { lostSince } from "./tally.ts";
import { reportRunning } from "./report-running.ts";
import { handledGap, whyJudgeRewritten, writtenToIn, type WrittenTo } from "./written-to.ts";

export type CheckRequest = Parameters<Verifier["check"]>[0];

/** A checkout, and its tree hash while no check has changed it. */
type Checkout = { readonly folder: string; readonly tree: GitSha; readonly dependencies: Hash | null };
/** One run of a command, with the tree before and after. */
type Run = TrustedRun & {
  readonly result: CommandResult;
  readonly tests: TestTally | null;
  readonly names: ReportedNames;
  readonly failing: readonly string[];
  readonly wrote: WrittenTo;
  readonly why: string | null;
  /** What its test runners reported over our own channel, and how much foreign input it had. */
  readonly recorded: Recorded | null;
  readonly strangers: number;
  readonly place: Checkout;
  readonly treeBefore: GitSha;
  readonly treeAfter: GitSha;
};

const repeatMaxDefault = 3;
export async function runChecks(parts: OpenParts, request: CheckRequest): Promise<readonly CheckResult[]> {
  if (request.checks.length === 0 || request.cancel.aborted) return [];
  const restores = [...(parts.restores ?? []), ...request.checks.filter(({ kind }) => kind === "restore")];
  const checks = request.checks.filter(({ kind }) => kind !== "restore");
  const taken = await takenFor(parts, request);
  const session = new CheckSession(parts, request, restores, taken);
  await session.open();
  const results = await session.runAll(checks);
  if (results === null) return session.results; // V3
  return request.base === undefined ? results : tryOut({ parts, request, base: request.base, restores, taken }, results); // V10
}

/** The base's protected files, replacing those that were changed and may not be (V5). */
async function takenFor(parts: OpenParts, { oracles, commit, checks }: CheckRequest): Promise<CheckoutOverrides | null> {
  if (oracles === undefined || oracles.changes.length === 0) return null;
  const { workspace, protect = [], restores = [] } = parts;
  const commands = checks.map(({ command }) => command);
  return undoOf({ workspace, protect, restores: restores.length > 0 }, { ...oracles, commit, commands });
}

class CheckSession {
  readonly results: CheckResult[] = [];
  readonly #parts: OpenParts;
  readonly #request: CheckRequest;
  readonly #restores: readonly Check[];
  readonly #taken: CheckoutOverrides | null;
  #place: Checkout | null = null;
  #isSpoiled = false;

  constructor(parts: OpenParts, request: CheckRequest, restores: readonly Check[], taken: CheckoutOverrides | null) {
    this.#parts = parts;
    this.#request = request;
    this.#restores = restores;
    this.#taken = taken;
  }

  async open(): Promise<Checkout> {
    const { workspace } = this.#parts;
    const folder = await workspace.checkout(this.#request.commit, "check", ...(this.#taken === null ? [] : [this.#taken]));
    this.#isSpoiled = false;
    this.#place = { folder, tree: await workspace.treeOf(folder), dependencies: await workspace.dependenciesIn(folder) };
    return this.#place;
  }

  /** Null if it was cancelled. */
  async runAll(checks: readonly Check[]): Promise<readonly CheckResult[] | null> {
    const known = await Promise.all([...this.#restores, ...checks].map((check) => this.#cachedResult(check)));
    const isAllKnown = known.every((result) => result !== null);
    for (const [index, restore] of this.#restores.entries()) {
      const before = isAllKnown ? (known[index] ?? null) : null; // restored dependencies are needed by every check
      if (before === null && !(await this.#decide(restore))) return null;
      if (before !== null) this.results.push(before);
    }
    for (const [index, check] of checks.entries()) {
      const before = known[this.#restores.length + index] ?? null;
      if (before !== null) this.results.push(before);
      else if (!(await this.#decide(check))) return null;
    }
    return this.results;
  }

  /** The earlier result of the same tree, command and environment, if it proves as much as running it now would. */
  async #cachedResult(check: Check): Promise<CheckResult | null> {
    const { verdicts } = this.#parts;
    const place = this.#place;
    if (verdicts === null || place === null || this.#quarantine(check) !== null) return null;
    const { known = {}, recorded = [] } = this.#request;
    if (known[check.id] === "flaky") return null;
    const isTried = isTriedOut(this.#parts, this.#request, check);
    const runsMin = (status: CheckStatus): number => runsWanted(check, [status], known[check.id], this.#repeatMax, isTried);
    const envHash = (): Hash | null => envHashFor(commandFor(this.#parts, check, place.folder, this.#request.cancel));
    return verdicts.find({ check, tree: place.tree, dependencies: place.dependencies, envHash, runsMin }, recorded);
  }

  /** Runs a check as often as needed, and keeps its result. False if it was cancelled. */
  async #decide(check: Check): Promise<boolean> {
    const { onLiveEvent, attempt, known = {}, commit } = this.#request;
    if (this.#request.cancel.aborted) return false;
    onLiveEvent({ signal: "checking", attempt, title: check.title, command: check.command });
    const before = await this.#baseEvidence(check);
    const trust = openTrust<Run>(kindsRecorded.has(check.kind) && (before === null || before.recorded !== undefined));
    let runs: readonly Run[];
    do {
      const run = await this.#run(check, trust.isAsked());
      if (run === null) return false; // V3
      runs = trust.add(run);
    } while (
      trust.isOpen() ||
      runs.length <
        runsWanted(
          check,
          runs.map(({ status }) => status),
          known[check.id],
          this.#repeatMax,
          isTriedOut(this.#parts, this.#request, check),
        )
    ); // V6
    if (runs.length < this.#repeatMax && (await this.#testsBrokenSinceBase(check, runs)).length > 0) {
      const again = await this.#run(check, trust.isAsked()); // a flaky test within a check that fails anyway is not broken
      if (again === null) return false;
      runs = [...runs, again];
    }
    const statuses = runs.map((run) => run.status);
    const status = statusOf(statuses);
    const reporting = status === "flaky" ? runs : comparableRuns(runs);
    const deciding = decidingOf(reporting, status, this.#request.before === undefined);
    if (deciding === undefined) return false;
    const { result, place, treeBefore, treeAfter, tests, wrote } = deciding;
    const broke = await this.#testsBrokenSinceBase(check, runs);
    const lacks = lacksOf(status, deciding, readIn(place.folder));
    const why = lacks?.why ?? deciding.why ?? brokenTestsMessage(broke);
    const quarantine = this.#quarantine(check);
    const { isolation, product, putBlob, redactor, verdicts } = this.#parts;
    const note = [result.note, trust.note()].filter((text) => text !== "").join("; ");
    const sighting = { check, result: { ...result, note }, status, cwd: place.folder, isolation, commit, treeBefore, treeAfter, product };
    const more = {
      statuses,
      oracles: this.#taken === null ? [] : pathsOf(this.#taken),
      dependencies: place.dependencies,
      quarantine,
      tests,
      why,
      names: status === "failed" || this.#request.before === undefined ? keptNames(together(reporting.map(({ names }) => names))) : null,
      recorded: deciding.recorded,
      gap:
        status === "passed"
          ? joinedGaps(await this.#testsNoLongerRun(check, deciding), handledGap(wrote, before), recordGap(deciding, before))
          : null,
      failing: deciding.failing,
      ...(lacks === null ? {} : { uninstalled: lacks.names }),
      broke,
      ...wrote,
      testsBefore: this.#testsBefore(check),
    };
    const kept = await keepEvidence({ ...sighting, ...more }, putBlob, redactor);
    if (quarantine === null || quarantine.isOver)
      verdicts?.keep({ tree: treeBefore, dependencies: place.dependencies, envHash: result.envHash }, kept, runs.length);
    this.results.push(kept);
    return true;
  }

  /** One run, on the commit's tree (V2). Null if it was cancelled. `isRecorded`: whether its test runners report to us. */
  async #run(check: Check, isRecorded: boolean): Promise<Run | null> {
    const place = await this.#clean(check);
    if (place === null || this.#request.cancel.aborted) return null;
    const testOutput = openTestOutput(check.command, place.folder);
    const { onLiveEvent, attempt } = this.#request;
    const stopReporting = reportRunning(this.#parts.clock, (elapsedMs) =>
      onLiveEvent({ signal: "check_running", attempt, title: check.title, elapsedMs, line: testOutput.lastLine() }),
    );
    const command = commandFor(this.#parts, check, place.folder, this.#request.cancel);
    const request: CommandRequest = { ...command, testOutput, isRecorded };
    const result = await runCommand(request).finally(stopReporting);
    if (result.status === "cancelled") return null;
    const treeAfter = await this.#parts.workspace.treeOf(place.folder);
    if (check.kind === "restore") this.#place = { ...place, tree: treeAfter };
    const isChanged = treeAfter !== place.tree;
    const own = this.#taken === null ? [] : pathsOf(this.#taken);
    const wrote = check.kind === "restore" ? wroteNothing : await writtenToIn(this.#parts, place.folder, { isChanged, own });
    if (check.kind !== "restore") this.#isSpoiled = isChanged || wrote.touched.length > 0;
    const isOfTests = testFilesIn(place.folder, this.#parts.workspace.foldersOf(place.folder));
    const output = testOutput.take(isOfTests);
    const record = result.record?.take(isOfTests) ?? null;
    const { tests, names, failing, recorded } = believed(output, record, await this.#baseEvidence(check));
    const before = this.#testsBefore(check);
    const lost =
      result.status !== "passed"
        ? null
        : ((before === undefined ? null : lostSince(before, tests)) ??
          whyJudgeRewritten(wrote, await this.#baseEvidence(check)) ??
          (await this.#ignoredFailures(check, tests))); // V7, V9, V11
    const note = [result.note, lost ?? ""].filter((text) => text !== "").join("; ");
    return {
      result: { ...result, note },
      status: lost === null ? result.status : "failed",
      tests,
      names,
      failing,
      wrote,
      why: lost,
      recorded,
      strangers: record?.strangers ?? 0,
      isAsked: isRecorded && mayHaveChanged(result),
      tally: output.tests,
      place,
      treeBefore: place.tree,
      treeAfter,
    };
  }

  async #clean(check: Check): Promise<Checkout | null> {
    if (this.#isSpoiled) {
      await this.open();
      // A clean folder has lost its restored dependencies too, so they are restored again; if that fails, the next check shows it.
      if (check.kind !== "restore") for (const again of this.#restores) if ((await this.#run(again, false)) === null) return null;
    }
    return this.#place;
  }

  /** What it reported of its tests on the base; undefined if that is not compared. */
  #testsBefore({ id }: Check): TestTally | undefined {
    return this.#request.tests === undefined ? undefined : (this.#request.tests[id] ?? { ran: 0, failed: 0, skipped: 0 });
  }

  /** Tests that passed on the base, beside failures there, and fail now in every run (V8). */
  async #testsBrokenSinceBase(check: Check, runs: readonly Run[]): Promise<readonly string[]> {
    if (check.kind !== "project" || runs.some(({ status }) => status !== "failed")) return [];
    const before = await this.#baseEvidence(check);
    if (before?.status !== "failed" || before.names === undefined) return [];
    const later = comparableRuns(runs).map(({ names }) => names);
    return brokenSince(before.names, later, this.#request.tests !== undefined);
  }

  /** The evidence from before anything was changed; null if there is none, or it is not compared. */
  async #baseEvidence({ id }: Check): Promise<Evidence | null> {
    const evidence = this.#request.before?.[id];
    const { readBlob } = this.#parts;
    return evidence === undefined || readBlob === undefined ? null : readBlob(evidence).then(readEvidence, () => null);
  }

  /** Why a check that exits with 0 has not passed: tests failed, and it did not end so on the base (V11). */
  async #ignoredFailures(check: Check, tests: TestTally | null): Promise<string | null> {
    const { failed = 0 } = tests ?? {};
    const before = failed === 0 ? null : await this.#baseEvidence(check);
    if (before === null || (before.status === "passed" && (before.tests?.failed ?? 0) > 0)) return null;
    return `it ended as if all were well, and tells of ${failed} failed ${failed === 1 ? "test" : "tests"}`;
  }

  /** Tests that were run on the base and not now, if the protected files are the same; null if there are none. */
  async #testsNoLongerRun(check: Check, { tests, names }: Run): Promise<string | null> {
    if (this.#request.tests === undefined) return null;
    const before = await this.#baseEvidence(check);
    const missing = before?.names === undefined ? [] : unrunSince(before.names, names);
    return missing.length > 0 ? unrunTestsMessage(missing) : fewerSince(before?.tests?.ran ?? 0, tests?.ran ?? 0);
  }

  #quarantine(check: Check): ReturnType<typeof quarantineOf> {
    return quarantineOf(this.#parts.quarantine ?? [], check, this.#parts.clock.now());
  }

  get #repeatMax(): number {
    return this.#parts.repeatMax ?? repeatMaxDefault;
  }
}

const kindsRecorded: ReadonlySet<Check["kind"]> = new Set(["criterion", "project", "red_green"]);
const joinedGaps = (...gaps: readonly (string | null)[]): string | null => gaps.filter((gap) => gap !== null).join("; ") || null;
const wroteNothing: WrittenTo = { rewrote: [], touched: [] };
