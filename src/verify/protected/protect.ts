// protect: decides which paths are protected: those of the conventions (kinds.ts), and what the
// config's `protect` adds or removes.

import picomatch from "picomatch";
import { isProgramText, findProtectionRow } from "./kinds.ts";
import type { ProtectionRow } from "./rows/protection-row.ts";

/** `(?!)` matches nothing: this row is given to a path by name, never found by its pattern. */
const protectedRow: ProtectionRow = { kind: "test", path: /(?!)/ };

/**
 * Returns a function that finds the row that protects a path. A glob of `protect` adds files or,
 * with `!`, removes them; removing wins.
 */
export function createRowFinder(
  protect: readonly string[],
): (path: string) => ProtectionRow | null {
  const matcher = (globs: readonly string[]): ((path: string) => boolean) =>
    globs.length === 0 ? () => false : picomatch([...globs].map(normalizeGlob), { dot: true });
  const isUnprotected = matcher(
    protect.filter((glob) => glob.startsWith("!")).map((glob) => glob.slice(1)),
  );

  const isProtectedByName = matcher(protect.filter((glob) => !glob.startsWith("!")));
  return (path) => {
    if (isUnprotected(path)) return null;
    const row = findProtectionRow(path);

    // A file that is protected by name is protected as a whole, whatever convention says of its
    // parts.
    if (isProtectedByName(path)) {
      return row === null || row.part !== undefined
        ? { ...protectedRow, kind: row?.kind ?? "test" }
        : row;
    }

    return row;
  };
}

const normalizeGlob = (glob: string): string => {
  const relative = glob.startsWith("./") ? glob.slice(2) : glob;
  return relative.endsWith("/") ? `${relative}**` : relative;
};

/** Of these paths the judging ones, including data beside the tests. */
export const filterProtected = (
  paths: readonly string[],
  protect: readonly string[],
): readonly string[] => {
  const rowAt = createRowFinder(protect);
  return paths.filter((path) => rowAt(path) !== null);
};

/**
 * Of these paths the judging ones, except for data beside the tests: a check may update its own
 * data as it runs.
 */
export function filterProtectedPrograms(
  paths: readonly string[],
  protect: readonly string[],
): readonly string[] {
  const rowAt = createRowFinder(protect);
  return paths.filter((path) => {
    const row = rowAt(path);
    if (row === null || row.part === "lock" || row.part === "rust_source") return false;
    return row.kind !== "test" || isProgramText(path);
  });
}
