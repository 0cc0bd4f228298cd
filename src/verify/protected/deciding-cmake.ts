// deciding-cmake: the calls of a CMakeLists.txt that say which tests there are and what counts as passing them.

import type { Deciding } from "./named.ts";

const calls =
  /\b(add_test|set_tests_properties|set_property|enable_testing|gtest_discover_tests|gtest_add_tests|catch_discover_tests|doctest_discover_tests|add_subdirectory|set|option|include)\s{0,20}\(([^()]{0,2000})(\)|\()/gi;
const bends = /^(?:set_tests_properties|set_property|set|option) /;

/** Each call by its name and subject. */
export function decidingCmake(text: string): Deciding {
  const bare = text.replaceAll(/#[^\n]*/g, "");
  const found: Record<string, string> = {};
  for (const [, call = "", message = ""] of bare.matchAll(calls)) {
    const name = call.toLowerCase();
    const args = message.trim().split(/\s+/);
    if (!isOfTests(name, message)) continue;
    const about = name === "set_property" ? message.trim().replaceAll(/\s+/g, " ") : args[0] === "NAME" ? args[1] : args[0];
    const key = `${name} ${about ?? ""}`;
    found[key] = `${found[key] ?? ""}${message.replaceAll(/\s+/g, " ").trim()}\n`;
  }
  return found;
}

/** Whether a new call changes the results of the others; a further test does not. */
export const changesOtherTests = (name: string): boolean => bends.test(name);

function isOfTests(name: string, message: string): boolean {
  if (name === "set" || name === "option") return /^\s*(?:BUILD_TESTING|CTEST_\w+|CMAKE_CTEST\w*)\b/.test(message);
  if (name === "set_property") return /^\s*TEST\b/.test(message);
  if (name === "add_subdirectory") return /tests?\b/i.test(message);
  return name !== "include" || /^\s*CTest\b/.test(message);
}
