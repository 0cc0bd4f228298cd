import { describe, expect, test } from "vitest";
import { findAllLoaded, findLoaded } from "./loaded-files.ts";

describe("a file loads another of the project", () => {
  test.each<[string, string, string, boolean]>([
    ["test/a.test.js", 'import { a } from "../src/safe.js";', "src/safe.js", true],
    ["test/a.test.js", "const { a } = require('../src/safe');", "src/safe.js", true],
    ["test/a.test.js", "  const { a } = await import(`../src/safe`);", "src/safe.mjs", true],
    ["test/a.test.js", 'import "../src";', "src/index.js", true],
    ["test/a.test.ts", 'import { a } from "../src/safe.js";', "src/safe.ts", true],
    ["test/a.test.js", 'import { a } from "../src/safer.js";', "src/safe.js", false],
    ["test/a.test.js", 'import { a } from "safe";', "src/safe.js", false],
    ["test/a.test.js", 'import { a } from "@/lib/safe.js";', "src/lib/safe.js", true],
    ["test/a.test.js", 'import { a } from "#lib/safe";', "src/other/safe.js", false],
    ["test_a.py", "from pkg.safe import a", "pkg/safe.py", true],
    ["test_a.py", "import pkg.safe", "src/pkg/safe.py", true],
    ["test_a.py", "from pkg.mean import safe", "pkg/safe.py", false],
    ["a_test.go", 'import "x/safe"', "safe.go", false],
  ])("%s: %s and %s: %s", (path, text, file, isLoaded) =>
    expect(findLoaded({ path, text }, [file])).toEqual(isLoaded ? [file] : []),
  );
});

test("files that others load, also in a ring", async () => {
  const files: Readonly<Record<string, string>> = {
    "index.js": 'import { cart } from "./lib/cart.js";\n',
    "lib/cart.js": 'import { round } from "./round.js";\n',
    "lib/round.js": 'import { cart } from "./cart.js";\n',
    "lib/other.js": "",
  };
  const from = { path: "test/a.test.js", text: 'import { cart } from "../index.js";\n' };
  const found = await findAllLoaded([from], Object.keys(files), async (path) => files[path] ?? "");
  expect([...found]).toEqual(["index.js", "lib/cart.js", "lib/round.js"]);
});
