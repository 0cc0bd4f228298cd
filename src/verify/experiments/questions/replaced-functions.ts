// replaced-functions: finds new functions and macros that take the place of something tests rely
// on: in C of the system's or of a header's, in a shell of a part of the shell.

import { type Definition, findDefinitions } from "../source-text/definitions.ts";
import { filesReadMax } from "../lab.ts";
import { shellFile } from "../broken-expectations/expectation-lines.ts";
import {
  type QuestionContext,
  readChanged,
  isJudging,
  readJudgingFiles,
} from "./question-context.ts";

/** So many undeclared functions, the first ones, are looked up one by one. */
const askedSinglyMax = 6;

const askedTogetherMax = 40;

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

const namesMax = 40;

/**
 * C functions that the work added, that only tests of the project call, and that no header of it
 * declares.
 */
export function findUndeclaredFunctions(
  changed: readonly SourceChange[],
  { headers, tests }: { readonly headers: string; readonly tests: string },
): readonly Definition[] {
  const code = changed.map(({ is }) => is).join("\n");
  const isForTests = (name: string): boolean =>
    countMentions(tests, name) > 0 || countMentions(code, name) <= 1; // its own definition

  return changed
    .filter(({ path }) => /\.(?:c|h)$/.test(path))
    .flatMap(({ path, was, is }) =>
      findDefinitions(path, is)
        .filter((definition) => definition.isFunction && !isStatic(definition, is))
        .filter(({ name }) => countMentions(was ?? "", name) === 0)
        .filter(({ name }) => countMentions(headers, name) === 0 && isForTests(name)),
    )
    .slice(0, namesMax);
}

/** A file of code before and after the work. */
type SourceChange = { readonly path: string; readonly was: string | null; readonly is: string };

const countMentions = (text: string, name: string): number =>
  text.match(new RegExp(`\\b${name}\\s*\\(`, "g"))?.length ?? 0;

/** Whether only its own file can call it, or it is a macro. */
function isStatic({ text, from }: Definition, source: string): boolean {
  if (/^(?:static|#)/.test(text)) return true;
  const lineBefore = source.slice(source.lastIndexOf("\n", from) + 1, from);
  return /\bstatic\b[^\n]*$/.test(lineBefore);
}

/**
 * C macros that the work added and whose names tests use: `#define strcmp strcasecmp` changes what
 * they compare with.
 */
export function findMacrosInTests(
  changed: readonly SourceChange[],
  tests: string,
): readonly NamedPlace[] {
  const isUsedInTests = (name: string): boolean => new RegExp(`\\b${name}\\b`).test(tests);
  return changed.flatMap(({ path, was, is }) => {
    const before = new Set(findMacroNames(was ?? ""));
    return findMacroNames(is)
      .filter((name) => !before.has(name) && isUsedInTests(name))
      .map((name) => ({ path, name }));
  });
}

const findMacroNames = (text: string): readonly string[] =>
  [...text.matchAll(/^[ \t]*#[ \t]*define[ \t]+(\w+)/gm)].map(([, name = ""]) => name);

/**
 * Whether a macro's name meant something before: a function that a header declares, or a macro of
 * the tests.
 */
export const isDeclaredIn = (text: string, name: string): boolean =>
  new RegExp(
    `^[ \\t]*#[ \\t]*define[ \\t]+${name}\\b|^[\\w*][\\w* \\t]*\\b${name}\\s*\\(`,
    "m",
  ).test(text);

/** Shell functions that the work added, of any name a command can have. */
export function findAddedShellFunctions(changed: readonly SourceChange[]): readonly NamedPlace[] {
  return changed.flatMap(({ path, was, is }) => {
    const before = new Set(findShellFunctions(was ?? ""));
    const added = findShellFunctions(is).filter((name) => !before.has(name));
    return [...new Set(added)].map((name) => ({ path, name }));
  });
}

const findShellFunctions = (text: string): readonly string[] =>
  [...text.matchAll(/^[ \t]*(?:function[ \t]+)?([\w.:[\]-]{1,60})[ \t]*\(\)/gm)].map(
    ([, name = ""]) => name,
  );

/** Exits with 0 if one of these names is part of the shell itself (`[`, `test`, `printf`). */
export function shellHasCommand(names: readonly string[]): string {
  const quotedNames = names.map((name) => `'${name}'`).join(" ");
  return `for name in ${quotedNames}; do case $(bash -c 'type -t -- "$1"' sh "$name" 2>/dev/null) in builtin | keyword) exit 0 ;; esac; done; exit 1`;
}

/** Exits with 0 if the system has one of these functions itself. */
export const buildSystemLookup = (names: readonly string[]): string =>
  `cd / && for name in ${names.join(" ")}; do echo "char $name(); int main(void) { return $name(); }" | cc -fno-builtin -w -xc - -o /dev/null -lm 2>/dev/null && exit 0; done; exit 1`;

export type NamedPlace = Pick<Definition, "path" | "name">;

export function describeReplacedFunctions(definitions: readonly NamedPlace[]): string {
  const list = definitions.map(({ path, name }) => `${path}: ${name}`).join(", ");
  return `new functions or macros take the place of what tests know (${list}), so a person has to look at that`;
}
