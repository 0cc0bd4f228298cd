// plain-program: what is needed to make a program of a test file, and what comes of it. Pure.

import type { Edit } from "../experiment-tools.ts";

export type TestFile = { readonly path: string; readonly text: string };
export type TestProgramInput = TestFile & {
  /** A word that is in no file. */
  readonly nonce: string;
  /** What names the package: the text of `go.mod` or `Cargo.toml`, or null. */
  readonly manifest: string | null;
  /** Tests that are not called. */
  readonly skippedTests: readonly string[];
};
/**
 * For how long a program asks again, in milliseconds, if asking once took at most half of that: of its own time in JavaScript and Python, so
 * that a busy machine asks as often.
 */
export const repeatMs = 500;
/** However busy the machine is. */
export const repeatWallMs = 5_000;
export type PlainProgram = { readonly edits: readonly Edit[]; readonly command: string };

/** With its slash; empty at the top. */
export const folderOf = (path: string): string => path.slice(0, path.lastIndexOf("/") + 1);

export const quoted = (path: string): string => `'${path.replaceAll("'", `'\\''`)}'`;
