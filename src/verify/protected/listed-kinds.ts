// listed-kinds: of a list of all files the programs and the tests, found once for as long as the list is there.

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
