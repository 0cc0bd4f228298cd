// shared-questions: four questions about what tests share with the code under test
// (shared-with-code.ts): does a Python test pass with a random generator of its own; does a Rust
// test pass if numbers compare only with numbers, and if equal values print alike; does a new C or shell function replace one that
// was there?

import { createNonce } from "../broken-expectations/choose-flips.ts";
import { type Edit, filesReadMax } from "../lab.ts";
import { shellFile } from "../broken-expectations/expectation-lines.ts";
import {
  addsEquality,
  describeNumberTypes,
  describeSharedRandom,
  findUndeclaredFunctions,
  describeReplacedFunctions,
  findAddedShellFunctions,
  findMacrosInTests,
  isDeclaredIn,
  type NamedPlace,
  shellHasCommand,
  buildSystemLookup,
  requireNumberTypes,
  isolateRandom,
} from "./shared-with-code.ts";
import {
  comparePrinted,
  describePrinted,
  findOwnEqualities,
  speaksOfEquality,
} from "./printed-values.ts";
import {
  type QuestionContext,
  readAllTests,
  readSources,
  readChanged,
  isJudging,
  readTests,
  type TextFile,
  type RaisedQuestion,
} from "./question-context.ts";

/** So many undeclared functions, the first ones, are looked up one by one. */
const askedSinglyMax = 6;
const askedTogetherMax = 40;

/**
 * Asks whether Python tests pass if they draw from a random generator that the code under test
 * doesn't share.
 */
export async function askOwnRandom(context: QuestionContext): Promise<RaisedQuestion | null> {
  if (!context.differences.some(({ path, kind }) => kind !== "deleted" && path.endsWith(".py"))) {
    return null;
  }

  const edits = editTexts(await readJudgingFiles(context, /\.py$/), isolateRandom);
  const paths = edits.map(({ path }) => path);
  const whether = `it passes if ${paths.join(", ")} draws by chance alone`;
  const confirmed = async (): Promise<boolean> =>
    (await context.runWith(whether, { edits }))?.passed === false;

  return edits.length === 0
    ? null
    : { whether, change: { edits }, gap: describeSharedRandom(paths), confirmed };
}

/**
 * Asks whether Rust tests pass if numbers compare only with numbers, in case the work adds an
 * equality to a type.
 */
export async function askNumberTypes(context: QuestionContext): Promise<RaisedQuestion | null> {
  const changed = await readChanged(context, (path) => path.endsWith(".rs"));
  const addsTypeEquality = changed.some(({ was, is }) => addsEquality(was, is));
  const edits = addsTypeEquality
    ? editTexts(await readJudgingFiles(context, /\.rs$/), requireNumberTypes)
    : [];
  const paths = edits.map(({ path }) => path);

  return edits.length === 0
    ? null
    : {
        whether: `${paths.join(", ")} compares numbers with numbers`,
        change: { edits },
        gap: describeNumberTypes(paths),
      };
}

/**
 * Asks whether Rust tests pass if what is equal also has to print alike, in case the work brings an
 * equality of its own (printed-values.ts).
 */
export async function askPrintedValues(context: QuestionContext): Promise<RaisedQuestion | null> {
  const { lab, runWith, goal = "" } = context;
  const sources = (await readSources(context)).filter(({ path }) => path.endsWith(".rs"));
  const equalities = findOwnEqualities(sources);
  if (equalities === null || speaksOfEquality(goal)) return null;

  const files = await readRustFiles(context);
  const nonce = createNonce(lab.seed);
  const edit = (compares: boolean): readonly Edit[] =>
    editTexts(files, (_path, text) => comparePrinted(text, equalities, { nonce, compares }));
  const edits = edit(true);
  const paths = edits.map(({ path }) => path);
  const whether = `${paths.join(", ")} compares what is printed`;
  // With the same tests that only print it passes: they compile.
  const confirmed = async (): Promise<boolean> =>
    (await runWith(whether, { edits: edit(false) }))?.passed === true;

  return edits.length === 0
    ? null
    : { whether, change: { edits }, gap: describePrinted(paths, equalities.owners), confirmed };
}

/** The base's files of Rust, and new tests, as they are judged. */
async function readRustFiles(context: QuestionContext): Promise<readonly TextFile[]> {
  const there = await readTests(context, (path) => path.endsWith(".rs"));
  const known = new Set(there.map(({ path }) => path));
  const all = await readAllTests(context);
  return [...there, ...all.filter(({ path }) => path.endsWith(".rs") && !known.has(path))];
}

/** Finds new functions that take the place of something tests rely on, in C and in a shell. */
export async function findReplacedFunctions(context: QuestionContext): Promise<string | null> {
  const replaced = [...(await findReplacedInC(context)), ...(await findReplacedInShell(context))];
  return replaced.length === 0 ? null : describeReplacedFunctions(replaced);
}

/** New shell functions with the name of a part of the shell. */
async function findReplacedInShell(context: QuestionContext): Promise<readonly NamedPlace[]> {
  const changed = (await readChanged(context, (path) => shellFile.test(path))).filter(
    ({ path }) => !isJudging(context, path),
  );
  const added = findAddedShellFunctions(changed).slice(0, askedTogetherMax);
  const whether = "a new function takes the place of a part of the shell";
  const isPartOfShell = async (some: readonly NamedPlace[]): Promise<boolean> =>
    some.length > 0 &&
    (await context.runWith(whether, { command: shellHasCommand(some.map(({ name }) => name)) }))
      ?.passed === true;
  if (!(await isPartOfShell(added))) return [];
  const replaced: NamedPlace[] = [];

  for (const one of added.slice(0, askedSinglyMax)) {
    if (await isPartOfShell([one])) replaced.push(one);
  }

  return replaced.length === 0 ? added : replaced;
}

/**
 * Finds new C functions and macros that bear the name of something tests know: a function of the
 * system's or of a header, a macro.
 */
async function findReplacedInC(context: QuestionContext): Promise<readonly NamedPlace[]> {
  const { lab, rules, runWith } = context;
  const changed = (await readChanged(context, (path) => /\.[ch]$/.test(path))).filter(
    ({ path }) => !isJudging(context, path),
  );
  if (changed.length === 0) return [];
  const headerPaths = [...rules.base]
    .filter((path) => path.endsWith(".h") && !isJudging(context, path))
    .slice(0, filesReadMax);
  const headers = (await Promise.all(headerPaths.map((path) => lab.textAt("base", path)))).join(
    "\n",
  );

  const tests = (await readJudgingFiles(context, /\.(?:c|cc|cpp|h)$/))
    .map(({ text }) => text)
    .join("\n");
  const macros = findMacrosInTests(changed, tests);
  const replaced: NamedPlace[] = macros.filter(({ name }) =>
    isDeclaredIn(`${headers}\n${tests}`, name),
  );

  const unknown = [
    ...findUndeclaredFunctions(changed, { headers, tests }),
    ...macros.filter((macro) => !replaced.includes(macro)),
  ];

  const systemHasAny = async (some: readonly NamedPlace[]): Promise<boolean> =>
    some.length > 0 &&
    (
      await runWith("something new takes the place of a function of the system's", {
        command: buildSystemLookup(some.map(({ name }) => name)),
      })
    )?.passed === true;
  if (await systemHasAny(unknown)) {
    const ofSystem: NamedPlace[] = [];
    for (const place of unknown.slice(0, askedSinglyMax)) {
      if (await systemHasAny([place])) ofSystem.push(place);
    }

    replaced.push(...(ofSystem.length === 0 ? unknown : ofSystem));
  }

  return replaced;
}

/** The base's files that judge, as they are judged. */
const readJudgingFiles = (context: QuestionContext, ending: RegExp): Promise<readonly TextFile[]> =>
  readTests(context, (path) => ending.test(path) && isJudging(context, path));

const editTexts = (
  texts: readonly TextFile[],
  change: (path: string, text: string) => string | null,
): readonly Edit[] =>
  texts.flatMap(({ path, text }) => {
    const changedText = change(path, text);
    return changedText === null ? [] : [{ path, text: changedText }];
  });
