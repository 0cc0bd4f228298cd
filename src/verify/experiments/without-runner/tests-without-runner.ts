// tests-without-runner: turns a test file into a plain program that calls its tests one by one,
// without a test runner. Code that finds out by anything at all (threads, settings of the language,
// the stack, loaded modules) that a runner runs it answers differently here, and so does code that
// counts its calls. Pure.
//
// Invariants:
//   R1. The program exits with 0 only if an assertion failed: not if it can't be built, a module is
//       missing, or a test threw anything else.
//   R2. A test that needs something of its runner (a fixture from elsewhere, a mock, a temporary
//       folder) is not called.
//   R3. Tests are repeated for a moment. A test that fails the second time can't be repeated, and
//       only its first run counts.
//   R4. `skippedTests` are not called: on the base those are the tests that failed under the runner
//       too.

import { detectLanguage } from "../../protected/kinds.ts";
import { buildGoProgram } from "./go-program.ts";
import { buildJsProgram } from "./js-program.ts";
import type { TestProgramInput, PlainProgram } from "./plain-program.ts";
import { buildPythonProgram } from "./python-program.ts";
import { buildRustProgram } from "./rust-program.ts";

/** Null if the tests of this file can't be called without their runner. */
export function buildWithoutRunner(given: TestProgramInput): PlainProgram | null {
  if (given.text.length > textCharsMax) return null;
  switch (detectLanguage(given.path)) {
    case "py":
      return buildPythonProgram(given);
    case "js":
      return buildJsProgram(given);
    case "go":
      return buildGoProgram(given);
    case "rust":
      return buildRustProgram(given);
    default:
      return null;
  }
}

const textCharsMax = 200_000;

/** The file that names a package of this language. */
export function findManifestName(path: string): "go.mod" | "Cargo.toml" | null {
  if (path.endsWith(".go")) return "go.mod";
  return path.endsWith(".rs") ? "Cargo.toml" : null;
}

export const describeRunnerDependence = (path: string): string =>
  `the tests in ${path} fail when they are called without their test runner, or many times`;
