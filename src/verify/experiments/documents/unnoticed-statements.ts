// unnoticed-statements: finds what documents of the work say and no check notices when they say
// something else. That is the agent's word alone, and a person has to read it.
//
// Invariants:
//   U1. It is asked of documents that were asked for: goal or criteria name them, or the work is
//       documents only. What else a change brings along is shown with the change.
//   U2. Any check of this proof may notice. Half of the lines is replaced, and half of those, until
//       half of them goes unnoticed or the runs are used up.
//   U3. No run is spent where neither commands nor tests name the document or its kind: nothing can
//       notice it then.

import { basename, dirname, extname } from "node:path/posix";
import { readCodeBlocks } from "../../gates/citations.ts";
import { findConsoleSteps } from "../../gates/console-steps.ts";
import { isReadOnly } from "../../protected/programs.ts";
import { listEvaluated } from "./document-answers.ts";
import { findStatements, replaceStatements, type Statement } from "./statements.ts";
import {
  type ChangedFile,
  isJudging,
  type QuestionContext,
  readAllTests,
  readChanged,
} from "../questions/question-context.ts";
import { findOutputGoals } from "../questions/quoted-output.ts";

const documentFile = /\.(?:md|markdown|mdx|rst|adoc|txt)$/i;
/** Read by people and by programs: asked about only where the goal names them. */
const dataFile = /\.(?:json|jsonl|csv|tsv|ya?ml|html?)$/i;
/** "document it", "update the docs": for goals that name no file. A list, by words. */
const documentGoal = /\b(?:documents?|documented|documentation|docs|guide|tutorial)\b/i;
const documentsMax = 20;
const shownCharsMax = 60;
/** A command that only looks at files costs next to nothing. */
const runsMax = { looking: 24, running: 3 } as const;

export async function findUnnoticedStatements(context: QuestionContext): Promise<string | null> {
  if (context.check.kind !== "criterion") return null;
  const documents = await findAskedFor(context);
  if (documents.length === 0) return null;

  const given = [context.goal ?? "", ...context.checkCommands].join("\n");
  const found = documents.map(async (document) => {
    const isCompared = await createComparedFilter(context, document);
    return findStatements({ ...document, given, isCompared });
  });
  const statements = (await Promise.all(found)).flat();
  if (statements.length === 0) return null;

  const texts = new Map(documents.map(({ path, is }) => [path, is]));
  const unnoticed = await findUnnoticed(context, statements, texts);
  return unnoticed === null ? null : describeUnnoticed(unnoticed);
}

/** U1 */
async function findAskedFor(context: QuestionContext): Promise<readonly ChangedFile[]> {
  const { goal = "", checkCommands, differences } = context;
  const words = [goal, ...checkCommands].join("\n");
  const isDocument = (path: string): boolean =>
    documentFile.test(path) && !isJudging(context, path) && !/(?:^|\/)fixtures?\//.test(path);
  const isDocumentsOnly = differences.every(({ path }) => isDocument(path));

  return (
    await readChanged(context, (path) => {
      if (dataFile.test(path)) return isNamed(path, goal) && context.rules.rowOf(path) === null;
      const isAsked = isDocumentsOnly || documentGoal.test(goal) || isNamed(path, words);
      return isDocument(path) && isAsked;
    })
  ).slice(0, documentsMax);
}

/** By its path or file name; a name in capitals also without its ending: "the README". */
function isNamed(path: string, words: string): boolean {
  const name = basename(path);
  const stem = name.slice(0, name.length - extname(name).length);
  return words.includes(name) || (/^[A-Z]{3,}$/.test(stem) && words.toUpperCase().includes(stem));
}

/**
 * Commands, outputs and answers of examples: quoted-output.ts and document-answers.ts have compared
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
  const { calls, answers } = await listEvaluated(context, document);

  return (line) => {
    const said = line.trim().replace(/^\$\s+/, "");
    return lines.has(said) || answers.has(said) || calls.some((call) => line.includes(call));
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

  const isNoticed = async (replaced: readonly Statement[]): Promise<boolean> => {
    const edits = [...texts].map(([path, text]) => ({
      path,
      text: replaceStatements(
        text,
        replaced.filter((statement) => statement.path === path),
      ),
    }));

    for (const command of commands) {
      const whether = `a check notices what ${[...texts.keys()].join(", ")} says`;
      const observed = await context.runWith(whether, { edits, command });
      if (observed?.passed !== true) return true; // if it took too long, that is a gap of its own
    }

    return false;
  };

  let runs: number = commands.every(isReadOnly) ? runsMax.looking : runsMax.running;
  const parts = [statements];
  for (const part of parts) {
    if (runs === 0) return null; // U2
    runs -= 1;
    if (!(await isNoticed(part))) return part;
    const half = Math.ceil(part.length / 2);
    if (part.length > 1) parts.push(part.slice(0, half), part.slice(half));
  }

  return null;
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
