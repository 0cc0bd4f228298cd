import { expect, test } from "vitest";
import type { Check } from "../../../contracts/evidence.ts";
import { flipSample } from "./flip-expectations.ts";
import type { Edit, Lab, Side } from "../lab.ts";

const check: Check = {
  id: "criterion:1",
  kind: "criterion",
  title: "tests",
  command: "python3 -m unittest",
  source: "flags",
};
const old = Array.from(
  { length: 40 },
  (_, index) =>
    `    def test_add_${index}(self):\n        self.assertEqual(self.c.add(${index}, 1), ${index + 1})\n`,
).join("");
const text = `import unittest\nfrom calc import Calc\n\nclass T(unittest.TestCase):\n    def setUp(self):\n        self.c = Calc(2)\n${old}    def test_mul(self):\n        self.assertEqual(self.c.mul(6, 7), 42)\n    def test_sub(self):\n        self.assertEqual(self.c.sub(6, 7), -1)\n`;
const calc = (mul: string, sub: string): string =>
  `class Calc:\n    def add(self, a, b):\n        return a + b\n\n    def mul(self, a, b):\n        return ${mul}\n\n    def sub(self, a, b):\n        ${sub}\n`;
const files: Readonly<Record<Side, Readonly<Record<string, string>>>> = {
  base: { "calc.py": calc("a * b", "raise NotImplementedError"), "test_calc.py": text },
  work: { "calc.py": calc("b * a", "return a - b"), "test_calc.py": text },
};
const nameOf = (name: string): string => `${name} (test_calc.T.${name})`;

/**
 * Fails what was changed, except for the tests that are kept from failing; with what sets them up,
 * all.
 */
function labOf(isKept: (name: string) => boolean, seed = "s"): Lab {
  const run = (side: Side, edits: readonly Edit[]) => {
    const lines = (edits.find(({ path }) => path === "test_calc.py")?.text ?? text).split("\n");
    const changed = text
      .split("\n")
      .flatMap((line, index) =>
        lines[index] === line ? [] : [(text.split("\n")[index - 1] ?? "").trim()],
      );
    const names = changed.some((line) => line.includes("setUp"))
      ? ["test_mul", "test_sub"]
      : changed.flatMap((line) => /def (\w+)/.exec(line)?.[1] ?? []);
    const failed = new Set(names.filter((name) => side === "base" || !isKept(name)).map(nameOf));
    if (side === "base") failed.add(nameOf("test_sub"));
    if (lines.length > text.split("\n").length) {
      failed.add("test_calc (unittest.loader._FailedTest.test_calc)");
    } // a syntax error

    return Promise.resolve({
      passed: failed.size === 0,
      failed,
      tests: { ran: 42, failed: failed.size, skipped: 0 },
    });
  };

  return {
    run,
    repeat: (edits) => run("work", edits),
    textAt: (side, path) => Promise.resolve(files[side][path] ?? null),
    pathsAt: (side) => Promise.resolve(Object.keys(files[side])),
    commands: [check.command],
    changedPaths: ["calc.py"],
    before: {
      passed: false,
      failed: new Set([nameOf("test_sub")]),
      tests: { ran: 42, failed: 1, skipped: 0 },
    },
    wasRed: true,
    now: { passed: true, failed: new Set(), tests: { ran: 42, failed: 0, skipped: 0 } },
    seed,
  };
}

test("an old test of a function that the work changed is broken, among however many others", async () => {
  for (const seed of ["a", "b", "c"]) {
    expect(
      await flipSample(
        check,
        labOf((name) => name === "test_mul", seed),
      ),
    ).toMatchObject({ outcome: "missed" });
  }

  expect(
    await flipSample(
      check,
      labOf(() => false),
    ),
  ).toMatchObject({ outcome: "noticed" });
});

test("what sets tests up is not broken in their place: that would fail for another reason", async () => {
  for (const seed of ["a", "b", "c", "d", "e"]) {
    expect(
      await flipSample(
        check,
        labOf((name) => name === "test_sub", seed),
      ),
    ).toMatchObject({ outcome: "partly" });
  }
});
