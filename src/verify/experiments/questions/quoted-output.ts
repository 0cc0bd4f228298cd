// quoted-output: finds outputs of commands that documents of the work quote, and that the commands
// do not print. The commands are run, in the order of the document, in a checkout with the work.
//
// Invariants:
//   O1. Only what the work wrote is compared: a command with its output that the document did not
//       have before.
//   O2. A command that fails, does not end in time, or may not be run (quoted-commands.ts) shows
//       nothing.
//   O3. What is not printed is asked for a second time before it is told: an output may be another
//       one each time. Then a terminal is tried, where programs may print more.
//   O4. Of several outputs of one command with none of another between them, the last one counts:
//       the others may be from before the work.
//   O5. A document that lies among code below the top may mean the commands of its own folder:
//       nothing is run.
//   O6. An output that the goal asks for may be from before the work: it may have asked for that.

import { dirname } from "node:path/posix";
import { asSet } from "../../../kit/as-set.ts";
import { isProgramText } from "../../protected/kinds.ts";
import { splitChain } from "../../protected/programs.ts";
import { type ConsoleStep, findConsoleSteps } from "../../gates/console-steps.ts";
import { createNonce } from "../broken-expectations/choose-flips.ts";
import { shellWord } from "../../../kit/shell-word.ts";
import { type ChangedFile, type QuestionContext, readChanged } from "./question-context.ts";
import { findUnprinted, findUnquoted } from "./printed-lines.ts";
import { makefileNames } from "../../gates/named-commands.ts";
import { listTasks, planCommand, type ProjectPrograms, readBins } from "./quoted-commands.ts";

const documentFile = /\.(?:md|markdown|mdx|rst|adoc|txt)$/i;
const documentsMax = 5;
const commandsMax = 5;
const atMostMs = 60_000;
const shownCharsMax = 60;

/**
 * `plan`: the command as it is run, or null if it is passed over. `wanted`: the quoted output to
 * compare, or null if there is none.
 */
type PlannedStep = {
  readonly command: string;
  readonly plan: string | null;
  readonly wanted: readonly string[] | null;
};

export async function findUnprintedOutput(context: QuestionContext): Promise<string | null> {
  const documents = (await readChanged(context, (path) => documentFile.test(path))).slice(
    0,
    documentsMax,
  );
  if (documents.length === 0) return null;
  const { lab } = context;
  const manifest = await lab.textAt("work", "package.json");
  const makefiles = await Promise.all(makefileNames.map((path) => lab.textAt("work", path)));

  const project: ProjectPrograms = {
    paths: asSet(await lab.pathsAt("work")),
    bins: readBins(manifest),
    tasks: listTasks(
      manifest,
      makefiles.map((text) => text ?? ""),
    ),
    checks: [...new Set([...lab.commands, ...context.checkCommands])].flatMap((command) => [
      command,
      ...splitChain(command),
    ]),
  };

  const gaps: string[] = [];
  for (const document of documents) {
    if (liesAmongCode(document.path, project.paths)) continue; // O5
    const unprinted = await findUnprintedStep(context, planSteps(document, project));
    if (unprinted !== null) {
      gaps.push(
        `${document.path} quotes an output of \`${unprinted.command}\` that it does not print (${shorten(unprinted.line)})`,
      );
    }
  }

  const missing = gaps.length > 0 ? null : await findMissingOutput(context, documents, project);
  return gaps.length === 0 ? missing : gaps.join("; ");
}

const liesAmongCode = (path: string, paths: Iterable<string>): boolean =>
  dirname(path) !== "." &&
  [...paths].some(
    (other) => dirname(other) === dirname(path) && (isProgramText(other) || namesTasks.test(other)),
  );
const namesTasks = /(?:^|\/)(?:package\.json|(?:GNUm|m|M)akefile)$/;

const shorten = (line: string): string =>
  line.length > shownCharsMax ? `${line.slice(0, shownCharsMax)}…` : line;
const stepKey = ({ command, output }: ConsoleStep): string =>
  [command, ...output.map((line) => line.trim())].join("\n").trim();
const isQuoting = ({ output }: ConsoleStep): boolean => output.some((line) => line.trim() !== "");

/** The commands of a document that are run; none if no output of theirs is new (O1). */
export function planSteps(
  { was, is }: Pick<ChangedFile, "was" | "is">,
  project: ProjectPrograms,
): readonly PlannedStep[] {
  const before = new Set(findConsoleSteps(was ?? "").map(stepKey));
  const steps: PlannedStep[] = [];
  let compared = 0;

  for (const step of findConsoleSteps(is)) {
    const plan = planCommand(step.command, project);
    if (plan === null || compared === commandsMax) break; // O2
    const isCompared = plan !== "" && isQuoting(step) && !before.has(stepKey(step));
    if (isCompared) compared += 1;
    steps.push({
      command: step.command,
      plan: plan === "" ? null : plan,
      wanted: isCompared ? step.output : null,
    });
  }

  return compared === 0 ? [] : steps;
}

/**
 * The first command whose quoted output it does not print, in two runs (O3), with a line of that.
 */
async function findUnprintedStep(
  context: QuestionContext,
  steps: readonly PlannedStep[],
): Promise<{ readonly command: string; readonly line: string } | null> {
  const plans = steps.flatMap(({ plan }) => plan ?? []);
  const first = plans.length === 0 ? null : await runCommands(context, plans);
  if (first === null) return null;

  const findIn = (
    outputs: readonly (readonly (string | null)[])[],
    others: readonly (string | null)[],
  ) => {
    const planned = steps.filter(({ plan }) => plan !== null);
    for (const [index, { command, wanted }] of planned.entries()) {
      if (planned[index + 1]?.command === command) continue; // O4
      const runs = outputs.map((output) => output[index] ?? null).filter((text) => text !== null);
      const line =
        wanted === null || runs.length < outputs.length
          ? undefined
          : findUnprinted(wanted, runs, others[index] ?? "")[0];
      if (line !== undefined) return { command, line };
    }

    return null;
  };
  if (findIn([first], []) === null) return null;
  const second = await runCommands(context, plans, setElsewhere);
  if (second === null || findIn([first, second], []) === null) return null;

  return findIn([first, second], (await runCommands(context, plans, wrapInTerminal)) ?? []);
}

/**
 * What each command printed, one after the other in one shell; null for one that failed. Null if it
 * took too long, or printed too much.
 */
async function runCommands(
  context: QuestionContext,
  commands: readonly string[],
  wrap: (script: string) => string = (script) => script,
): Promise<readonly (string | null)[] | null> {
  const { script, read } = createSession(context, commands);
  const printed = read(await context.runWith(null, { command: wrap(script), atMostMs }));
  return printed?.map(({ text, hasFailed }) => (hasFailed ? null : text)) ?? null;
}

type Printed = { readonly text: string; readonly hasFailed: boolean };

/** Commands one after the other in one shell, and how to read what each printed. */
function createSession({ lab }: QuestionContext, commands: readonly string[]) {
  const mark = createNonce(`${lab.seed} printed`);
  const script = [
    "exec 2>&1",
    ...commands.flatMap((command) => [command, `printf '\\n%s %s\\n' ${mark} "$?"`]),
  ].join("\n");

  const read = (
    observed: { readonly readOutput?: () => string } | null,
  ): readonly Printed[] | null => {
    const output = (observed?.readOutput?.() ?? "").replaceAll("\r\n", "\n");
    const parts = output.split(new RegExp(`\\n${mark} (\\d+)\\n`));
    // Texts and exit codes alternate; a shell that ended early has printed fewer.
    if (parts.length < commands.length * 2) return null;

    return commands.map((_, index) => ({
      text: parts[index * 2] ?? "",
      hasFailed: parts[index * 2 + 1] !== "0",
    }));
  };

  return { script, read };
}

/**
 * In a time zone where the clock and perhaps the date are other ones: what tells the time differs
 * between the two runs.
 */
const setElsewhere = (script: string): string => `export TZ=Pacific/Kiritimati\n${script}`;

/** With a terminal, if `script` can open one. */
const wrapInTerminal = (script: string): string =>
  `if script -qec : /dev/null >/dev/null 2>&1; then script -qec ${shellWord(script)} /dev/null; else\n${script}\nfi`;

/** "contains the output of `node bench.mjs`", "quotes what `make list` prints". */
const outputGoal =
  /\b(?:contain|hold|quote|show|record|paste|include|write|with)\w*\b[^.;\n]{0,80}\boutputs? (?:of|from) (?:running )?`([^`\n]{3,200})`|\b(?:contain|hold|quote|show|record|paste|include)\w*\b[^.;\n]{0,40}\bwhat `([^`\n]{3,200})` (?:prints|outputs|says|reports)\b/gi;

/**
 * "Run `node bench.js` and write docs/BENCH.md with its complete output": what is told to be run,
 * and a document to be written with it.
 */
const runGoal =
  /(?:^|[.:;,\n]\s*|\b(?:and|then|first|please)\s+)(?:run|execute|invoke)\s+`([^`\n]{3,200})`((?:[^.;\n]|\.(?=\w)){0,200}?\b(?:its|the|their|all|whatever)\s+(?:[a-z]+\s+){0,3}(?:outputs?|prints)\b(?! (?:of|from|format|files?|folder|stream))(?:[^.;\n]|\.(?=\w)){0,100})/gi;
const writesDocument =
  /\b(?:contain|hold|quote|show|record|paste|include|write|put|save|copy|add|append|document|fill)\w*\b/i;
const documentName = /[\w/.-]+\.(?:md|markdown|mdx|rst|adoc|txt)\b/i;
const wholeOutput = /\b(?:complete|full|whole|entire|exact|verbatim|unabridged)\b/i;

type NamedOutput = { readonly command: string; readonly isWhole: boolean };

/** The commands whose output a document is to hold, by the words of the goal. */
export function findOutputGoals(goal: string): readonly NamedOutput[] {
  const ofCommands = [...goal.matchAll(outputGoal)].map(([, of, what]) => ({
    command: (of ?? what ?? "").trim(),
    isWhole: false,
  }));

  const toRun = [...goal.matchAll(runGoal)].flatMap(([, command = "", rest = ""]) =>
    writesDocument.test(rest) && documentName.test(rest)
      ? [{ command: command.trim(), isWhole: wholeOutput.test(rest) }]
      : [],
  );
  return [...ofCommands, ...toRun];
}

/** A document that is to hold the output of a command that the goal names, and does not. */
async function findMissingOutput(
  context: QuestionContext,
  documents: readonly ChangedFile[],
  project: ProjectPrograms,
): Promise<string | null> {
  const { goal = "" } = context;
  const namedDocuments = documents.filter(({ path }) => goal.includes(path));
  const texts = (namedDocuments.length > 0 ? namedDocuments : documents)
    .map(({ is }) => is)
    .join("\n");

  for (const { command, isWhole } of findOutputGoals(goal).slice(0, commandsMax)) {
    const plan = planCommand(command, project);
    if (plan === null || plan === "") continue;
    const run = async (wrap?: (script: string) => string) =>
      (await runCommands(context, [plan], wrap))?.[0] ?? null;
    const outputs = [await run(), await run()];
    const runs = outputs.filter((output) => output !== null);
    const line = runs.length < outputs.length ? undefined : findUnquoted(texts, runs, isWhole)[0];
    if (line === undefined) continue;
    const onTerminal = [await run(wrapInTerminal), await run(wrapInTerminal)].filter(
      (output) => output !== null,
    );
    if (onTerminal.length === 2 && findUnquoted(texts, onTerminal, isWhole).length === 0) continue; // O3
    if (await wasPrinted(context, plan, (earlier) => findUnquoted(texts, earlier, isWhole))) {
      continue;
    } // O6

    return `${(namedDocuments.length > 0 ? namedDocuments : documents).map(({ path }) => path).join(", ")} does not hold what \`${command}\` prints (${shorten(line)})`;
  }

  return null;
}

/** Whether nothing is missing of what the command printed before the work, even if it failed. */
async function wasPrinted(
  context: QuestionContext,
  plan: string,
  findMissing: (runs: readonly string[]) => readonly string[],
): Promise<boolean> {
  const { script, read } = createSession(context, [plan]);
  const runs: string[] = [];

  for (const _ of [1, 2]) {
    runs.push(read(await context.lab.run("base", [], [], script))?.[0]?.text ?? "");
  }

  return runs.every((text) => text.trim() !== "") && findMissing(runs).length === 0;
}
