// trapped-functions: gives functions that the work wrote an error in their first line, to find out
// whether a check runs them. Pure.
//
// Invariants:
//   U1. Only if nothing else of the work can run: in a scripting language all other new lines are
//       comments, imports and exports.
//   U2. The error ends the process: tests may catch what is thrown, or expect it.

import { detectLanguage, isProgramText } from "../../protected/kinds.ts";
import { cFile } from "../../protected/source-language.ts";
import { maskText } from "../../protected/mask-text.ts";
import { applyChanges } from "../source-text/apply-changes.ts";
import { findClosingBracket } from "../source-text/brackets.ts";
import { type Definition, findDefinitions, removeSpace } from "../source-text/definitions.ts";
import { replaceAnswers } from "./change-functions.ts";
import type { ChangedFile } from "./question-context.ts";
import type { Edit } from "../lab.ts";

type TrappedFile = { readonly functions: readonly Definition[]; readonly edits: readonly Edit[] };

/**
 * A file whose new functions end with an error as soon as they are called; null if something else
 * in it may run, or not all can be changed.
 */
export function trapFunctions(source: ChangedFile): TrappedFile | null {
  if (!isProgramText(source.path)) return { functions: [], edits: [] };
  const functions = findNewFunctions(source);
  const language = detectLanguage(source.path);
  const isScript = language === "js" || language === "py";
  if (isScript && hasOtherNewLines(source, functions)) return null; // U1
  const edits = trapOnly(source, functions);

  return edits === null ? null : { functions, edits };
}

/** Functions that the work wrote or changed, without those inside others. */
export function findNewFunctions({ path, was, is }: ChangedFile): readonly Definition[] {
  const before = new Set(
    findDefinitions(path, was ?? "").map(({ name, text }) => `${name} ${removeSpace(text)}`),
  );
  const changed = findDefinitions(path, is).filter(
    ({ name, text }) => !before.has(`${name} ${removeSpace(text)}`),
  );

  return changed.filter((definition) => definition.isFunction && !isInside(definition, changed));
}

/** These functions with an error in their first line; null if one of them can't be changed. */
export function trapOnly(
  { path, is }: ChangedFile,
  functions: readonly Definition[],
): readonly Edit[] | null {
  const language = detectLanguage(path);
  if (language === "js" || language === "py") return trapScript(path, is, functions);

  const trap = compiledTraps.find(([ending]) => ending.test(path))?.[1];
  if (trap === undefined) return null;
  const code = maskText(is, language ?? "java");
  const changes = functions.flatMap(({ from, to }) => {
    const brace = findBody(code, from, to);
    return brace === null ? [] : [{ from: brace, to: brace, text: trap }];
  });

  return changes.length < functions.length ? null : toEdits(path, is, applyChanges(is, changes));
}

/**
 * Each function that the work wrote or changed, alone with an error in its first line; a script
 * with other new lines as a whole besides. Null if a file has none that can be trapped.
 */
export function trapEachFunction(
  sources: readonly ChangedFile[],
): readonly (readonly Edit[])[] | null {
  const traps = sources.map((source) => {
    const functions = findNewFunctions(source);
    const alone = functions.map((one) => trapOnly(source, [one]));
    const isWhole = functions.length === 0 || hasOtherNewLines(source, functions);
    return isWhole ? [...alone, trapWholeScript(source)] : alone;
  });
  const all = traps.flat();
  const edits = all.flatMap((trap) => (trap === null || trap.length === 0 ? [] : [trap]));
  return edits.length < all.length ? null : edits;
}

function trapWholeScript({ path, is }: ChangedFile): readonly Edit[] | null {
  const language = detectLanguage(path);
  if (language !== "js" && language !== "py") return null;
  const [, first = "", rest = ""] = /^(#![^\n]*\n|)([^]*)$/.exec(is) ?? [];
  const error = language === "py" ? pythonTrap : `${scriptTrap};`;
  return [{ path, text: `${first}${error}\n${rest}` }];
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

/** U2 */
const pythonTrap = '__import__("os")._exit(97)';
const scriptTrap =
  '(() => { Reflect.get(globalThis, "process")?.reallyExit?.(97); throw new Error("it is run"); })()';

function trapScript(
  path: string,
  text: string,
  functions: readonly Definition[],
): readonly Edit[] | null {
  const names = new Set(functions.map(({ name }) => name));
  const error = path.endsWith(".py") ? pythonTrap : scriptTrap;
  const trapped =
    functions.length === 0 ? text : replaceAnswers(path, text, error, (name) => names.has(name));

  return trapped === null ? null : toEdits(path, text, trapped);
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
