// What a run changed of its judges, told from two trees in memory: also what only the commands,
// makefiles and scripts of the base lead to.

import { test } from "vitest";
import { expectLinear } from "../../../test/support/linear.ts";
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

  const paths = [
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
  ];
  const tree = {
    "tests/test_a.py": "def test_a(): pass\n",
    "b_test.go": "",
    "go.mod": "",
    "CMakeLists.txt": "",
    "pnpm-workspace.yaml": "",
    "deno.json": "{}",
  };
  const read = (path: string, text: string) => findChanges(tree, { [path]: text }, ["npm test"]);
  for (const text of bad) {
    const readAll = async (pieces: number): Promise<void> => {
      for (const path of paths) {
        await read(path, text.repeat(pieces));
      }
    };

    await expectLinear(4_000, readAll, text);
  }

  const readScript = (pieces: number) =>
    findChanges(
      { "package.json": "{}" },
      { "package.json": manifest({ test: `echo ${" ;".repeat(pieces)}` }) },
      ["npm test"],
    );
  await expectLinear(12_000, readScript, "a script");
});
