// run-checks: the checks of an order, one after the other, in checkouts of its commit under the base's oracles (V2, V3, V5, V6 of verifier.ts).

import { lstatSync, readFileSync } from "node:fs";
import { isAbsolute, join, relative } from "node:path";
import type { Check, CheckResult, CheckStatus, TestTally } from "../contracts/evidence.ts";
import type { GitSha, Hash } from "../contracts/ids.ts";
import type { Verifier } from "../ports/verifier.ts";
import type { Taken } from "../ports/workspace.ts";
import { type CommandOrder, type CommandResult, envHashFor, runCommand, type Wrap } from "./command.ts";
import { keepEvidence } from "./evidence.ts";
import { countsOf } from "./oracles/test-words.ts";
import { pathsOf, undoOf } from "./oracles/undo.ts";
import { type Output, storedOutput } from "./output.ts";
import { quarantineOf } from "./quarantine.ts";
import { runsWanted, statusOf } from "./repeats.ts";
import type { OpenParts } from "./parts.ts";
import { lostSince, tallyIn } from "./tally.ts";

export type CheckOrder = Parameters<Verifier["check"]>[0];

/** A checkout, and what its tree is while no check has changed it. */
type Place = { readonly folder: string; readonly tree: GitSha; readonly dependencies: Hash | null };
/** One run of a command, with the tree before and after. */
type Run = {
  readonly result: CommandResult;
  readonly status: CheckStatus;
  readonly tests: TestTally | null;
  readonly why: string | null;
  readonly place: Place;
  readonly treeBefore: GitSha;
  readonly treeAfter: GitSha;
};

const repeatMaxDefault = 3;

export async function runChecks(parts: OpenParts, order: CheckOrder): Promise<readonly CheckResult[]> {
  if (order.checks.length === 0 || order.cancel.aborted) return [];
  const restores = [...(parts.restores ?? []), ...order.checks.filter(({ kind }) => kind === "restore")];
  const checks = order.checks.filter(({ kind }) => kind !== "restore");
  const taken = await takenFor(parts, order);
  const session = new CheckSession(parts, order, restores, taken);
  await session.open();
  return (await session.runAll(checks)) ?? session.results; // V3
}

/** The base's oracles in the place of those that were changed and may not be (V5). */
async function takenFor(parts: OpenParts, { oracles, commit, checks }: CheckOrder): Promise<Taken | null> {
  if (oracles === undefined || oracles.changes.length === 0) return null;
  const { workspace, protect = [], restores = [] } = parts;
  const commands = checks.map(({ command }) => command);
  return undoOf({ workspace, protect, restores: restores.length > 0 }, { ...oracles, commit, commands });
}

class CheckSession {
  readonly results: CheckResult[] = [];
  readonly #parts: OpenParts;
  readonly #order: CheckOrder;
  readonly #restores: readonly Check[];
  readonly #taken: Taken | null;
  #place: Place | null = null;
  #isSpoiled = false;

  constructor(parts: OpenParts, order: CheckOrder, restores: readonly Check[], taken: Taken | null) {
    this.#parts = parts;
    this.#order = order;
    this.#restores = restores;
    this.#taken = taken;
  }

  async open(): Promise<Place> {
    const { workspace } = this.#parts;
    const folder = await workspace.checkout(this.#order.commit, "check", ...(this.#taken === null ? [] : [this.#taken]));
    this.#isSpoiled = false;
    this.#place = { folder, tree: await workspace.treeOf(folder), dependencies: await workspace.dependenciesIn(folder) };
    return this.#place;
  }

  /** Null where it was called off. */
  async runAll(checks: readonly Check[]): Promise<readonly CheckResult[] | null> {
    const known = await Promise.all([...this.#restores, ...checks].map((check) => this.#known(check)));
    const isAllKnown = known.every((result) => result !== null);
    for (const [at, restore] of this.#restores.entries()) {
      const before = isAllKnown ? (known[at] ?? null) : null; // what is restored is needed by whatever is run
      if (before === null && !(await this.#decide(restore))) return null;
      if (before !== null) this.results.push(before);
    }
    for (const [at, check] of checks.entries()) {
      const before = known[this.#restores.length + at] ?? null;
      if (before !== null) this.results.push(before);
      else if (!(await this.#decide(check))) return null;
    }
    return this.results;
  }

  /** What the same tree, command and environment came to before, where that proves as much as running it now would. */
  async #known(check: Check): Promise<CheckResult | null> {
    const { verdicts } = this.#parts;
    const place = this.#place;
    if (verdicts === null || place === null || this.#quarantine(check) !== null) return null;
    const { known = {}, recorded = [] } = this.#order;
    if (known[check.id] === "flaky") return null;
    const runsMin = (status: CheckStatus): number => runsWanted(check, [status], known[check.id], this.#repeatMax);
    const envHash = (): Hash | null => envHashFor(this.#command(check, place));
    return verdicts.find({ check, tree: place.tree, dependencies: place.dependencies, envHash, runsMin }, recorded);
  }

  /** Runs a check as often as it takes to believe it, and keeps what it came to. False where it was called off. */
  async #decide(check: Check): Promise<boolean> {
    const { onSignal, attempt, known = {}, commit } = this.#order;
    if (this.#order.cancel.aborted) return false;
    onSignal({ signal: "checking", attempt, title: check.title, command: check.command });
    const runs: Run[] = [];
    do {
      const run = await this.#run(check);
      if (run === null) return false; // V3
      runs.push(run);
    } while (
      runs.length <
      runsWanted(
        check,
        runs.map(({ status }) => status),
        known[check.id],
        this.#repeatMax,
      )
    ); // V6
    const statuses = runs.map(({ status }) => status);
    const status = statusOf(statuses);
    // Of a flaky check the run that failed tells more.
    const deciding = (status === "flaky" ? runs.find((run) => run.status !== "passed") : runs.at(-1)) ?? runs[0];
    if (deciding === undefined) return false;
    const { result, place, treeBefore, treeAfter, tests, why } = deciding;
    const quarantine = this.#quarantine(check);
    const { isolation, product, putBlob, redactor, verdicts } = this.#parts;
    const sighting = { check, result, status, cwd: place.folder, isolation, commit, treeBefore, treeAfter, product };
    const more = {
      statuses,
      oracles: this.#taken === null ? [] : pathsOf(this.#taken),
      dependencies: place.dependencies,
      quarantine,
      tests,
      why,
      testsBefore: this.#testsBefore(check),
    };
    const kept = await keepEvidence({ ...sighting, ...more }, putBlob, redactor);
    if (quarantine === null || quarantine.isOver)
      verdicts?.keep({ tree: treeBefore, dependencies: place.dependencies, envHash: result.envHash }, kept, runs.length);
    this.results.push(kept);
    return true;
  }

  /** One run, on the commit's tree (V2). Null where it was called off. */
  async #run(check: Check): Promise<Run | null> {
    const place = await this.#clean(check);
    if (place === null || this.#order.cancel.aborted) return null;
    const result = await runCommand(this.#command(check, place));
    if (result.status === "cancelled") return null;
    const treeAfter = await this.#parts.workspace.treeOf(place.folder);
    if (check.kind === "restore") this.#place = { ...place, tree: treeAfter };
    else this.#isSpoiled = treeAfter !== place.tree;
    const tests = testsIn(result.output, place.folder);
    const before = this.#testsBefore(check);
    const lost = before !== undefined && result.status === "passed" && result.output.omittedBytes === 0 ? lostSince(before, tests) : null; // V7
    const note = [result.note, lost ?? ""].filter((words) => words !== "").join("; ");
    return {
      result: { ...result, note },
      status: lost === null ? result.status : "failed",
      tests,
      why: lost,
      place,
      treeBefore: place.tree,
      treeAfter,
    };
  }

  async #clean(check: Check): Promise<Place | null> {
    if (this.#isSpoiled) {
      await this.open();
      // A clean folder has lost its restored dependencies too, so they are restored again; if that fails, the next check shows it.
      if (check.kind !== "restore") for (const again of this.#restores) if ((await this.#run(again)) === null) return null;
    }
    return this.#place;
  }

  #command(check: Check, { folder }: Place): CommandOrder {
    const { runId, clock, timeoutMs, env, scratchParent, redactor } = this.#parts;
    return {
      command: check.command,
      cwd: folder,
      runId,
      clock,
      timeoutMs,
      cancel: this.#order.cancel,
      ...(check.expect === undefined ? {} : { expect: check.expect }),
      ...wrapFor(this.#parts, check),
      ...(env === undefined ? {} : { env }),
      ...(scratchParent === undefined ? {} : { scratchParent }),
      ...(redactor === undefined ? {} : { redactor }),
    };
  }

  /** What it said of its tests on the base; undefined where that is not to be held against it. */
  #testsBefore({ id }: Check): TestTally | undefined {
    const { tests } = this.#order;
    return tests === undefined ? undefined : (tests[id] ?? { ran: 0, failed: 0, skipped: 0 });
  }

  #quarantine(check: Check): ReturnType<typeof quarantineOf> {
    return quarantineOf(this.#parts.quarantine ?? [], check, this.#parts.clock.now());
  }

  get #repeatMax(): number {
    return this.#parts.repeatMax ?? repeatMaxDefault;
  }
}

/** What an output says of its tests; null where it was not kept whole, for then numbers cannot be compared. */
function testsIn(output: Output, folder: string): TestTally | null {
  if (output.omittedBytes > 0) return null;
  const isOfTests = (path: string): boolean => {
    const way = isAbsolute(path) ? relative(folder, path) : path;
    return !way.startsWith("..") && holdsTests(join(folder, way));
  };
  return tallyIn(storedOutput(output).toString("utf8"), isOfTests);
}

const testFileBytesMax = 1024 * 1024;

/** Whether a file has test cases. It was written by whoever is judged, so only a regular file of some size is read. */
function holdsTests(path: string): boolean {
  try {
    const { size } = lstatSync(path);
    return lstatSync(path).isFile() && size <= testFileBytesMax && countsOf(readFileSync(path, "utf8"), "js").cases > 0;
  } catch {
    return false;
  }
}

/** Restoring has a box of its own: it may reach the network and fill the cache, which no check may. */
function wrapFor({ wrap, wrapRestore = wrap }: OpenParts, { kind }: Check): { readonly wrap?: Wrap } {
  const chosen = kind === "restore" ? wrapRestore : wrap;
  return chosen === undefined ? {} : { wrap: chosen };
}
