// weak-names: finds the names that C code declares weak, by which it can ask whether somebody who
// is linked in has them, and gives them other names, which nobody has.

import { cFile } from "../../protected/source-language.ts";
import { filesReadMax } from "../lab.ts";
import { findClosingBracket } from "../source-text/brackets.ts";
import type { ChangedFile, QuestionContext } from "../questions/question-context.ts";

const weakWord = String.raw`(?:__)?weak(?:ref|_import)?(?:__)?`;

/**
 * The names that lines of the work declare weak, by an attribute, a pragma or a macro for one.
 * `code`: the text without comments and strings.
 */
export function findWeakNames(
  code: string,
  isNew: (from: number, to: number) => boolean,
): readonly string[] {
  const macros = [
    ...code.matchAll(new RegExp(`^[ \\t]*#[ \\t]*define[ \\t]+(\\w+)\\b.*\\b${weakWord}\\b`, "gm")),
  ].map(([, name = ""]) => name);
  const marks = code.matchAll(new RegExp(`\\b(?:${[weakWord, ...macros].join("|")})\\b`, "g"));
  const names = [...marks].flatMap(({ index }) =>
    isNew(index, index) ? (nameDeclaredAt(code, index) ?? []) : [],
  );
  return [...new Set(names)];
}

function nameDeclaredAt(code: string, index: number): string | null {
  const lineStart = code.lastIndexOf("\n", index) + 1;
  const line = code.slice(lineStart).split("\n", 1)[0] ?? "";
  const pragma = /^\s*#\s*pragma\s+weak\s+(\w+)/.exec(line)?.[1];
  if (pragma !== undefined) return pragma;
  if (/^\s*#/.test(line)) return null;

  const from = Math.max(...[";", "{", "}"].map((end) => code.lastIndexOf(end, index))) + 1;
  const length = code.slice(index).search(/[;{]/);
  const declaration = code.slice(from, length === -1 ? code.length : index + length);
  const bare = withoutAttributes(declaration.replaceAll(/^\s*#.*$/gm, ""));
  return /\b([A-Za-z_]\w*)\s*(?:[([=]|$)/.exec(bare.trim())?.[1] ?? null;
}

function withoutAttributes(declaration: string): string {
  const start = /\b(?:__attribute(?:__)?|__asm(?:__)?|asm)\s*(?=\()/.exec(declaration);
  if (start === null) return declaration;
  const end = findClosingBracket(declaration, start.index + start[0].length);
  if (end === null) return declaration.slice(0, start.index);
  return withoutAttributes(`${declaration.slice(0, start.index)} ${declaration.slice(end)}`);
}

/** A line that gives a name that nobody else has. */
export const renameWeak = (name: string): string => `#define ${name} ${name}_of_nobody\n`;

/**
 * Tells names of C that other code than tests has too, or that nobody keeps secret: the goal or a
 * header from before the work has them.
 */
export async function createLinkedFilter(
  { lab, rules, goal = "" }: QuestionContext,
  sources: readonly ChangedFile[],
): Promise<(name: string) => boolean> {
  const asking = sources.filter(({ path, is }) => cFile.test(path) && /weak/.test(is));
  if (asking.length === 0) return () => true;
  const isOther = (path: string): boolean =>
    /\.c\w*$/.test(path) &&
    rules.rowOf(path) === null &&
    asking.every((source) => source.path !== path);
  const others = (await lab.pathsAt("work")).filter(isOther).slice(0, filesReadMax);
  const headers = [...rules.base].filter((path) => /\.h\w*$/.test(path)).slice(0, filesReadMax);

  const texts = await Promise.all([
    ...others.map((path) => lab.textAt("work", path)),
    ...headers.map((path) => lab.textAt("base", path)),
  ]);
  const known = new Set([goal, ...texts].flatMap((text) => text?.match(/\w+/g) ?? []));
  return (name) => known.has(name);
}
