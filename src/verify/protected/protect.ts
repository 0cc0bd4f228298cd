// protect: decides which paths are protected: by convention, plus or minus the config's `protect`.

import picomatch from "picomatch";
import { isProgramText, rowOf, type Row } from "./kinds.ts";

const added: Row = { kind: "test", fits: /$^/ };

/** The rows in force: by convention, and what the config's `protect` adds or, with `!`, removes. Removing wins. */
export function rowsWith(protect: readonly string[]): (path: string) => Row | null {
  const test = (globs: readonly string[]): ((path: string) => boolean) =>
    globs.length === 0 ? () => false : picomatch([...globs].map(withoutEnds), { dot: true });
  const isOpen = test(protect.filter((glob) => glob.startsWith("!")).map((glob) => glob.slice(1)));
  const isKept = test(protect.filter((glob) => !glob.startsWith("!")));
  return (path) => {
    if (isOpen(path)) return null;
    const row = rowOf(path);
    // A file that is protected by name is protected as a whole, whatever convention says of its parts.
    if (isKept(path)) return row === null || row.part !== undefined ? { ...added, kind: row?.kind ?? "test" } : row;
    return row;
  };
}

const withoutEnds = (glob: string): string => {
  const bare = glob.startsWith("./") ? glob.slice(2) : glob;
  return bare.endsWith("/") ? `${bare}**` : bare;
};

/** Of these paths the judging ones, including data beside the tests. */
export const allJudgesAmong = (paths: readonly string[], protect: readonly string[]): readonly string[] => {
  const rowAt = rowsWith(protect);
  return paths.filter((path) => rowAt(path) !== null);
};

/** Of these paths the judging ones, except for data beside the tests: a check may update its own data as it runs. */
export function judgesAmong(paths: readonly string[], protect: readonly string[]): readonly string[] {
  const rowAt = rowsWith(protect);
  return paths.filter((path) => {
    const row = rowAt(path);
    if (row === null || row.part === "lock" || row.part === "rust_source") return false;
    return row.kind !== "test" || isProgramText(path);
  });
}
