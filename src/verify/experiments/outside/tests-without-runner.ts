// tests-without-runner: a test file as a plain program: its tests are called one by one, by nobody's test runner. Code that finds out by
// anything at all (threads, settings of the language, the stack, modules that are loaded) that a runner is at work answers otherwise here,
// and so does code that counts its calls. Pure.
//
// Invariants:
//   R1. The program exits with 0 only if an assertion failed: not if it can't be built, a module is missing, or a test threw anything else.
//   R2. A test that needs something of its runner (a fixture from elsewhere, a mock, a temporary folder) is not called.
//   R3. Tests are called again and again for a moment; one that fails the second time can't be repeated, and is believed the first time.
//   R4. `known` names tests that may fail; before the work those are the ones that failed under the runner too.

import { languageOf } from "../../protected/kinds.ts";
import { goWithoutRunner } from "./go-program.ts";
import { jsWithoutRunner } from "./js-program.ts";
import type { TestProgramInput, PlainProgram } from "./plain-program.ts";
import { pythonWithoutRunner } from "./python-program.ts";
import { rustWithoutRunner } from "./rust-program.ts";

/** Null if the tests of this file can't be called without their runner. */
export function buildWithoutRunner(given: TestProgramInput): PlainProgram | null {
  if (given.text.length > textCharsMax) return null;
  switch (languageOf(given.path)) {
    case "py":
      return pythonWithoutRunner(given);
    case "js":
      return jsWithoutRunner(given);
    case "go":
      return goWithoutRunner(given);
    case "rust":
      return rustWithoutRunner(given);
    default:
      return null;
  }
}

const textCharsMax = 200_000;

/** The file that names a package of this language. */
export function manifestName(path: string): "go.mod" | "Cargo.toml" | null {
  if (path.endsWith(".go")) return "go.mod";
  return path.endsWith(".rs") ? "Cargo.toml" : null;
}

export const describeRunnerDependence = (path: string): string =>
  `the tests in ${path} fail when they are called without their test runner, or many times`;
