// What was done to a protected file: one row a trick, in the languages whose conventions are known.

import { test } from "vitest";
import { expectLinear } from "../../../test/support/linear.ts";
import { judged } from "./judge.test-support.ts";

test("text made to be slow to read is read in good time", async () => {
  const bad: readonly (readonly [string, number])[] = [
    ["#[test]#[a]", 1_500],
    ["#[cfg_attr(", 1_500],
    ["<plugin>surefire", 1_000],
    ["test {", 2_500],
    ["abs(", 4_500],
    ["use x\n", 2_500],
    ["`", 25_000],
    ["/*", 25_000],
    ["[a\n", 4_500],
  ];

  const paths = [
    "src/lib.rs",
    "a.test.ts",
    "test/a.py",
    "pom.xml",
    "build.gradle",
    "setup.cfg",
    "Makefile",
    "package.json",
    "vite.config.ts",
  ];
  for (const [text, most] of bad) {
    const readAll = (pieces: number): void => {
      for (const path of paths) judged({ [path]: "test: x\n" }, { [path]: text.repeat(pieces) });
    };

    await expectLinear(most, readAll, text);
  }

  judged(
    { "package.json": "{}" },
    { "package.json": `{"jest":${"[".repeat(10_000)}${"]".repeat(10_000)}}` },
  );
});
