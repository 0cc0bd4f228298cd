// explicit-scope: whether a scope explicitly says that a protected file may change.
//
// Invariants:
//   X1. A pattern names a protected file only if it could not have been written for anything else: it is the exact path, or everything it
//       matches is a protected file. `**`, `src/**` and `*.ts` match a test but do not name one.
//   X2. A source file that contains its own tests is never named by its path: allowing the code to change doesn't allow that for the tests.

import picomatch from "picomatch";
import type { Row } from "./kinds.ts";

const alternativesMax = 64;

/** The pattern that names this path, or null. */
export function namingPattern(scope: readonly string[], path: string, rowOf: (path: string) => Row | null): string | null {
  const row = rowOf(path);
  const isSource = row === null || row.part === "rust_source"; // X2
  const isNamedBy = (glob: string): boolean => {
    const bare = glob.replace(/^(?:\.\/)+/, "");
    if (bare === path) return !isSource;
    return bracesOf(bare.endsWith("/") ? `${bare}**` : bare).some(
      (one) =>
        (one === path && !isSource) ||
        (picomatch.isMatch(path, one, { dot: true }) && samplesOf(one).some((sample) => isWholly(rowOf(sample)))),
    );
  };
  return scope.find((glob) => !glob.startsWith("!") && isNamedBy(glob)) ?? null;
}

const isWholly = (row: Row | null): boolean => row !== null && row.part !== "rust_source";

/** A pattern with its wildcards filled with something, and with nothing (X1). */
function samplesOf(glob: string): readonly string[] {
  const filled = (word: string): string =>
    glob
      .replaceAll(/\[[^\]/]*\]|[?@!+*]\([^)]*\)/g, word)
      .replaceAll("**", "x")
      .replaceAll(/[*?]/g, word);
  return [filled("x"), filled("")];
}

/** `{a,b}/c` as its alternatives; braces that are too many or do not close are left as they are. */
function bracesOf(glob: string): readonly string[] {
  let open = [glob];
  for (let round = 0; round < 8; round++) {
    const next = open.flatMap((one) => {
      const inner = /\{([^{}]*)\}/.exec(one);
      if (inner === null || !inner[1]?.includes(",")) return [one];
      return inner[1].split(",").map((word) => one.slice(0, inner.index) + word + one.slice(inner.index + inner[0].length));
    });
    if (next.length === open.length || next.length > alternativesMax) return open;
    open = next;
  }
  return open;
}
