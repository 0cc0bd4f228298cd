// try-out: runs the experiments on the checks of a request once all of them have passed, each in throw-away checkouts, and records the
// results.
//
// Invariants:
//   T1. Only passing checks are tried out, and only if every required check passes: otherwise it would be wasted.
//   T2. The same evidence is tried out once.
//   T3. Every experiment runs in the folder, environment and isolation of the check itself: the code under test cannot distinguish them.
//   T4. A check shown to be blind has failed, and its evidence says so.
//   T5. An experiment that takes too long leaves a gap: the code under test could have caused that.
//   T6. A check that did not pass before the work must pass at least twice without a semantic change, or it is flaky.
// Invariants K1 and on: verify/experiments/canary.ts.

import type { Check, CheckResult, CheckStatus, Evidence } from "../../contracts/evidence.ts";
import type { GitSha } from "../../contracts/ids.ts";
import type { Verifier } from "../../ports/verifier.ts";
import type { Difference, CheckoutOverrides } from "../../ports/workspace.ts";
import { redactValue } from "../../kit/redact-value.ts";
import { commandFor } from "../check-command.ts";
import { runCommand } from "../command.ts";
import { openTestOutput } from "../test-output.ts";
import { parseEvidence } from "../evidence.ts";
import { hasTestsIn } from "../holds-tests.ts";
import { protectionRules, textBytesMax } from "../protected/find-protected.ts";
import { patternRedactor } from "../output.ts";
import type { OpenParts } from "../parts.ts";
import { chooseTestSource } from "../reporter/believe.ts";

import { narrowFor } from "./breaks/candidates.ts";
import { nonceOf } from "./breaks/choose-breaks.ts";
import type { Observed } from "./breaks/noticed-breaks.ts";
import { canary } from "./canary.ts";
import type { Edit, Laboratory, Side } from "./laboratory.ts";
import type { Asking, Change } from "./questions/asking.ts";
import { rewrittenFor, unlessWatched } from "./questions/equivalent-tests.ts";
import { definedWords, type Mutated, unnoticed } from "./questions/mutations.ts";
import { changeOf } from "./questions/raised-questions.ts";
import { askAll } from "./questions/table.ts";
import { answersMatter, withoutWork, workIn } from "./questions/without-work.ts";

export type Trial = {
  readonly parts: OpenParts;
  readonly request: CheckOrder;
  readonly base: GitSha;
  readonly restores: readonly Check[];
  /** The base's protected files that replace the work's. */
  readonly taken: CheckoutOverrides | null;
};
type CheckOrder = Parameters<Verifier["check"]>[0];
type Tried = Pick<CheckResult, "canary" | "without_work" | "gap" | "programs"> & {
  /** Its results on the same tree, if they differ. */
  readonly unsteady?: readonly CheckStatus[];
};

const canaryMinutesDefault = 10;
/** Code that returns something else may not terminate. */
const mutantSlowest = 3;
const mutantGraceMs = 10_000;
const kindsTried: ReadonlySet<Check["kind"]> = new Set(["criterion", "project", "red_green", "holdout"]);

/** Whether a check that passes now is run again anyway, once all have passed. */
export const isTriedOut = ({ canary, readBlob }: OpenParts, { base, commit, before }: CheckOrder, { id, kind }: Check): boolean =>
  canary !== "off" && readBlob !== undefined && base !== undefined && base !== commit && kindsTried.has(kind) && before?.[id] !== undefined;

/** The results with those of the experiments; unchanged if experiments are off, or were cancelled. */
export async function tryOut(trial: Trial, results: readonly CheckResult[]): Promise<readonly CheckResult[]> {
  const { parts, request, base } = trial;
  const { canary: mode = "final" } = parts;
  const before = new Map<string, Evidence>();
  for (const { check } of results) {
    const evidence = await evidenceOf(parts, request.before?.[check.id]);
    if (evidence !== null) before.set(check.id, evidence);
  }
  const isRed = ({ check, status }: CheckResult): boolean =>
    status !== "passed" && !(check.kind === "project" && before.get(check.id)?.status === "failed");
  if (mode === "off" || request.commit === base || (mode === "final" && results.some(isRed))) return results; // T1
  const differences = await parts.workspace.differences(base, request.commit);
  const tried: CheckResult[] = [];
  for (const result of results) {
    const isWanted = result.status === "passed" && kindsTried.has(result.check.kind) && result.quarantined === undefined;
    const known = isWanted ? (parts.tried?.get(result.evidence) ?? (result.canary === undefined ? undefined : result)) : undefined; // T2
    if (!isWanted || request.cancel.aborted) tried.push(result);
    else if (known !== undefined) tried.push({ ...known, check: result.check, ...(result.cached === true ? { cached: true } : {}) });
    else {
      const own = await evidenceOf(parts, result.evidence);
      const kept = await withTried(
        trial,
        result,
        await experimentsOn(trial, result, own, before.get(result.check.id) ?? null, differences),
      );
      if (kept.status !== "flaky") parts.tried?.set(result.evidence, kept).set(kept.evidence, kept);
      tried.push(kept);
    }
  }
  return request.cancel.aborted ? results : tried;
}

async function experimentsOn(
  trial: Trial,
  { check, tests, gap, duration_ms: tookMs }: CheckResult,
  own: Evidence | null,
  baseline: Evidence | null,
  differences: readonly Difference[],
): Promise<Tried> {
  const { parts, request, base, taken } = trial;
  const { workspace, clock } = parts;
  const endsMs = clock.monotonicMs() + (parts.canaryMinutes ?? canaryMinutesDefault) * 60_000;
  const slowestMs = mutantSlowest * tookMs + mutantGraceMs;
  const about = announcing(trial, check);
  const run = async (side: Side, more: CheckoutOverrides, command = check.command, atMostMs = Infinity): Promise<Observed | null> => {
    const leftMs = Math.min(endsMs - clock.monotonicMs(), atMostMs);
    if (leftMs <= 0 || request.cancel.aborted) return null;
    about.begin();
    return observe(
      trial,
      { ...check, command: goingOn(command) },
      { commit: side === "base" ? base : request.commit, taken: more, own },
      leftMs,
    );
  };
  const late: string[] = [];
  const mixed = ({ edits = [], paths = [], without = [] }: Change): CheckoutOverrides => ({
    from: base,
    paths: [...(taken?.paths ?? []), ...paths],
    without: [...(taken?.without ?? []), ...without],
    written: [...(taken?.written ?? []).filter(({ path }) => edits.every((edit) => edit.path !== path)), ...edits],
  });
  const ask: Asking["ask"] = async (whether, change) => {
    const observed = await run("work", mixed(change), change.command, (change.edits ?? []).length > 0 ? slowestMs : Infinity);
    if (observed === null && whether !== null && !request.cancel.aborted) late.push(`it took too long to find out whether ${whether}`); // T5
    return observed;
  };
  const repeats: CheckStatus[] = ["passed"];
  const again = async (edits: readonly Edit[], isSure = true): Promise<Observed | null> => {
    const observed = await run("work", mixed({ edits }));
    if (observed !== null && (isSure || observed.passed)) repeats.push(observed.passed ? "passed" : "failed");
    return observed;
  };
  const isNew = baseline !== null && baseline.status !== "passed" && (parts.repeatMax ?? 2) > 1;
  const known = gap === undefined ? {} : { gap };
  if (differences.length === 0) {
    if (isNew) await again([]); // a result that passes now without a change is not believed at once
    return { ...known, ...(repeats.includes("failed") ? { unsteady: repeats } : {}) };
  }
  const written = new Map((taken?.written ?? []).map(({ path, text }) => [path, text]));
  const fromBase = new Set(taken?.paths ?? []);
  const { protect = [], restores = [] } = parts;
  const setting = await protectionRules({ workspace, protect, restores: restores.length > 0 }, base, [check.command]);
  const now: Observed = { passed: true, failed: new Set(), tests: tests ?? null };
  const seed = `${request.commit} ${check.command}`;
  const lab: Laboratory = {
    run: (side, edits, gone = [], command = check.command) =>
      run(side, side === "base" ? { from: base, paths: [], without: gone, written: edits } : mixed({ edits, without: gone }), command),
    again,
    textAt: async (side, path) =>
      (side === "work" ? written.get(path) : undefined) ??
      workspace.textAt(side === "base" || fromBase.has(path) ? base : request.commit, path, textBytesMax),
    pathsAt: (side) => workspace.pathsAt(side === "base" ? base : request.commit),
    used: setting.named.usedCommands,
    changed: differences.filter(({ kind }) => kind !== "deleted").map(({ path }) => path),
    before: baseline === null ? null : observedIn(baseline),
    wasRed: baseline !== null && baseline.status !== "passed",
    now,
    seed,
  };
  const found = await canary(check, lab);
  const reported = { canary: found, ...known };
  if (found.outcome === "missed") return reported; // it has failed: the rest would be wasted (T1)
  const ran = tests?.ran ?? 0;
  const work = check.kind === "criterion" ? workIn(differences) : null;
  const change = work === null || ran === 0 ? null : await changeOf({ differences, lab }, nonceOf(seed));
  const isOwed = isNew && repeats.length === 1;
  about.next("does it pass again?");
  const { out: narrow, kept } = ran > 0 && (isOwed || change !== null) ? await narrowFor(check, lab) : { out: [], kept: [] };
  const isNarrow = narrow.length > 0 && (await lab.run("work", await rewrittenFor(lab, kept), narrow))?.passed === true; // K4
  const watched = isOwed && !isNarrow ? await unlessWatched(lab, kept, []) : null;
  if (watched?.outcome === "unknown") late.push("it took too long to find out whether it passes every time");
  if (watched?.outcome === "differs") return { ...reported, canary: watched };
  if (found.outcome !== "differs" && repeats.includes("failed")) return { ...reported, unsteady: repeats }; // T6
  about.next("do its tests notice the work?");
  const mutant = change === null ? null : await mutantOf(change, isNarrow ? narrow : [], now, ask);
  const isNoticed = mutant?.missing?.length === 0; // then it depends on the work as well
  about.next("does it pass without the work?");
  const without = work === null || isNoticed ? null : await ask("it passes without the work", work);
  const passed = own?.names?.passed ?? [];
  const answers = await askAll({
    check,
    lab,
    workspace,
    commit: request.commit,
    setting,
    differences,
    passed: passed.length === 0 ? null : passed,
    goal: request.goal,
    about: about.next,
    ask,
    mutant: change === null || mutant === null ? null : { change, observed: mutant.observed },
  });
  const { missing = null } = mutant ?? {};
  const unseen = missing === null || missing.length === 0 ? [] : [`no test notices when ${definedWords(missing)} answers something else`];
  const gaps = [...(gap === undefined ? [] : [gap]), ...unseen, ...answers.gaps, ...late];
  return {
    ...reported,
    ...(isNoticed && change !== null ? { without_work: answersMatter(definedWords(change.defined)) } : {}),
    ...(without === null ? {} : { without_work: withoutWork(without.passed) }),
    ...(answers.programs === null ? {} : { programs: [...answers.programs] }),
    ...(gaps.length === 0 ? {} : { gap: gaps.join("; ") }),
  };
}

/** Cargo ends with the first program of tests that fails, and would tell nothing of the others; no test sees this word. */
const goingOn = (command: string): string =>
  command.includes("--no-fail-fast")
    ? command
    : command.replace(/\bcargo(\s+\+[\w.-]+)?\s+(?:t|test)(?=\s|$)/, "cargo$1 test --no-fail-fast");

/** Shows what is asked, once it costs a run. */
function announcing({ request: { onLiveEvent, attempt } }: Trial, { title, command }: Check) {
  let [next, shown] = ["can it fail?", ""];
  return {
    next: (name: string): void => void (next = name),
    begin: (): void => {
      if (next !== shown) onLiveEvent({ signal: "checking", attempt, title: `${title} (${next})`, command });
      shown = next;
    },
  };
}

/** The run with the work's functions changed, and those that no test noticed; first without the tests that can be left out (K4). */
async function mutantOf(change: Mutated, narrow: readonly string[], now: Observed, ask: Asking["ask"]) {
  const { edits, defined } = change;
  const quick = narrow.length === 0 ? null : await ask(null, { edits, without: narrow });
  if (quick !== null && unnoticed(change, now, quick)?.length === 0) return { observed: quick, missing: [] };
  const observed = await ask(`a test notices when ${definedWords(defined)} answers something else`, { edits });
  return observed === null ? null : { observed, missing: unnoticed(change, now, observed) };
}

/** One run in its own checkout, created like every check's (T3). */
async function observe(
  { parts, request, restores }: Trial,
  check: Check,
  { commit, taken, own }: { readonly commit: GitSha; readonly taken: CheckoutOverrides; readonly own: Evidence | null },
  timeoutMs: number,
): Promise<Observed | null> {
  const folder = await parts.workspace.checkout(commit, "check", taken);
  for (const restore of restores) await runCommand(commandFor(parts, restore, folder, request.cancel));
  const testOutput = openTestOutput(check.command, folder);
  const command = commandFor(parts, check, folder, request.cancel);
  const isRecorded = own?.recorded !== undefined;
  const result = await runCommand({ ...command, timeoutMs: Math.min(parts.timeoutMs, timeoutMs), testOutput, isRecorded });
  const isOfTests = hasTestsIn(folder, parts.workspace.foldersOf(folder));
  const { tests, names } = chooseTestSource(testOutput.take(isOfTests), result.record?.take(isOfTests) ?? null, own);
  await parts.workspace.dropCheckout(folder); // deliberate breakages do not stay
  if (result.status === "cancelled" || result.status === "timed_out") return null;
  return { passed: result.status === "passed", failed: new Set(names.failed.keys()), tests, held: names.passed };
}

/** The result of a check before; null if it is no reference: it failed, and which tests is unknown. */
function observedIn({ status, names, tests }: Evidence): Observed | null {
  if (status !== "passed" && (names?.failed ?? []).length === 0) return null;
  return { passed: status === "passed", failed: new Set(names?.failed ?? []), tests: tests ?? null, held: new Set(names?.passed ?? []) };
}

/** The result with the findings, and evidence that says the same (T4). */
async function withTried({ parts }: Trial, result: CheckResult, { unsteady, ...tried }: Tried): Promise<CheckResult> {
  const evidence = await evidenceOf(parts, result.evidence);
  const redact = (parts.redactor ?? patternRedactor).text;
  const words = redactValue(redact, tried);
  const isBlind = tried.canary?.outcome === "missed";
  const why = isBlind
    ? redact(`it still passes with this broken on purpose: ${tried.canary?.detail ?? ""}`)
    : unsteady === undefined
      ? undefined
      : `on one and the same tree it came to ${unsteady.join(", then ")}`;
  const changed = isBlind ? { status: "failed" as const } : unsteady === undefined ? {} : { status: "flaky" as const };
  const repeats = unsteady === undefined ? {} : { repeats: [...unsteady] };
  const hash =
    evidence === null
      ? result.evidence
      : await parts.putBlob(Buffer.from(`${JSON.stringify({ ...evidence, ...changed, ...repeats, ...words })}\n`));
  return { ...result, ...changed, ...words, evidence: hash, ...(why === undefined ? {} : { why }) };
}

async function evidenceOf({ readBlob }: OpenParts, hash: string | undefined): Promise<Evidence | null> {
  return hash === undefined || readBlob === undefined ? null : readBlob(hash).then(parseEvidence, () => null);
}

export type TriedOut = Map<string, CheckResult>;
