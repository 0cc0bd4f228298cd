// examples: finds and breaks the documentation examples that are run as tests: Python's doctests,
// Rust's documentation tests. Pure.
//
// Invariants:
//   O1. An example is made wrong like any other test: its expected output becomes the nearest one.
//       An example that accepts any output (`...`) cannot be made wrong, and is reported.
//   O2. Examples from before the work judge it too: those that it changed or removed are run again
//       beside its own.
//   O3. Line numbers stay, except for restored examples, which are inserted where they are read.

import { detectLanguage, findProtectionRow } from "../../protected/kinds.ts";
import type { TestCase } from "../source-text/test-cases.ts";
import {
  createDoctestFlips,
  type DoctestExample,
  findDoctestCases,
  listChangeableExamples,
  restoreDoctests,
} from "./doctests.ts";
import type { Flip } from "./flip.ts";
import {
  createRustExampleFlips,
  findRustExampleCases,
  restoreRustExamples,
} from "./rust-examples.ts";

const textCharsMax = 400_000;

/** Each docstring or comment with examples as a test. */
export function findExampleCases(path: string, text: string): readonly TestCase[] {
  if (!mayHaveExamples(path, text)) return [];
  return isRust(path) ? findRustExampleCases(path, text) : findDoctestCases(path, text);
}

/** Their expectations, each broken (O1). */
export function createExampleFlips(path: string, text: string, nonce: string): readonly Flip[] {
  if (!mayHaveExamples(path, text)) return [];
  return isRust(path) ? createRustExampleFlips(path, text, nonce) : createDoctestFlips(path, text);
}

/** The examples of a document or docstring whose output can be changed. */
export function findDoctestExamples(
  path: string,
  text: string,
  nonce: string,
): readonly DoctestExample[] {
  if (text.length > textCharsMax || !text.includes(">>>")) return [];
  return listChangeableExamples(path, text, nonce);
}

/**
 * The file with the base's examples that the work changed or removed, beside its own; null if it
 * did neither (O2).
 */
export function restoreExamples(path: string, was: string, is: string): string | null {
  if (!mayHaveExamples(path, was)) return null;
  return isRust(path) ? restoreRustExamples(was, is) : restoreDoctests(path, was, is);
}

/** Whether a check runs a file's examples: by its command, or by the names of what it ran. */
export function areExamplesRun(
  path: string,
  used: readonly string[],
  reportedNames: readonly string[],
): boolean {
  if (isRust(path)) return !used.every((text) => cargoWithoutTests.test(text));
  if (!path.endsWith(".py")) return false;

  const isDoctestUsed = used.some((text) => /\bdoctest\b/.test(text));
  return isDoctestUsed || reportedNames.some((name) => name.startsWith(`${path}::`));
}

const cargoWithoutTests = /^\s*cargo\s+(?:\+\S+\s+)?(?:check|clippy|build|c|b|doc|fmt)\b[^&|;]*$/;

export const describeChangedExamples = (paths: readonly string[]): string =>
  `examples in the documentation of ${paths.join(", ")} were changed, and it fails with those as they were, so a person has to look at that`;

/** Test files may contain text that looks like an example, which no runner runs. */
function mayHaveExamples(path: string, text: string): boolean {
  if (text.length > textCharsMax) return false;
  if (isRust(path)) return text.includes("```");
  return path.endsWith(".py") && findProtectionRow(path) === null && text.includes(">>>");
}

const isRust = (path: string): boolean => detectLanguage(path) === "rust";
