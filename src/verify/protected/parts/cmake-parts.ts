// cmake-parts: extracts the calls of a CMakeLists.txt that say which tests there are and what
// counts as passing them.

import { oneOf } from "../../../kit/compose-pattern.ts";
import { type ProtectedParts, squeezeSpace } from "./protected-parts.ts";

const testCallNames = `add_test set_tests_properties set_property enable_testing
  gtest_discover_tests gtest_add_tests catch_discover_tests doctest_discover_tests add_subdirectory
  set option include`;
/** `add_test(sum sum_test)`: the name of the call, and its arguments. */
const testCall = new RegExp(
  String.raw`\b(${oneOf(testCallNames)})\s{0,20}\(([^()]{0,2000})(\)|\()`,
  "gi",
);
const resultChangingCall = /^(?:set_tests_properties|set_property|set|option) /;

/** Each call that concerns tests, by its name and subject: `add_test sum`. */
export function extractCmakeParts(text: string): ProtectedParts {
  const withoutComments = text.replaceAll(/#[^\n]*/g, "");
  const parts: Record<string, string> = {};

  for (const [, call = "", argsText = ""] of withoutComments.matchAll(testCall)) {
    const name = call.toLowerCase();
    if (!concernsTests(name, argsText)) continue;

    const partName = `${name} ${findSubject(name, argsText)}`;
    parts[partName] = `${parts[partName] ?? ""}${squeezeSpace(argsText)}\n`;
  }

  return parts;
}

/** Whether a new call changes the results of other tests; `add_test` only adds one. */
export const changesTestResults = (partName: string): boolean => resultChangingCall.test(partName);

function concernsTests(name: string, argsText: string): boolean {
  switch (name) {
    case "set":
    case "option":
      return /^\s*(?:BUILD_TESTING|CTEST_\w+|CMAKE_CTEST\w*)\b/.test(argsText);
    case "set_property":
      return /^\s*TEST\b/.test(argsText);
    case "add_subdirectory":
      return /tests?\b/i.test(argsText);
    case "include":
      return /^\s*CTest\b/.test(argsText);
    default:
      return true;
  }
}

/** What a call is about: `sum` of `add_test(NAME sum COMMAND sum_test)`. */
function findSubject(name: string, argsText: string): string {
  if (name === "set_property") return squeezeSpace(argsText);
  const args = argsText.trim().split(/\s+/);
  return (args[0] === "NAME" ? args[1] : args[0]) ?? "";
}
