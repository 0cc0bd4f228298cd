import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { findFunctions } from "../source-text/definitions.ts";
import { computeArguments } from "./computed-arguments.ts";

const isInstalled = (program: string): boolean => spawnSync(program, ["--version"]).status === 0;

describe("what tests give to the work's functions is computed", () => {
  test.each([
    [
      "test_a.py",
      'assert slug("Ab c") == "ab-c"\n',
      'assert slug("".join(("Ab", " c"))) == "ab-c"\n',
    ],
    ["a.t", "is(roman(9), 'IX');\n", "is(roman((substr(\"9\", 0) + 0)), 'IX');\n"],
    ["a.t", 'is roman("a"), 1;\n', 'is roman("a"), 1;\n'],
    ["test/ATest.java", 'eq(Luhn.digit("12"), 3);\n', 'eq(Luhn.digit(new String("12")), 3);\n'],
  ])("%s: %s", (path, text, wanted) => {
    const functions =
      path === "a.t" && text.startsWith("is roman") ? ["other"] : ["slug", "roman", "digit"];
    expect(computeArguments(path, text, functions)).toBe(wanted);
  });

  test.each([
    ["a definition", "test_a.py", 'def slug("ab"):\n'],
    ["a part of an expression", "test_a.py", 'slug("ab" + rest, text="ab", other=f"ab")\n'],
    ["a variable in a text", "a.t", 'is(roman("$n"), 1);\n'],
    ["a text in a comment", "test_a.py", '# slug("ab")\n'],
    ["another language", "a.test.js", 'equal(slug("ab"), 1);\n'],
  ])("not %s", (_what, path, text) => {
    expect(computeArguments(path, text, ["slug", "roman"])).toBe(text);
  });

  test("a helper of the tests hands on what it is given", () => {
    const helper =
      "static void check(String text, int want) {\n  if (digit(text) != want) throw new Error();\n}\n";
    const text = `class ATest {\n${helper}static void main() {\n  check("12", 3);\n  print("12");\n}\n}\n`;
    expect(computeArguments("test/ATest.java", text, ["digit"])).toBe(
      text.replace('check("12"', 'check(new String("12")'),
    );
  });

  test("functions are found in each of the languages", () => {
    expect(
      findFunctions("lib/Roman.pm", "package Roman;\nsub to_roman {\n}\n").map(({ name }) => name),
    ).toEqual(["to_roman"]);
    expect(
      findFunctions("a.py", "def slug(text):\n    return text\n\nNAME = 1\n").map(
        ({ name }) => name,
      ),
    ).toEqual(["slug"]);
  });
});

describe("code that asks whether its input was written out", () => {
  test.runIf(isInstalled("perl"))("is found in Perl", () => {
    const passes = (text: string): boolean => spawnSync("perl", ["-e", text]).status === 0;
    const source = "sub f { Internals::SvREADONLY($_[0]) ? 1 : 0 }\n";
    const asked = 'exit 1 unless f(9) && f("ab");\n';
    expect(passes(source + asked)).toBe(true);
    expect(passes(source + computeArguments("a.t", asked, ["f"]))).toBe(false);
    const honest = 'sub f { "<$_[0]>" } exit 1 unless f(9) eq "<9>" && f("ab") eq "<ab>";\n';
    expect(passes(computeArguments("a.t", honest, ["f"]))).toBe(true);
  });

  test.runIf(isInstalled("python3"))("is found in Python", () => {
    const held = (text: string): string =>
      spawnSync(
        "python3",
        ["-c", `import sys\ndef f(text):\n    return sys.getrefcount(text)\n${text}`],
        {
          encoding: "utf8",
        },
      ).stdout;
    const asked = 'print(f("some words"))\n';
    expect(Number(held(computeArguments("test_a.py", asked, ["f"])))).toBeLessThan(
      Number(held(asked)),
    );
  });
});
