// program-and-test-paths: picks the programs and the tests of a list of all files, once per list.

import { isProgramText, isTestPath } from "./kinds.ts";

const programs = new WeakMap<readonly string[], readonly string[]>();
const tests = new WeakMap<readonly string[], ReadonlySet<string>>();

export function filterPrograms(paths: readonly string[]): readonly string[] {
  const cached = programs.get(paths) ?? paths.filter(isProgramText);
  programs.set(paths, cached);
  return cached;
}

export function filterTests(paths: readonly string[]): ReadonlySet<string> {
  const cached = tests.get(paths) ?? new Set(paths.filter(isTestPath));
  tests.set(paths, cached);
  return cached;
}
