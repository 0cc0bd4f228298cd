// What a run changed of its judges, told from two trees in memory: also what only the commands,
// makefiles and scripts of the base lead to.

import { test } from "vitest";
import { findChanges } from "./find-protected.test-support.ts";

const manifest = (scripts: object): string => JSON.stringify({ name: "x", scripts });

test("text made to be slow to read is read in good time", async () => {
  const bad = [
    "assert.",
    "Object.assign(",
    "import x from ",
    "replace (\n",
    "\n \t",
    "def __eq__(",
    'process.on("exit"',
    "pytest.",
    '""" ',
    "echo ;",
    "process.on('uncaughtException',function(",
    "__eq__ = lambda ",
    "add_test(",
    "- 'a'\n",
  ];

  for (const path of [
    "src/a.js",
    "src/a.py",
    "go.mod",
    "CMakeLists.txt",
    "pnpm-workspace.yaml",
    "deno.json",
    "settings.gradle",
    "tests/__init__.py",
    "a_test.go",
    ".npmrc",
  ]) {
    for (const text of bad) {
      await findChanges(
        {
          "tests/test_a.py": "def test_a(): pass\n",
          "b_test.go": "",
          "go.mod": "",
          "CMakeLists.txt": "",
          "pnpm-workspace.yaml": "",
          "deno.json": "{}",
        },
        { [path]: text.repeat(30_000) },
        ["npm test"],
      );
    }
  }

  await findChanges(
    { "package.json": "{}" },
    { "package.json": manifest({ test: `echo ${" ;".repeat(100_000)}` }) },
    ["npm test"],
  );
});
