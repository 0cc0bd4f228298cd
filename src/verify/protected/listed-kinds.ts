// listed-kinds: the programs and tests in a list of all files, computed once per list.

import { isProgramText, isTest } from "./kinds.ts";

const programs = new WeakMap<readonly string[], readonly string[]>();
const tests = new WeakMap<readonly string[], ReadonlySet<string>>();

export function programsAmong(paths: readonly string[]): readonly string[] {
  const known = programs.get(paths) ?? paths.filter(isProgramText);
  programs.set(paths, known);
  return known;
}

export function testsAmong(paths: readonly string[]): ReadonlySet<string> {
  const known = tests.get(paths) ?? new Set(paths.filter(isTest));
  tests.set(paths, known);
  return known;
}
