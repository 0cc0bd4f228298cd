import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  areExamplesRun,
  createExampleFlips,
  findDoctestExamples,
  findExampleCases,
  restoreExamples,
} from "./examples.ts";
import { applyFlips } from "./flip.ts";

const documented = (answers: string, body: string): string =>
  `def mul(a, b):\n    """Multiply.\n\n${answers}    """\n    ${body}\n`;
const right = documented("    >>> mul(2, 3)\n    6\n    >>> mul(7, 8)\n    56\n", "return a * b");
const weak = documented("    >>> mul(2, 2)\n    4\n", "return a + b");

describe("examples of Python", () => {
  test("are tests, each piece of documentation by its owner's name", () => {
    expect(findExampleCases("calc.py", right)).toMatchObject([
      { name: "the example of mul", from: 4, to: 7 },
    ]);

    expect(findExampleCases("calc.py", right)[0]?.title?.test("calc.py::calc.mul")).toBe(true);
    expect(
      findExampleCases("calc.py", '"""Top.\n\n>>> 1\n1\n"""\n')[0]?.title?.test("calc.py::calc"),
    ).toBe(true);

    expect(findExampleCases("test_calc.py", right)).toEqual([]);
    expect(findExampleCases("calc.py", "def f():\n    x = a >>> b\n")).toEqual([]);
  });

  test.each([
    ["    6\n", "    7\n"],
    ["    'IV'\n", null],
    ["    True\n", "    False\n"],
    [
      "    Traceback (most recent call last):\n        ...\n    ValueError: bad\n",
      "ValueErrorx: bad",
    ],
    ["    <mul at 0x...>\n", "    <mul at 0y...>\n"],
  ])("an answer becomes another one: %j", (want, expected) => {
    const text = documented(`    >>> mul(2, 3)\n${want}`, "pass");
    const [flip] = createExampleFlips("calc.py", text, "n0");
    const changed = flip === undefined ? null : applyFlips(text, [flip]);
    expect(changed).not.toBe(text);
    if (expected !== null) expect(changed).toContain(expected.trimEnd());
    expect(changed?.split("\n").length).toBe(text.split("\n").length);
  });

  test("one that takes any answer cannot be broken", () => {
    expect(
      createExampleFlips(
        "calc.py",
        documented("    >>> mul(2, 3) # doctest: +ELLIPSIS\n    ...\n", "pass"),
        "n0",
      ),
    ).toEqual([]);
  });

  test("that were changed are asked as they were, and those of the work too", () => {
    const folder = mkdtempSync(join(tmpdir(), "examples-"));
    const passes = (text: string): boolean => {
      writeFileSync(join(folder, "calc.py"), text);
      try {
        execFileSync("python3", ["-m", "doctest", "calc.py"], { cwd: folder, stdio: "ignore" });
        return true;
      } catch {
        return false;
      }
    };

    try {
      expect(restoreExamples("calc.py", right, right)).toBeNull();
      expect(passes(weak)).toBe(true);
      expect(passes(restoreExamples("calc.py", right, weak) ?? "")).toBe(false);
      const more = documented("    >>> mul(1, 1)\n    1\n", "return a * b");
      expect(
        passes(
          restoreExamples("calc.py", right, `${more}\n\nif __name__ == "__main__":\n    pass\n`) ??
            "",
        ),
      ).toBe(true);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("are run where the check says so, or names them", () => {
    expect(areExamplesRun("calc.py", ["pytest -q --doctest-modules"], [])).toBe(true);
    expect(areExamplesRun("calc.py", ["pytest -q"], ["calc.py::calc.mul"])).toBe(true);
    expect(areExamplesRun("src/lib.rs", ["cargo test -q"], [])).toBe(true);
    expect(areExamplesRun("src/lib.rs", ["cargo check"], [])).toBe(false);
    expect(areExamplesRun("calc.py", ["pytest -q"], ["test_calc.py::test_mul"])).toBe(false);
  });
});

describe("examples of Rust", () => {
  const was =
    "/// Multiplies.\n///\n/// ```\n/// assert_eq!(x::mul(2, 3), 6);\n/// ```\npub fn mul(a: i64, b: i64) -> i64 {\n    a * b\n}\n";

  test("are tests by their line, and broken like other assertions", () => {
    const [one] = findExampleCases("src/lib.rs", was);
    expect(one?.title?.test("src/lib.rs - mul (line 3)")).toBe(true);
    expect(one?.title?.test("src/lib.rs - mul (line 30)")).toBe(false);
    const [flip] = createExampleFlips("src/lib.rs", was, "n0");
    expect(flip?.broken).toMatch(/^\/\/\/ assert_eq!\(x::mul\(2, 3\), [57]\);$/);
    expect(findExampleCases("src/lib.rs", was.replace("```\n/// a", "```text\n/// a"))).toEqual([]);
  });

  test("that were changed are asked as they were", () => {
    const is = was.replace("mul(2, 3), 6", "mul(2, 2), 4");
    expect(restoreExamples("src/lib.rs", was, is)).toContain(
      "/// ```\n/// assert_eq!(x::mul(2, 3), 6);\n/// ```\n#[allow(dead_code)]\nfn as_before_0() {}",
    );

    expect(restoreExamples("src/lib.rs", was, was)).toBeNull();
  });
});

describe("an example of a document", () => {
  const page =
    "It's so:\n\n>>> for n in [1]:\n...     print(mul(n, 2))\n2\n\n>>> import os\n>>> mul(2, 3)  # doctest: +SKIP\n6\n";
  const examples = findDoctestExamples("docs/use.rst", page, "n0");

  test("gets another output, or another call; one that is skipped or prints nothing does not", () => {
    expect(examples.map(({ line }) => line)).toEqual([3]);
    expect(examples[0]?.otherOutput(page.split("\n"))[4]).toMatch(/^[13]$/);
    expect(examples[0]?.otherCall(page.split("\n")).slice(2, 5)).toEqual(['>>> "n0"', "...", "2"]);
  });

  test("is no code of a module that only looks like one", () => {
    expect(findDoctestExamples("a.py", "x = 1\n# >>> x\n# 1\n", "n0")).toEqual([]);
  });
});
