// What was done to a protected file: one row a trick, in the languages whose conventions are known.

import { test } from "vitest";
import { judged } from "./judge.test-support.ts";

test("text made to be slow to read is read in good time", () => {
  const bad = [
    "#[test]#[a]".repeat(6_000),
    "#[cfg_attr(".repeat(6_000),
    "<plugin>surefire".repeat(4_000),
    "test {".repeat(10_000),
    "abs(".repeat(18_000),
    "use x\n".repeat(10_000),
    "`".repeat(99_999),
    "/*".repeat(99_999),
    "[a\n".repeat(18_000),
  ];

  for (const path of [
    "src/lib.rs",
    "a.test.ts",
    "test/a.py",
    "pom.xml",
    "build.gradle",
    "setup.cfg",
    "Makefile",
    "package.json",
    "vite.config.ts",
  ]) {
    for (const text of bad) judged({ [path]: "test: x\n" }, { [path]: text });
  }

  judged(
    { "package.json": "{}" },
    { "package.json": `{"jest":${"[".repeat(10_000)}${"]".repeat(10_000)}}` },
  );
});
