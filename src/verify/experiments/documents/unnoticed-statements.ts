// unnoticed-statements: finds what documents of the work say and no check notices when they say
// something else. That is the agent's word alone, and a person has to read it.
//
// Invariants:
//   U1. It is asked of documents that were asked for: goal or criteria name them, or the work is
//       documents only. What else a change brings along is shown with the change.
//   U2. Any check of this proof may notice. All new words are replaced; then only those that no
//       code, test or command speaks of: by made-up words, by each other, the numbers alone, the
//       sentences alone; then half of the lines, and half of those, until some go unnoticed or the
//       runs are used up.
//   U3. No run is spent where neither commands nor tests name the document or its kind: nothing can
//       notice it then.
//   U4. What a program of the work writes just so is what code computes (made-data.ts).

import { basename, dirname, extname } from "node:path/posix";
import { readCodeBlocks } from "../../gates/citations.ts";
import { findConsoleSteps } from "../../gates/console-steps.ts";
import { isProgramText } from "../../protected/kinds.ts";
import { isReadOnly } from "../../protected/programs.ts";
import { filesReadMax } from "../lab.ts";
import { listEvaluatedExamples } from "./wrong-examples.ts";
import {
  findStatements,
  isSentence,
  replaceStatements,
  splitWords,
  type Statement,
  swapStatements,
  withNumbersOnly,
  withoutWords,
} from "./statements.ts";
import {
  type ChangedFile,
  isJudging,
  isTest,
  type QuestionContext,
  readAllTests,
  readChanged,
} from "../questions/question-context.ts";
import { findOutputGoals } from "../questions/quoted-output.ts";

const documentFile = /\.(?:md|markdown|mdx|rst|adoc|txt)$/i;
/** No program, and no recorded output either, whatever its name speaks of: `docs/COVERAGE.md`. */
const proseFile = /\.(?:md|markdown|mdx|rst|adoc)$/i;
/** Read by people and by programs: asked about only where the goal names them. */
const dataFile = /\.(?:json|jsonl|csv|tsv|ya?ml|toml|ini|html?)$/i;
/** Neither for people nor named by dataFile. A list. */
const settingsFile = /\.(?:lock|map|snap|env|properties|conf|cfg)$/i;
/** What tools and agents keep there, such as a plan, nobody asked for unless the goal gives its path. */
const hiddenFolder = /(?:^|\/)\.[^/]+\//;
/** "document it", "update the docs": for goals that name no file. A list, by words. */
const documentGoal = /\b(?:documents?|documented|documentation|docs|guide|tutorial)\b/i;
const documentsMax = 20;
const newWordsMin = 3;
const shownCharsMax = 60;
const runsMax = 24;
/** Checks that do more than look at files take this long in all, unless a few runs take longer. */
const runningMs = 20_000;
const runsMin = 7;

export async function findUnnoticedStatements(context: QuestionContext): Promise<string | null> {
  if (context.check.kind !== "criterion") return null;
  const documents = await findAskedFor(context);
  if (documents.length === 0) return null;

  const given = [context.goal ?? "", ...context.checkCommands].join("\n");
  const moved = await readLinesBefore(context);
  const found = documents.map(async (document) => {
    const wasCompared = await createComparedFilter(context, document);
    const isCompared = (line: string): boolean => wasCompared(line) || moved.has(line.trim());
    return findStatements({ ...document, given, isCompared });
  });
  const statements = (await Promise.all(found)).flat();
  if (!sayMuch(statements)) return null;

  const texts = new Map(documents.map(({ path, is }) => [path, is]));
  const unnoticed = await findUnnoticed(context, statements, texts);
  return unnoticed === null ? null : describeUnnoticed(unnoticed);
}

/** At least three words, or a number or sign: less is a mark that something was done. */
function sayMuch(statements: readonly Statement[]): boolean {
  const words = new Set(statements.flatMap(({ newWords }) => [...newWords]));
  return words.size >= newWordsMin || [...words].some((word) => !/^\p{Script=Latin}/u.test(word));
}

/** The lines of changed and deleted documents as they were: what only moves says nothing new. */
async function readLinesBefore({
  differences,
  lab,
}: QuestionContext): Promise<ReadonlySet<string>> {
  const paths = differences.map(({ path }) => path).filter((path) => documentFile.test(path));
  const texts = await Promise.all(
    paths.slice(0, documentsMax).map((path) => lab.textAt("base", path)),
  );
  return new Set(texts.flatMap((text) => (text ?? "").split("\n").map((line) => line.trim())));
}

/** U1 */
async function findAskedFor(context: QuestionContext): Promise<readonly ChangedFile[]> {
  const { goal = "", checkCommands, differences } = context;
  const words = [goal, ...checkCommands].join("\n");
  const isDocument = (path: string): boolean =>
    (documentFile.test(path) || isForPeople(context, path)) &&
    !(proseFile.test(path) ? isTest(context, path) : isJudging(context, path)) &&
    !/(?:^|\/)fixtures?\//.test(path);
  const isWorkingPaper = (path: string): boolean => hiddenFolder.test(path) && !goal.includes(path);
  const isMade = (path: string): boolean => context.lab.made?.paths.includes(path) ?? false;
  const isDocumentsOnly = differences.every(({ path }) => isWorkingPaper(path) || isDocument(path));

  return (
    await readChanged(context, (path) => {
      if (isMade(path)) return false; // U4
      if (dataFile.test(path)) return isNamed(path, goal) && context.rules.rowOf(path) === null;
      const isAsked = isDocumentsOnly || documentGoal.test(goal) || isNamed(path, words);
      return isAsked && isDocument(path) && !isWorkingPaper(path);
    })
  ).slice(0, documentsMax);
}

/** A drawing, a manual page: neither code nor data nor settings. */
const isForPeople = ({ rules }: QuestionContext, path: string): boolean =>
  /^[^.].*\.\w+$/.test(basename(path)) &&
  !dataFile.test(path) &&
  !isProgramText(path) &&
  !settingsFile.test(path) &&
  rules.rowOf(path) === null;

/** By its path or file name; a name in capitals also without its ending: "the README", "the readme". */
function isNamed(path: string, words: string): boolean {
  const name = basename(path);
  const stem = name.slice(0, name.length - extname(name).length);
  if (words.includes(name)) return true;
  return /^[A-Z]{3,}$/.test(stem) && new RegExp(`\\b${stem}\\b`, "i").test(words);
}

/**
 * Commands, outputs and results of examples: quoted-output.ts and wrong-examples.ts have compared
 * them, or said so.
 */
async function createComparedFilter(
  context: QuestionContext,
  document: ChangedFile,
): Promise<(line: string) => boolean> {
  const text = document.is;
  const isOutputAskedFor = findOutputGoals(context.goal ?? "").length > 0;
  const blocks = isOutputAskedFor ? readCodeBlocks(text).flatMap(({ lines }) => lines) : [];
  const printed = findConsoleSteps(text).flatMap(({ command, output }) => [command, ...output]);
  const lines = new Set([...blocks, ...printed].map((line) => line.trim()));
  const { calls, results } = await listEvaluatedExamples(context, document);

  return (line) => {
    const bareLine = line.trim().replace(/^\$\s+/, "");
    return (
      lines.has(bareLine) || results.has(bareLine) || calls.some((call) => line.includes(call))
    );
  };
}

/** Statements that all checks pass without; null if there are none, or it can't be found out. */
async function findUnnoticed(
  context: QuestionContext,
  statements: readonly Statement[],
  texts: ReadonlyMap<string, string>,
): Promise<readonly Statement[] | null> {
  const commands = await findReaders(context, [...texts.keys()]);
  if (commands.length === 0) return statements; // U3

  let runs = countRuns(commands, context.checkMs);
  /** Whether a command passes as it is: one that fails anyway has noticed nothing. */
  const greenCommands = new Map([[context.check.command, true]]);
  const isGreen = async (command: string): Promise<boolean> => {
    const isKnown = greenCommands.get(command);
    if (isKnown !== undefined) return isKnown;
    const isPassing = (await context.runWith(null, { command }))?.passed === true;
    greenCommands.set(command, isPassing);
    return isPassing;
  };
  const isNoticed = async (
    replaced: readonly Statement[],
    rewrite: typeof replaceStatements,
  ): Promise<boolean> => {
    runs -= 1;
    const edits = [...texts].map(([path, text]) => ({
      path,
      text: rewrite(
        text,
        replaced.filter((statement) => statement.path === path),
      ),
    }));

    for (const command of commands) {
      const whether = `a check notices what ${[...texts.keys()].join(", ")} says`;
      const observed = await context.runWith(whether, { edits, command });
      if (observed?.passed === true || !(await isGreen(command))) continue;
      return true; // if it took too long, that is a gap of its own
    }

    return false;
  };

  if (!(await isNoticed(statements, replaceStatements))) return statements;
  const unspoken = withoutWords(statements, await readSpokenWords(context));
  const tries = [
    { changed: unspoken, rewrite: replaceStatements },
    { changed: unspoken, rewrite: swapStatements },
    { changed: withNumbersOnly(unspoken), rewrite: replaceStatements },
    { changed: unspoken.filter(isSentence), rewrite: replaceStatements },
  ];
  for (const { changed, rewrite } of tries) {
    if (changed.length > 0 && !(await isNoticed(changed, rewrite))) return changed;
  }

  const parts = halve(statements);
  for (const part of parts) {
    if (runs <= 0) return null; // U2
    if (!(await isNoticed(part, replaceStatements))) return part;
    parts.push(...halve(part));
  }

  return null;
}

/** A command that only looks at files costs next to nothing. */
function countRuns(commands: readonly string[], checkMs: number): number {
  if (commands.every(isReadOnly)) return runsMax;
  const affordable = Math.floor(runningMs / Math.max(checkMs * commands.length, 1));
  return Math.min(Math.max(affordable, runsMin), runsMax);
}

function halve(statements: readonly Statement[]): (readonly Statement[])[] {
  const half = Math.ceil(statements.length / 2);
  return statements.length > 1 ? [statements.slice(0, half), statements.slice(half)] : [];
}

/** What tests, commands and code speak of. */
async function readSpokenWords(context: QuestionContext): Promise<ReadonlySet<string>> {
  const { lab, checkCommands } = context;
  const programs = (await lab.pathsAt("base")).filter(isProgramText).slice(0, filesReadMax);
  const code = await Promise.all(programs.map((path) => lab.textAt("base", path)));
  const tests = await readAllTests(context);
  const texts = [...checkCommands, ...code, ...tests.map(({ text }) => text)];

  return new Set(texts.flatMap((text) => splitWords(text ?? "")));
}

/** The commands that may read these documents (U3). */
async function findReaders(
  context: QuestionContext,
  paths: readonly string[],
): Promise<readonly string[]> {
  const { checkCommands, differences } = context;
  const names = paths.flatMap((path) => [
    basename(path),
    extname(path),
    ...(dirname(path) === "." ? [] : [dirname(path)]),
  ]);
  const speaksOf = (text: string): boolean => names.some((name) => text.includes(name));

  const isAlone = differences.every(({ path }) => paths.includes(path));
  const tests = isAlone ? [] : await readAllTests(context);
  const mayBeRead = isAlone || tests.some(({ text }) => speaksOf(text));
  return checkCommands.filter(
    (command) => speaksOf(command) || (mayBeRead && !isReadOnly(command)),
  );
}

function describeUnnoticed(statements: readonly Statement[]): string {
  const [{ path, line } = { path: "", line: "" }] = statements;
  const paths = [...new Set(statements.map((statement) => statement.path))];
  const shown = line.length > shownCharsMax ? `${line.slice(0, shownCharsMax)}…` : line;
  const others = paths.length > 1 ? ` and ${paths.length - 1} more` : "";
  return `no check notices if ${path}${others} says something else ("${shown}"): read it, it is the agent's word`;
}
