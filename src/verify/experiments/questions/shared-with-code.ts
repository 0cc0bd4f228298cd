// shared-with-code: isolates what tests share with the code under test: the random generator in
// Python, equality between types in Rust. The code under test can manipulate what is shared: seed
// the generator, or return a type that is equal to whatever it likes. Also finds C functions and
// macros that may replace the system's, and functions that may replace parts of a shell. Pure.
//
// Invariants:
//   O1. Only tests that seed and replace nothing themselves get their own generator: otherwise
//       sharing may be intended.
//   O2. Types are compared only if the work added an equality between two of them.

import { type Definition, findDefinitions } from "../source-text/definitions.ts";
import { findAssertions } from "../broken-expectations/assertion-flips.ts";

/** What a test says that seeds or replaces the generator itself (O1). */
const ownSeeding =
  /\bseed\b|\bsetstate\b|\bpatch\b|\bmonkeypatch\b|\bRandom\s*\(|\brandom\s*=|\bfreeze/;

/** A Python test with its own random generator; null if it uses none (O1). */
export function isolateRandom(path: string, text: string): string | null {
  if (!path.endsWith(".py") || ownSeeding.test(text)) return null;
  const own = text
    .replaceAll(/^import random$/gm, "import random; random = random.Random()")
    .replaceAll(/^from random import ([a-z]\w*(?:, *[a-z]\w*)*)$/gm, (_all, names: string) => {
      const ownFunctions = names.replaceAll(/\w+/g, "_own.$&");
      return `from random import Random as _Own; _own = _Own(); ${names} = ${ownFunctions}`;
    });
  return own === text ? null : own;
}

export const describeSharedRandom = (paths: readonly string[]): string =>
  `its tests (${paths.join(", ")}) fail if what they draw by chance is not shared with the code, so a person has to look at that`;

/** How many equalities with another type a Rust source defines: `impl PartialEq<i32> for Money`. */
const countEqualities = (text: string): number =>
  [...text.matchAll(/\bPartialEq\s*<(?!\s*Self\s*>)/g)].length;

/** Whether the work added one (O2). */
export const addsEquality = (was: string | null, is: string): boolean =>
  countEqualities(is) > countEqualities(was ?? "");

/** A Rust test in which a number equals only a number of its own type; null if it compares none. */
export function requireNumberTypes(path: string, text: string): string | null {
  if (!path.endsWith(".rs")) return null;
  const numbers = findAssertions(path, text, "n").flatMap(({ values: [expected, actual] = [] }) => {
    if (expected === undefined || actual === undefined) return [];
    const value = text.slice(expected.from, expected.to);
    return /^-?\d[\d_]*(?:\.\d+)?$/.test(value) ? [{ ...actual, value }] : [];
  });

  let changed = text;
  for (const { from, to, value } of numbers.toSorted((left, right) => right.from - left.from)) {
    const typed = `{ let [got, _] = [${changed.slice(from, to)}, ${value}]; got }`;
    changed = changed.slice(0, from) + typed + changed.slice(to);
  }

  return changed === text ? null : changed;
}

export const describeNumberTypes = (paths: readonly string[]): string =>
  `its tests (${paths.join(", ")}) compare numbers with answers of another type, by an equality that the work brought, so a person has to look at that`;

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
