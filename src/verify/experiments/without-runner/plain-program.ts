// plain-program: the types and limits of programs that call the tests of a file without their
// runner. Pure.

import type { Edit } from "../lab.ts";

export type TestFile = { readonly path: string; readonly text: string };
export type TestProgramInput = TestFile & {
  /** A word that is in no file. */
  readonly uniqueName: string;
  /** What names the package: the text of `go.mod` or `Cargo.toml`, or null. */
  readonly manifest: string | null;
  /** Tests that are not called. */
  readonly skippedTests: readonly string[];
};
/**
 * For how long a program repeats its calls, if calling them once took at most half of that. In
 * JavaScript and Python it is processor time, so that a busy machine repeats as often.
 */
export const repeatMs = 500;
/** The limit by the clock, however busy the machine is. */
export const repeatWallMs = 5_000;
export type PlainProgram = { readonly edits: readonly Edit[]; readonly command: string };

/** The folder of a path with its slash; empty at the top. */
export const parentFolder = (path: string): string => path.slice(0, path.lastIndexOf("/") + 1);
