// deciding-cmake: extracts the calls of a CMakeLists.txt that say which tests there are and what
// counts as passing them.

import type { DecidingParts } from "./command-set.ts";

const calls =
  /\b(add_test|set_tests_properties|set_property|enable_testing|gtest_discover_tests|gtest_add_tests|catch_discover_tests|doctest_discover_tests|add_subdirectory|set|option|include)\s{0,20}\(([^()]{0,2000})(\)|\()/gi;
const changingCalls = /^(?:set_tests_properties|set_property|set|option) /;

/** Each such call by its name and subject: `add_test sum`. */
export function extractCmakeParts(text: string): DecidingParts {
  const withoutComments = text.replaceAll(/#[^\n]*/g, "");
  const parts: Record<string, string> = {};

  for (const [, call = "", argsText = ""] of withoutComments.matchAll(calls)) {
    const name = call.toLowerCase();
    const args = argsText.trim().split(/\s+/);
    if (!concernsTests(name, argsText)) continue;
    const firstName = args[0] === "NAME" ? args[1] : args[0];
    const subject = name === "set_property" ? argsText.trim().replaceAll(/\s+/g, " ") : firstName;
    const key = `${name} ${subject ?? ""}`;
    parts[key] = `${parts[key] ?? ""}${argsText.replaceAll(/\s+/g, " ").trim()}\n`;
  }

  return parts;
}

/** Whether a new call changes the results of the others; a further test does not. */
export const changesOtherTests = (name: string): boolean => changingCalls.test(name);

function concernsTests(name: string, argsText: string): boolean {
  if (name === "set" || name === "option") {
    return /^\s*(?:BUILD_TESTING|CTEST_\w+|CMAKE_CTEST\w*)\b/.test(argsText);
  }

  if (name === "set_property") return /^\s*TEST\b/.test(argsText);
  if (name === "add_subdirectory") return /tests?\b/i.test(argsText);
  return name !== "include" || /^\s*CTest\b/.test(argsText);
}
