// explicit-scope: tells whether a run's scope explicitly says that a protected file may change.
//
// Invariants:
//   X1. A pattern names a protected file only if it could not have been written for anything else:
//       it is the exact path, or a sample path made from it is a protected file too. `**`, `src/**`
//       and `*.ts` match a test but do not name one.
//   X2. A source file that contains its own tests is never named by its path: allowing the code to
//       change doesn't allow that for the tests.

import picomatch from "picomatch";
import type { ProtectionRow } from "./rows/protection-row.ts";

const alternativesMax = 64;

/** The pattern that names this path, or null. */
export function findNamingPattern(
  scope: readonly string[],
  path: string,
  rowOf: (path: string) => ProtectionRow | null,
): string | null {
  const row = rowOf(path);
  const isSource = row === null || row.part === "rust_source"; // X2

  const isNamedBy = (glob: string): boolean => {
    const relativeGlob = glob.replace(/^(?:\.\/)+/, "");
    if (relativeGlob === path) return !isSource;
    return expandBraces(relativeGlob.endsWith("/") ? `${relativeGlob}**` : relativeGlob).some(
      (alternative) =>
        (alternative === path && !isSource) ||
        (picomatch.isMatch(path, alternative, { dot: true }) &&
          buildSamplePaths(alternative).some((sample) => isProtectedWhole(rowOf(sample)))),
    );
  };
  return scope.find((glob) => !glob.startsWith("!") && isNamedBy(glob)) ?? null;
}

const isProtectedWhole = (row: ProtectionRow | null): boolean =>
  row !== null && row.part !== "rust_source";

/** Paths that a pattern matches: its wildcards filled with a letter, and with nothing (X1). */
function buildSamplePaths(glob: string): readonly string[] {
  const fillWildcards = (word: string): string =>
    glob
      .replaceAll(/\[[^\]/]*\]|[?@!+*]\([^)]*\)/g, () => word)
      .replaceAll("**", "x")
      .replaceAll(/[*?]/g, () => word);
  return [fillWildcards("x"), fillWildcards("")];
}

const braceRoundsMax = 8;

/**
 * `{a,b}/c` as its alternatives `a/c` and `b/c`; braces that are too many or do not close are left
 * as they are.
 */
function expandBraces(glob: string): readonly string[] {
  let globs = [glob];
  for (let round = 0; round < braceRoundsMax; round++) {
    const next = globs.flatMap((pattern) => {
      const inner = /\{([^{}]*)\}/.exec(pattern);
      if (inner === null || !inner[1]?.includes(",")) return [pattern];
      return inner[1]
        .split(",")
        .map(
          (word) =>
            pattern.slice(0, inner.index) + word + pattern.slice(inner.index + inner[0].length),
        );
    });
    if (next.length === globs.length || next.length > alternativesMax) return globs;
    globs = next;
  }

  return globs;
}
