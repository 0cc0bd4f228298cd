// unrun-functions: finds checks that never run the functions the work wrote: a compiler, a type
// checker or tests of something else, beside a look at the code. Each of those functions gets an
// error in its first line; if the check still passes, it never runs them.
//
// Invariants:
//   U1. Only if nothing else of the work can run: in a scripting language all other new lines are
//       comments, imports and exports.
//   U2. The error ends the process: tests may catch what is thrown, or expect it.
//   U3. A compiler or type checker that failed before the work has shown something. It is asked
//       only if the goal names a function that the work wrote, and speaks of nothing that such a
//       tool shows.

import type { Check } from "../../../contracts/evidence.ts";
import { detectLanguage, isProgramText } from "../../protected/kinds.ts";
import { cFile } from "../../protected/source-language.ts";
import { maskText } from "../../protected/mask-text.ts";
import { isReadOnly, splitChain, splitJudgingParts } from "../../protected/programs.ts";
import { applyChanges } from "../source-text/apply-changes.ts";
import { findClosingBracket } from "../source-text/brackets.ts";
import { type Definition, findDefinitions, removeSpace } from "../source-text/definitions.ts";
import { findLookedAtCode } from "./further-questions.ts";
import { listFunctions, replaceAnswers } from "./mutations.ts";
import { type ChangedFile, type QuestionContext, readSources } from "./question-context.ts";
import type { Edit } from "../lab.ts";

/** Goals that a compiler, a type checker or a linter can show to be reached. A list, by words. */
const toolGoal =
  /\b(?:typ(?:es?|ed|ing|ings|echeck\w*)|lint\w*|compil\w+|builds?|building|vet|clippy|warnings?|format\w*|declar\w+|signatures?|interfaces?|stubs?|headers?|renam\w+|mov(?:e|ed|es|ing)|refactor\w*|deprecat\w+)\b/i;

export async function findUnrunFunctions(context: QuestionContext): Promise<string | null> {
  const { check, lab, goal = "" } = context;
  if (!lab.wasRed || isReadOnly(check.command)) return null;
  const trapped = (await readSources(context)).map(trapFunctions);
  const files = trapped.flatMap((file) => file ?? []);
  const functions = files.flatMap((file) => file.functions);
  if (functions.length === 0 || files.length < trapped.length) return null; // U1
  const isAsked =
    (await hasOnlyLookTurnedGreen(context)) ||
    (!toolGoal.test(goal) && functions.some(({ name }) => isNamedIn(goal, name))); // U3
  if (!isAsked || !isFromUser(check)) return null;
  const observed = await context.runWith(`it runs ${listFunctions(functions)}`, {
    edits: files.flatMap(({ edits }) => edits),
  });

  return observed?.passed === true
    ? `its command never runs ${listFunctions(functions)}: it passes as well with an error in the first line of each`
    : null;
}

const isFromUser = ({ extra }: Check): boolean => extra !== true;
const isNamedIn = (goal: string, name: string): boolean =>
  new Set(goal.match(/[A-Za-z_$][\w$]*/g)).has(name);

/**
 * Whether the parts of a chain that run something passed before the work: what turned green then
 * only looks at changed code.
 */
async function hasOnlyLookTurnedGreen({
  check: { command },
  differences,
  lab,
}: QuestionContext): Promise<boolean> {
  const parts = splitChain(command);
  const judging = splitJudgingParts(command);
  const looking = parts.filter((part) => isReadOnly(part) && !part.startsWith("cd "));
  const isPlainChain = !/\|\||[^&|]\||[;\n]|&\s*$/.test(
    command.replaceAll(/'[^']*'|"(?:[^"\\]|\\.)*"/g, ""),
  );
  if (
    !isPlainChain ||
    judging.length === 0 ||
    !looking.some((part) => findLookedAtCode(part, differences).length > 0)
  ) {
    return false;
  }

  return (
    (await lab.run("base", [], [], judging.map((part) => `(${part})`).join(" && ")))?.passed ===
    true
  );
}

type TrappedFile = { readonly functions: readonly Definition[]; readonly edits: readonly Edit[] };

/**
 * A file whose new functions end with an error as soon as they are called; null if something else
 * in it may run, or not all can be changed.
 */
export function trapFunctions({ path, was, is }: ChangedFile): TrappedFile | null {
  if (!isProgramText(path)) return { functions: [], edits: [] };
  const before = new Set(
    findDefinitions(path, was ?? "").map(({ name, text }) => `${name} ${removeSpace(text)}`),
  );

  const changed = findDefinitions(path, is).filter(
    ({ name, text }) => !before.has(`${name} ${removeSpace(text)}`),
  );
  const functions = changed.filter(
    (definition) => definition.isFunction && !isInside(definition, changed),
  );

  const language = detectLanguage(path);
  if (language === "js" || language === "py") {
    if (hasOtherNewLines({ path, was, is }, functions)) return null; // U1
    return trapScript(path, is, functions);
  }

  const trap = compiledTraps.find(([ending]) => ending.test(path))?.[1];
  if (trap === undefined) return null;
  const code = maskText(is, language ?? "java");
  const changes = functions.flatMap(({ from, to }) => {
    const brace = findBody(code, from, to);
    return brace === null ? [] : [{ from: brace, to: brace, text: trap }];
  });

  return changes.length < functions.length
    ? null
    : { functions, edits: toEdits(path, is, applyChanges(is, changes)) };
}

const isInside = ({ from, to }: Definition, definitions: readonly Definition[]): boolean =>
  definitions.some(
    (outer) =>
      outer.isFunction &&
      (outer.from < from || outer.to > to) &&
      outer.from <= from &&
      outer.to >= to,
  );
const toEdits = (path: string, was: string, text: string): readonly Edit[] =>
  was === text ? [] : [{ path, text }];

function trapScript(
  path: string,
  text: string,
  functions: readonly Definition[],
): TrappedFile | null {
  const names = new Set(functions.map(({ name }) => name));
  const error = path.endsWith(".py")
    ? '__import__("os")._exit(97)'
    : '(() => { Reflect.get(globalThis, "process")?.reallyExit?.(97); throw new Error("it is run"); })()'; // U2
  const trapped =
    functions.length === 0 ? text : replaceAnswers(path, text, error, (name) => names.has(name));

  return trapped === null ? null : { functions, edits: toEdits(path, text, trapped) };
}

/**
 * A statement that ends the process (U2), in a form that neither a compiler nor its checks for code that
 * is never reached mind.
 */
const compiledTraps: readonly (readonly [ending: RegExp, trap: string])[] = [
  [/\.go$/, '\n\tif true {\n\t\tgo func() { panic("it is run") }()\n\t\tselect {}\n\t}'],
  [/\.rs$/, " if true { std::process::abort() }"],
  [cFile, " if (1) __builtin_trap();"],
  [/\.java$/, " if (true) Runtime.getRuntime().halt(97);"],
];

/** Behind the brace that opens the body of a definition: the one whose closing brace ends it. */
function findBody(code: string, from: number, to: number): number | null {
  for (
    let brace = code.indexOf("{", from);
    brace !== -1 && brace < to;
    brace = code.indexOf("{", brace + 1)
  ) {
    if (findClosingBracket(code, brace) === to) return brace + 1;
  }

  return null;
}

/** Lines that define nothing and do nothing: imports, exports, brackets, the head of a class. */
const inertLine =
  /^(?:import\b.*|from\b.*\bimport\b.*|export\s*(?:\{.*|\*.*|default\s+[\w$]+;?)|module\.exports\s*=\s*[{\w].*|exports\.[\w$]+\s*=\s*[\w$]+;?|(?:const|let|var)\s*[{\w$].*=\s*require\(.*|(?:export\s+)?(?:default\s+)?(?:abstract\s+)?class\b.*|(?:export\s+)?(?:type|interface)\b.*|["']use strict["'];?|@[\w.]+|[\w$]+,?|[{}()[\];,\s]*)$/;

/**
 * Whether a script has new lines besides those functions that may do something when it is loaded.
 */
function hasOtherNewLines(
  { path, was, is }: ChangedFile,
  functions: readonly Definition[],
): boolean {
  const language = detectLanguage(path);
  if (language === null) return true;
  const earlier = new Set((was ?? "").split("\n").map((line) => line.trim()));
  const code = maskText(is, language);
  let offset = 0;

  return is.split("\n").some((line) => {
    const [from, to] = [offset, offset + line.length];
    offset = to + 1;

    if (
      earlier.has(line.trim()) ||
      functions.some((definition) => definition.from <= to && definition.to >= from)
    ) {
      return false;
    }

    return !inertLine.test(code.slice(from, to).trim());
  });
}
