// raised-questions: questions about a pass (table.ts) that follow from the files of a change: does
// it still pass if some of them are restored, or return something else?

import { listSome } from "../../../kit/list-some.ts";
import type { Difference } from "../../../ports/workspace.ts";
import { textBytesMax } from "../../protected/read-change.ts";
import { isProgramText, findProtectionRow } from "../../protected/kinds.ts";
import { createNonce } from "../broken-expectations/choose-flips.ts";
import { findBuiltFiles } from "../built-files.ts";
import {
  findExpectedSources,
  describeExpectedSources,
  findReferences,
  describeUnasked,
} from "../source-text/expected-value-sources.ts";
import {
  type QuestionContext,
  readChanged,
  type ChangeFiles,
  isTest,
  type RaisedQuestion,
  type ChangedFile,
  isJudging,
  readAllTests,
  readSources,
  readTests,
} from "./question-context.ts";
import { restoreManifestSettings } from "./manifest-settings.ts";
import {
  listFunctions,
  mutateFunctions,
  type MutatedFunctions,
  findUnnoticed,
} from "./mutations.ts";
import { findNonCodeFiles, describeNonCodeFiles } from "./non-code-files.ts";
import { isOwnData } from "./own-data.ts";

const binaryBytesMax = 64 << 20;
const manifestPath = "package.json";
export const passesAsBefore = (paths: readonly string[]): string =>
  `it passes with ${listSome(paths)} as before the work`;

/** The manifest's other settings as they were, if the work changed them. */
export async function askManifestSettings({
  differences,
  lab: { textAt },
}: QuestionContext): Promise<RaisedQuestion | null> {
  if (!differences.some(({ path, kind }) => path === manifestPath && kind === "changed")) {
    return null;
  }

  const text = restoreManifestSettings(
    await textAt("base", manifestPath),
    await textAt("work", manifestPath),
  );

  const gap = describeNonCodeFiles({ paths: [manifestPath], without: [] });
  return text === null
    ? null
    : {
        whether: passesAsBefore([manifestPath]),
        change: { edits: [{ path: manifestPath, text }] },
        gap,
      };
}

/** Modules that the work changed and that tests of the base import only expected values from. */
export async function askExpectedSources(context: QuestionContext): Promise<RaisedQuestion | null> {
  const { rules, differences } = context;
  const isCode = ({ path, kind }: Difference): boolean =>
    kind === "changed" && rules.rowOf(path) === null && isProgramText(path);
  const changed = new Set(differences.filter(isCode).map(({ path }) => path));
  const paths = changed.size === 0 ? [] : findExpectedSources(await readTests(context), changed);

  return paths.length === 0
    ? null
    : { whether: passesAsBefore(paths), change: { paths }, gap: describeExpectedSources(paths) };
}

/**
 * Whether tests notice when unchanged functions beside them, which they compare with, return
 * something else.
 */
export async function findUnaskedReferences(context: QuestionContext): Promise<string | null> {
  const { rules, differences, lab } = context;
  const changed = new Set(differences.map(({ path }) => path));
  const tests = await readTests(context);
  const isBesideTests = (path: string): boolean =>
    rules.base.has(path) && !changed.has(path) && isTest(context, path);
  const found = findReferences(tests, { has: isBesideTests });

  const sources = await Promise.all(
    [...found.keys()].map(async (path) => ({
      path,
      was: null,
      is: (await lab.textAt("work", path)) ?? "",
    })),
  );
  const reference = mutateFunctions(
    sources,
    tests.map(({ path, text }) => ({ path, was: null, is: text })),
    createNonce(lab.seed),
    (path, name) => found.get(path)?.has(name) === true,
  );
  if (reference === null) return null;
  const observed = await context.runWith(
    `its tests compare with ${listFunctions(reference.functions)}`,
    { edits: reference.edits },
  );
  const unasked = observed === null ? null : findUnnoticed(reference, lab.now, observed);

  return unasked === null || unasked.length === 0 ? null : describeUnasked(listFunctions(unasked));
}

/**
 * The work's own functions, as its tests call them, changed to return something else; null if there
 * are none.
 */
export async function mutateWork(
  files: Pick<ChangeFiles, "differences" | "lab">,
  nonce: string,
): Promise<MutatedFunctions | null> {
  const texts = await readChanged(files, isProgramText);
  const isOfTests = ({ path }: ChangedFile): boolean => findProtectionRow(path)?.kind === "test";
  const isInside = ({ path }: ChangedFile): boolean =>
    findProtectionRow(path)?.part === "rust_source";

  return mutateFunctions(
    texts.filter((file) => !isOfTests(file) || isInside(file)),
    texts.filter(isOfTests),
    nonce,
  );
}

/**
 * Data that the work wrote for its code to read (own-data.ts), and that the command doesn't name.
 */
async function findOwnData(context: QuestionContext): Promise<ReadonlySet<string>> {
  const { check, rules } = context;
  const isCandidate = (path: string): boolean =>
    !isProgramText(path) &&
    rules.rowOf(path) === null &&
    !check.command.includes(path.split("/").at(-1) ?? path);
  const data = await readChanged(context, isCandidate);
  if (data.length === 0) return new Set();
  const changedCode = (await readSources(context)).map(({ path, is }) => ({ path, text: is }));
  const isStarted = (path: string): boolean =>
    rules.named.usedCommands.some((command) => command.includes(path)); // it may be what judges
  const code = [
    ...changedCode,
    ...(await readTests(context, (path) => !isJudging(context, path) && !isStarted(path))),
  ];

  const tests = await readAllTests(context);
  return new Set(
    data
      .filter(({ path, is }) => isOwnData({ path, text: is }, code, tests))
      .map(({ path }) => path),
  );
}

/** What the work changed besides code and tests, and the check may depend on. */
export async function askNonCodeFiles(context: QuestionContext): Promise<RaisedQuestion | null> {
  const { check, commit, workspace, differences, goal = "" } = context;
  const { rowOf, named, base } = context.rules;
  const words = goal
    .split(/[\s"'`;,()<>]+/)
    .map((word) => word.replace(/^\.\//, "").replace(/[.:!?]+$/, ""));

  const requested = differences.map(({ path }) => path).filter((path) => words.includes(path));
  const tests = requested.length === 0 ? [] : await readTests(context);
  const ownData = await findOwnData(context);
  const isRequested = (path: string): boolean =>
    ownData.has(path) ||
    (requested.includes(path) &&
      !tests.some(({ text }) => text.includes(path.split("/").at(-1) ?? path)));

  const scripts = new Set<string>();
  for (const { path, kind } of differences) {
    if (
      kind !== "deleted" &&
      !/\.[^/]*$/.test(path) &&
      (await workspace.textAt(commit, path, textBytesMax))?.startsWith("#!") === true
    ) {
      scripts.add(path);
    }
  }

  const binaries = new Set<string>();
  for (const { path, kind } of differences) {
    if (
      kind === "added" &&
      rowOf(path) !== null &&
      (await workspace.textAt(commit, path, binaryBytesMax)) === null
    ) {
      binaries.add(path);
    }
  }

  const builtPaths = await findBuiltFiles(differences, base, (path) =>
    context.lab.textAt("base", path),
  );
  const nonCode = findNonCodeFiles({
    differences,
    base,
    rowOf,
    command: check.command,
    used: named.usedCommands,
    isScript: (path) => scripts.has(path),
    isBinary: (path) => binaries.has(path),
    isBuilt: (path) => builtPaths.has(path),
    isRequested,
    isMaker: (path) => path === context.lab.made?.program,
  });
  if (nonCode === null) return null;

  const command = dropTestNames(
    check.command,
    nonCode.without,
    (path) => rowOf(path)?.kind === "test",
  );
  if (command !== check.command && ![...base].some((path) => command.includes(path))) return null; // nothing is left to be asked
  return {
    whether: passesAsBefore([...nonCode.paths, ...nonCode.without]),
    change: { ...nonCode, command },
    gap: describeNonCodeFiles(nonCode),
  };
}

/**
 * A command without the new tests that it names and that are taken away: `pytest tests/test_new.py
 * tests/test_old.py`.
 */
export const dropTestNames = (
  command: string,
  paths: readonly string[],
  isTest: (path: string) => boolean,
): string =>
  command
    .split(" ")
    .filter((word) => !(paths.includes(word) && isTest(word)))
    .join(" ");
