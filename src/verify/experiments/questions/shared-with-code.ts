// shared-with-code: isolates what tests share with the code under test: the random generator in
// Python, equality between types in Rust. The code under test can manipulate what is shared: seed
// the generator, or return a type that is equal to whatever it likes. Also finds C functions and
// macros that may replace the system's, and functions that may replace parts of a shell. Pure.
//
// Invariants:
//   O1. Only tests that seed and replace nothing themselves get their own generator: otherwise
//       sharing may be intended.
//   O2. Types are compared only if the work added an equality between two of them.

import { type Definition, findDefinitions } from "../changed-source/definitions.ts";
import { findAssertions } from "../broken-expectations/assertion-flips.ts";

/** What a test says that seeds or replaces the generator itself (O1). */
const ownSeeding =
  /\bseed\b|\bsetstate\b|\bpatch\b|\bmonkeypatch\b|\bRandom\s*\(|\brandom\s*=|\bfreeze/;

/** A Python test with its own random generator; null if it uses none (O1). */
export function isolateRandom(path: string, text: string): string | null {
  if (!path.endsWith(".py") || ownSeeding.test(text)) return null;
  const own = text
    .replaceAll(/^import random$/gm, "import random; random = random.Random()")
    .replaceAll(
      /^from random import ([a-z]\w*(?:, *[a-z]\w*)*)$/gm,
      (_all, names: string) =>
        `from random import Random as _Own; _own = _Own(); ${names} = ${names.replaceAll(/\w+/g, "_own.$&")}`,
    );
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
    const value = expected === undefined ? "" : text.slice(expected.from, expected.to);
    return actual === undefined || !/^-?\d[\d_]*(?:\.\d+)?$/.test(value)
      ? []
      : [{ ...actual, value }];
  });

  const done = numbers
    .toSorted((left, right) => right.from - left.from)
    .reduce(
      (whole, { from, to, value }) =>
        `${whole.slice(0, from)}{ let [got, _] = [${whole.slice(from, to)}, ${value}]; got }${whole.slice(to)}`,
      text,
    );
  return done === text ? null : done;
}

export const describeNumberTypes = (paths: readonly string[]): string =>
  `its tests (${paths.join(", ")}) compare numbers with answers of another type, by an equality that the work brought, so a person has to look at that`;

const namesMax = 40;

/**
 * C functions that the work added, that only tests of the project call, and that no header of it
 * declares.
 */
export function findUndeclaredFunctions(
  changed: readonly { readonly path: string; readonly was: string | null; readonly is: string }[],
  { headers, tests }: { readonly headers: string; readonly tests: string },
): readonly Definition[] {
  const mentions = (text: string, name: string): boolean =>
    new RegExp(`\\b${name}\\s*\\(`).test(text);
  const code = changed.map(({ is }) => is).join("\n");
  const isCalledIn = (text: string, name: string): boolean =>
    [...text.matchAll(new RegExp(`\\b${name}\\s*\\(`, "g"))].length > 1;

  return changed
    .filter(({ path }) => /\.(?:c|h)$/.test(path))
    .flatMap(({ path, was, is }) => {
      const before = was ?? "";
      return findDefinitions(path, is).filter(
        ({ name, isFunction, text, from }) =>
          isFunction &&
          !/^(?:static|#)/.test(text) &&
          !/\bstatic\b[^\n]*$/.test(is.slice(is.lastIndexOf("\n", from) + 1, from)) &&
          !mentions(before, name) &&
          !mentions(headers, name) &&
          (mentions(tests, name) || !isCalledIn(code, name)),
      );
    })
    .slice(0, namesMax);
}

/**
 * C macros that the work added and whose names tests use: `#define strcmp strcasecmp` changes what
 * they compare with.
 */
export function findMacrosInTests(
  changed: readonly { readonly path: string; readonly was: string | null; readonly is: string }[],
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
export function findAddedShellFunctions(
  changed: readonly { readonly path: string; readonly was: string | null; readonly is: string }[],
): readonly NamedPlace[] {
  const namesIn = (text: string): readonly string[] =>
    [...text.matchAll(/^[ \t]*(?:function[ \t]+)?([\w.:[\]-]{1,60})[ \t]*\(\)/gm)].map(
      ([, name = ""]) => name,
    );

  return changed.flatMap(({ path, was, is }) => {
    const before = new Set(namesIn(was ?? ""));
    return [...new Set(namesIn(is))]
      .filter((name) => !before.has(name))
      .map((name) => ({ path, name }));
  });
}

/** Exits with 0 if one of these names is part of the shell itself (`[`, `test`, `printf`). */
export const shellHasCommand = (names: readonly string[]): string =>
  `for name in ${names.map((name) => `'${name}'`).join(" ")}; do case $(bash -c 'type -t -- "$1"' sh "$name" 2>/dev/null) in builtin | keyword) exit 0 ;; esac; done; exit 1`;

/** Exits with 0 if the system has one of these functions itself. */
export const buildSystemLookup = (names: readonly string[]): string =>
  `cd / && for name in ${names.join(" ")}; do echo "char $name(); int main(void) { return $name(); }" | cc -fno-builtin -w -xc - -o /dev/null -lm 2>/dev/null && exit 0; done; exit 1`;

export type NamedPlace = Pick<Definition, "path" | "name">;

export const describeReplacedFunctions = (definitions: readonly NamedPlace[]): string =>
  `new functions or macros take the place of what tests know (${definitions.map(({ path, name }) => `${path}: ${name}`).join(", ")}), so a person has to look at that`;
