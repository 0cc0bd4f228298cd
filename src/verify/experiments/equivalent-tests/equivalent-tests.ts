// equivalent-tests: finds out whether a check also passes with equivalent tests that look
// different: with an extra blank line, with expected values spelled otherwise, with results
// converted to primitives, with computed arguments, with statements that do nothing
// (rewrite-tests.ts), with variables named otherwise (rewrite-shell.ts).
// Code that then fails recognises its tests by their text or by what was compiled of it, or claims
// equality with values it does not contain.
// Invariants K1 and on: verify/experiments/canary.ts.

import { listSome } from "../../../kit/list-some.ts";
import type { Experiment } from "../../../contracts/evidence.ts";
import { isProgramText } from "../../protected/kinds.ts";
import { createNonce } from "../broken-expectations/choose-flips.ts";
import { shellFile } from "../broken-expectations/expectation-lines.ts";
import { type Flip, formatPositions } from "../broken-expectations/flip.ts";
import { type Edit, filesReadMax, type Lab, lateResult, reportNoticed, type Side } from "../lab.ts";
import { findFunctions } from "../source-text/definitions.ts";
import type { Observed } from "../broken-expectations/noticed-flips.ts";
import { findOverloadingClasses } from "./rewrite-perl.ts";
import { renameShellVariables } from "./rewrite-shell.ts";
import { endAtOnce } from "./added-statements.ts";
import { findClassNames, rewriteTests, type RewriteKind } from "./rewrite-tests.ts";

const allKinds: readonly RewriteKind[] = ["respelled", "primitive", "computed", "added"];

/**
 * `noticed` with these flips, unless code recognises its tests: equivalent tests that look slightly
 * different must pass too.
 */
export async function tryEquivalentTests(
  lab: Lab,
  paths: readonly string[],
  flips: readonly Flip[],
): Promise<Experiment> {
  const first = await lab.repeat(await rewriteTestFiles(lab, paths), false);
  if (first === null) return lateResult;
  if (first.passed) return reportNoticed(formatPositions(flips));
  const result = await findFailingKind(lab, paths, first);

  return result ?? tryBlankLines(lab, paths, flips);
}

/**
 * Which rewriting of the tests it fails with; null if none does by itself, or a tool may only
 * dislike their style.
 */
async function findFailingKind(
  lab: Lab,
  paths: readonly string[],
  first: Observed,
): Promise<Experiment | null> {
  const namesOf = ({ failed }: Observed): readonly string[] =>
    [...failed].filter((name) => !lab.now.failed.has(name));
  const isCounted = (lab.now.tests?.ran ?? 0) > 0;
  const untouched = await createPlacebos(lab, "work", paths);
  const kinds: { readonly kind: RewriteKind; readonly edits: readonly Edit[] }[] = [];
  for (const kind of allKinds) {
    const edits = await rewriteTestFiles(lab, paths, [kind]);
    if (!areSame(edits, untouched)) kinds.push({ kind, edits });
  }
  // What was added may not compile, and then tells nothing of the other kinds.
  const hasAdded = kinds.some(({ kind }) => kind === "added");
  if (isCounted && namesOf(first).length === 0 && !hasAdded) return null;

  for (const { kind, edits } of kinds) {
    const alone = await lab.run("work", edits);
    if (alone === null) return lateResult;
    if (alone.passed) continue;
    const isNamed = isCounted && namesOf(alone).length > 0;
    const isMeant =
      kind === "added" ? isNamed || (await doesCompile(lab, edits, alone)) : isNamed || !isCounted;
    if (!isMeant) continue;

    // A flaky one is not one that recognises its tests.
    const plain = await lab.repeat([]);
    if (plain === null) return lateResult;
    if (!plain.passed) return null;

    const again = await lab.run("work", edits);
    if (again?.passed !== false) return null;

    return { outcome: "differs", detail: describeKind[kind](namesOf(alone), paths) };
  }

  return null;
}

const areSame = (edits: readonly Edit[], others: readonly Edit[]): boolean =>
  edits.every(({ path, text }) =>
    others.some((other) => other.path === path && other.text === text),
  );

/**
 * Whether these test files compile: Cargo says that tests failed, or the check passes if each of
 * them ends before it begins.
 */
async function doesCompile(
  lab: Lab,
  edits: readonly Edit[],
  { readOutput }: Observed,
): Promise<boolean> {
  if (readOutput?.().includes("test result: FAILED") === true) return true;
  const nonce = createNonce(lab.seed);
  const ended = edits.map(({ path, text }) => ({
    path,
    text: endAtOnce(path, text, nonce) ?? text,
  }));
  return !areSame(ended, edits) && (await lab.run("work", ended))?.passed === true;
}

const listNames = (names: readonly string[], paths: readonly string[]): string =>
  listSome(names.length === 0 ? paths : names);
const describeKind: Readonly<
  Record<RewriteKind, (names: readonly string[], paths: readonly string[]) => string>
> = {
  respelled: (names, paths) =>
    `with what its tests expect written otherwise, to mean the same, it fails: ${listNames(names, paths)}`,
  primitive: (names, paths) =>
    `answers pass for what is expected and are not that value: ${listNames(names, paths)}`,
  computed: (names, paths) =>
    `with what its tests give to it computed and not written out, it fails: ${listNames(names, paths)}`,
  added: (names, paths) =>
    `with statements in its tests that do nothing, it fails: ${listNames(names, paths)}`,
};

async function tryBlankLines(
  lab: Lab,
  paths: readonly string[],
  flips: readonly Flip[],
): Promise<Experiment> {
  const edits = await createPlacebos(lab, "work", paths);
  const same = await lab.repeat(edits);
  const plain = same?.passed === false ? await lab.repeat([]) : undefined;
  const twice = plain?.passed === true ? await lab.repeat(edits) : undefined; // a flaky test is not one that recognises its text
  if (same === null || plain === null || twice === null) return lateResult;
  if (twice?.passed === false) {
    return { outcome: "differs", detail: `with a blank line added to ${listSome(paths)} it fails` };
  } // K4

  return reportNoticed(formatPositions(flips));
}

/**
 * The programs among these files with a blank line at their end; in data a line may mean something.
 */
export async function createPlacebos(
  lab: Lab,
  side: Side,
  paths: readonly string[],
): Promise<readonly Edit[]> {
  const texts = await Promise.all(
    paths.filter(isProgramText).map(async (path) => ({ path, text: await lab.textAt(side, path) })),
  );
  return texts.flatMap(({ path, text }) => (text === null ? [] : [{ path, text: `${text}\n` }]));
}

/** The test files, as they are judged, rewritten and with an extra blank line. */
export async function rewriteTestFiles(
  lab: Lab,
  paths: readonly string[],
  kinds: readonly RewriteKind[] = allKinds,
): Promise<readonly Edit[]> {
  const was = await Promise.all(
    lab.changedPaths.slice(0, filesReadMax).map((path) => lab.textAt("base", path)),
  );
  const earlierClasses = [...new Set(was.flatMap((text) => findClassNames(text ?? "")))];
  const is = await Promise.all(
    lab.changedPaths.slice(0, filesReadMax).map((path) => lab.textAt("work", path)),
  );
  const added = [...new Set(is.flatMap((text) => findClassNames(text ?? "")))].filter(
    (name) => !earlierClasses.includes(name),
  );

  const functions = [
    ...new Set(
      lab.changedPaths
        .slice(0, filesReadMax)
        .flatMap((path, index) => findFunctions(path, is[index] ?? "").map(({ name }) => name)),
    ),
  ];
  const overloading = is.flatMap((text, index) => findOverloadingClasses(was[index] ?? null, text));
  const seed = createNonce(lab.seed);
  const scripts =
    paths.some((path) => shellFile.test(path)) && kinds.includes("respelled")
      ? await readShellFiles(lab)
      : [];

  return (await createPlacebos(lab, "work", paths)).map(({ path, text }) => {
    const others = scripts.filter((script) => script.path !== path).map((script) => script.text);
    const isScript = scripts.some((script) => script.path === path);

    const rewritten = isScript
      ? renameShellVariables(text, others, seed)
      : rewriteTests({
          path,
          text,
          kinds: new Set(kinds),
          seed,
          known: earlierClasses,
          added,
          overloading,
          functions,
        });

    return { path, text: rewritten ?? text };
  });
}

/**
 * All shell files as they were before the work: they may share variables. None if there are too
 * many to know.
 */
async function readShellFiles(lab: Lab): Promise<readonly Edit[]> {
  const paths = (await lab.pathsAt("base")).filter((path) => shellFile.test(path));
  const texts = await Promise.all(
    paths
      .slice(0, filesReadMax)
      .map(async (path) => ({ path, text: (await lab.textAt("base", path)) ?? "" })),
  );
  return paths.length > filesReadMax ? [] : texts;
}
