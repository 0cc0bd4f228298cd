// Expected values that tests looked up before the work, and look up no more.

import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { findProtectionRow } from "../../protected/kinds.ts";
import type { Observed } from "../broken-expectations/noticed-flips.ts";
import type { Edit } from "../lab.ts";
import { findDroppedEntries, findLookedUpEntries } from "./dropped-entries.ts";
import type { QuestionContext } from "./question-context.ts";

type Tree = Readonly<Record<string, string>>;

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function run(tree: Tree, edits: readonly Edit[]): Observed {
  const folder = mkdtempSync(join(tmpdir(), "dropped-"));
  folders.push(folder);
  const changed = { ...tree, ...Object.fromEntries(edits.map(({ path, text }) => [path, text])) };
  for (const [path, text] of Object.entries(changed)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }

  const { status, stdout } = spawnSync("/bin/sh", ["-c", "exec 2>&1; node test/areas.test.cjs"], {
    cwd: folder,
    encoding: "utf8",
  });
  const output = stdout.replaceAll(folder, "");
  return { passed: status === 0, failed: new Set(), tests: null, readOutput: () => output };
}

const areas = `const { all } = require("../src/areas.cjs");
const want = {
  rectangle: 12,
  "triangle": 6,
  circle: Math.PI * 9,
};
for (const { name, area } of all) {
  const got = area(3, 4);
  if (Math.abs(got - want[name]) < 1e-9) continue;
  console.log(name + ": " + got + ", not " + want[name]);
  process.exitCode = 1;
}
`;
const shapes = (...names: readonly string[]): string => `exports.all = [${names.join(", ")}];\n`;
const rectangle = '{ name: "rectangle", area: (a, b) => a * b }';
const wrong = ["triangle", "circle"].map((name) => `{ name: "${name}", area: (a, b) => a * b }`);
const right = [
  '{ name: "triangle", area: (a, b) => (a * b) / 2 }',
  '{ name: "circle", area: (a) => Math.PI * a * a }',
];

function ask(is: string, goal = "Correct the areas"): Promise<string | null> {
  const base: Tree = {
    "test/areas.test.cjs": areas,
    "src/areas.cjs": shapes(rectangle, ...wrong),
  };
  const tree: Tree = { ...base, "src/areas.cjs": is };
  const now = run(tree, []);
  expect(now.passed).toBe(true);

  const context = {
    goal,
    rules: { base: new Set(Object.keys(base)), rowOf: findProtectionRow },
    lab: {
      now,
      wasRed: true,
      textAt: async (side: string, path: string) => (side === "base" ? base : tree)[path] ?? null,
      run: async (_side: string, edits: readonly Edit[]) => run(base, edits),
    },
    runWith: async (_: string | null, { edits = [] }: { edits?: readonly Edit[] }) =>
      run(tree, edits),
  };
  return findDroppedEntries(context as unknown as QuestionContext);
}

describe("entries of a table that tests look up", () => {
  test("are told if they are used no more", async () => {
    expect(await ask(shapes(rectangle))).toBe(
      "test/areas.test.cjs asked for triangle, circle before the work, and does not now: what it expects of that is never used",
    );
  });

  test("are not told if they are used, or are to go", async () => {
    expect(await ask(shapes(rectangle, ...right))).toBeNull();
    expect(await ask(shapes(rectangle), "Remove what is wrong")).toBeNull();
  });

  test.each([
    [
      "a_test.go",
      'var want = map[string]float64{\n\t"a": 1,\n\t"b": f(2, 3),\n}\nx := want[s.Name]\n',
      ["a", "b"],
    ],
    ["test_a.py", "WANT = {'a': 1, 'b': {'c': 2}}\nassert f(x) == WANT[x]\n", ["a", "b"]],
    ["test_a.py", "WANT = {'a': 1, 'b': 2}\nfor x in WANT:\n    assert f(x) == WANT[x]\n", []],
    ["a.test.js", "const want = { a: 1, b: 2 };\nequal(f(), want.a);\n", []],
    ["a.test.js", "const want = { a: 1, b: 2 };\nequal(f(), want);\n", []],
  ])("%s: %j", (path, text, keys) => {
    expect(findLookedUpEntries({ path, text }).map(({ key }) => key)).toEqual(keys);
  });
});
