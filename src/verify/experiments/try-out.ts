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
import { readEvidence } from "../evidence.ts";
import { testFilesIn } from "../holds-tests.ts";
import { settingOf, textBytesMax } from "../protected/find-protected.ts";
import { patternRedactor } from "../output.ts";
import type { OpenParts } from "../parts.ts";
import { believed } from "../reporter/believe.ts";

import { besideCodeWords } from "./questions/non-code-files.ts";
import { rewrittenFor, unlessWatched } from "./questions/equivalent-tests.ts";
import { canary } from "./canary.ts";
import { expectedFromWords, unaskedWords } from "./source/expected-value-sources.ts";
import { askFurther } from "./questions/further-questions.ts";
import { nonceOf } from "./breaks/choose-breaks.ts";
import { narrowFor } from "./breaks/candidates.ts";
import type { Edit, Laboratory, Side } from "./laboratory.ts";
import { definedWords, unnoticed } from "./questions/mutations.ts";
import type { Observed } from "./breaks/noticed-breaks.ts";
import {
  restoredQuestion,
  removableNonCodeChanges,
  changeOf,
  expectedSources,
  manifestEdit,
  manifestPath,
  referencesOf,
} from "./questions/raised-questions.ts";
import { outsideGaps } from "./outside/ask-outside.ts";
import { answersMatter, type RemovedWork, withoutWork, workIn } from "./questions/without-work.ts";

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
  request.onLiveEvent({ signal: "checking", attempt: request.attempt, title: `${check.title} (can it fail?)`, command: check.command });
  const endsMs = clock.monotonicMs() + (parts.canaryMinutes ?? canaryMinutesDefault) * 60_000;
  const run = async (side: Side, more: CheckoutOverrides, command = check.command, atMostMs = Infinity): Promise<Observed | null> => {
    const leftMs = Math.min(endsMs - clock.monotonicMs(), atMostMs);
    if (leftMs <= 0 || request.cancel.aborted) return null;
    return observe(trial, { ...check, command }, { commit: side === "base" ? base : request.commit, taken: more, own }, leftMs);
  };
  const late: string[] = [];
  const ask = async (whether: string, ...given: Parameters<typeof run>): Promise<Observed | null> => {
    const observed = await run(...given);
    if (observed === null && !request.cancel.aborted) late.push(`it took too long to find out whether ${whether}`); // T5
    return observed;
  };
  const mixed = (edits: readonly Edit[], out: RemovedWork = { paths: [], without: [] }): CheckoutOverrides => ({
    from: base,
    paths: [...(taken?.paths ?? []), ...out.paths],
    without: [...(taken?.without ?? []), ...out.without],
    written: [...(taken?.written ?? []).filter(({ path }) => edits.every((edit) => edit.path !== path)), ...edits],
  });
  const repeats: CheckStatus[] = ["passed"];
  const again = async (edits: readonly Edit[], isSure = true): Promise<Observed | null> => {
    const observed = await run("work", mixed(edits));
    if (observed !== null && (isSure || observed.passed)) repeats.push(observed.passed ? "passed" : "failed");
    return observed;
  };
  const isNew = baseline !== null && baseline.status !== "passed" && (parts.repeatMax ?? 2) > 1;
  if (differences.length === 0) {
    if (isNew) await again([]); // a result that passes now without a change is not believed at once
    return { ...(gap === undefined ? {} : { gap }), ...(repeats.includes("failed") ? { unsteady: repeats } : {}) };
  }
  const written = new Map((taken?.written ?? []).map(({ path, text }) => [path, text]));
  const fromBase = new Set(taken?.paths ?? []);
  const { protect = [], restores = [] } = parts;
  const setting = await settingOf({ workspace, protect, restores: restores.length > 0 }, base, [check.command]);
  const textAt = async (side: Side, path: string): Promise<string | null> =>
    (side === "work" ? written.get(path) : undefined) ??
    workspace.textAt(side === "base" || fromBase.has(path) ? base : request.commit, path, textBytesMax);
  const now: Observed = { passed: true, failed: new Set(), tests: tests ?? null };
  const seed = `${request.commit} ${check.command}`;
  const lab: Laboratory = {
    run: (side, edits, gone = [], command = check.command) =>
      run(
        side,
        side === "base" ? { from: base, paths: [], without: gone, written: edits } : mixed(edits, { paths: [], without: gone }),
        command,
      ),
    again,
    textAt,
    pathsAt: (side) => workspace.pathsAt(side === "base" ? base : request.commit),
    used: setting.named.used,
    changed: differences.filter(({ kind }) => kind !== "deleted").map(({ path }) => path),
    before: baseline === null ? null : observedIn(baseline),
    wasRed: baseline !== null && baseline.status !== "passed",
    now,
    seed,
  };
  const found = await canary(check, lab);
  const reported = { canary: found, ...(gap === undefined ? {} : { gap }) };
  if (found.outcome === "missed") return reported; // it has failed: the rest would be wasted (T1)
  const out = check.kind === "criterion" ? workIn(differences) : null;
  const change = out === null || (tests?.ran ?? 0) === 0 ? null : await changeOf(differences, textAt, nonceOf(seed));
  const isOwed = isNew && repeats.length === 1;
  const isSplit = (tests?.ran ?? 0) > 0 && (isOwed || change !== null);
  const { out: narrow, kept } = isSplit ? await narrowFor(check, lab) : { out: [], kept: [] };
  const isNarrow = narrow.length > 0 && (await lab.run("work", await rewrittenFor(lab, kept), narrow))?.passed === true; // K4
  const watched = isOwed && !isNarrow ? await unlessWatched(lab, kept, []) : null;
  if (watched?.outcome === "unknown") late.push("it took too long to find out whether it passes every time");
  if (watched?.outcome === "differs") return { ...reported, canary: watched };
  if (found.outcome !== "differs" && repeats.includes("failed")) return { ...reported, unsteady: repeats }; // T6
  const mutant = (gone: readonly string[]): Parameters<typeof run> => [
    "work",
    mixed(change?.edits ?? [], { paths: [], without: gone }),
    check.command,
    mutantSlowest * tookMs + mutantGraceMs,
  ];
  const quick = change === null || !isNarrow ? null : await run(...mutant(narrow));
  const isHeard = change !== null && quick !== null && unnoticed(change, now, quick)?.length === 0;
  const changed =
    change === null || isHeard
      ? quick
      : await ask(`a test notices when ${definedWords(change.defined)} answers something else`, ...mutant([]));
  const missing = change === null || changed === null ? null : unnoticed(change, now, changed);
  const isNoticed = change !== null && missing?.length === 0; // then it depends on the work as well
  const without = out === null || isNoticed ? null : await ask("it passes without the work", "work", mixed([], out));
  const beside = await removableNonCodeChanges(parts.workspace, request.commit, setting, check, differences, {
    goal: request.goal,
    textAt,
  });
  const plain = beside === null ? null : await ask(restoredQuestion([...beside.paths, ...beside.without]), "work", mixed([], beside));
  const sources = (tests?.ran ?? 0) === 0 ? [] : await expectedSources(setting, differences, textAt);
  const asTheyWere = sources.length === 0 ? null : await ask(restoredQuestion(sources), "work", mixed([], { paths: sources, without: [] }));
  const reference = (tests?.ran ?? 0) === 0 ? null : await referencesOf(setting, differences, textAt, nonceOf(seed));
  const otherwise =
    reference === null ? null : await ask(`its tests compare with ${definedWords(reference.defined)}`, "work", mixed(reference.edits));
  const unasked = reference === null || otherwise === null ? null : unnoticed(reference, now, otherwise);
  const outside = check.kind === "criterion" ? await outsideGaps(setting, differences, lab) : [];
  const manifest = await manifestEdit(parts.workspace, base, request.commit, differences);
  const asBefore = manifest === null ? null : await ask(restoredQuestion([manifestPath]), "work", mixed([manifest]));
  const slowestMs = mutantSlowest * tookMs + mutantGraceMs;
  const further = await askFurther({
    check,
    lab,
    setting,
    differences,
    ...(request.goal === undefined ? {} : { goal: request.goal }),
    passed: (own?.names?.passed ?? []).length === 0 ? null : (own?.names?.passed ?? null),
    ask: (whether, { edits = [], without = [], command = check.command }) =>
      ask(whether, "work", mixed(edits, { paths: [], without }), command, slowestMs),
    mutant: change === null || changed === null ? null : { change, observed: changed },
  });
  const gaps = [
    ...(gap === undefined ? [] : [gap]),
    ...(beside === null || plain?.passed !== false ? [] : [besideCodeWords(beside)]),
    ...(asBefore?.passed === false ? [besideCodeWords({ paths: [manifestPath], without: [] })] : []),
    ...(asTheyWere?.passed === false ? [expectedFromWords(sources)] : []),
    ...outside,
    ...(unasked === null || unasked.length === 0 ? [] : [unaskedWords(definedWords(unasked))]),
    ...(missing === null || missing.length === 0 ? [] : [`no test notices when ${definedWords(missing)} answers something else`]),
    ...further.gaps,
    ...late,
  ];
  return {
    ...reported,
    ...(isNoticed ? { without_work: answersMatter(definedWords(change.defined)) } : {}),
    ...(without === null ? {} : { without_work: withoutWork(without.passed) }),
    ...(further.programs === null ? {} : { programs: [...further.programs] }),
    ...(gaps.length === 0 ? {} : { gap: gaps.join("; ") }),
  };
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
  const isOfTests = testFilesIn(folder, parts.workspace.foldersOf(folder));
  const { tests, names } = believed(testOutput.take(isOfTests), result.record?.take(isOfTests) ?? null, own);
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
  return hash === undefined || readBlob === undefined ? null : readBlob(hash).then(readEvidence, () => null);
}

export type TriedOut = Map<string, CheckResult>;
