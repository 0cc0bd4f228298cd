import { describe, expect, test } from "vitest";
import { listExports } from "./exported-functions.ts";
import { selectNewExamples } from "./wrong-examples.ts";

const modules = {
  js: new Map(["mean", "topN", "slug", "configure"].map((name) => [name, "src/a.js"])),
  py: new Map([["mean", "stats.py"]]),
};
const script = (...lines: readonly string[]): string => `\`\`\`js\n${lines.join("\n")}\n\`\`\`\n`;
const read = (is: string, was: string | null = null) =>
  (selectNewExamples({ was, is }, modules, "stats") ?? []).flatMap(({ steps }) =>
    steps.flatMap(({ code, expected }) => (expected === null ? [] : [[code, expected]])),
  );

describe("what an example says that a call gives", () => {
  test.each([
    ["an arrow", script("mean([1, 2, 7]) // => 3.5"), "mean([1, 2, 7])", { value: "3.5" }],
    [
      "another arrow",
      script("const m = mean([1]); // → 3.5 (rounded)"),
      "mean([1])",
      { value: "3.5" },
    ],
    [
      "a value alone",
      script("console.log(topN([3, 8, 5], 2)); // [8, 5]"),
      "topN([3, 8, 5], 2)",
      { value: "[8, 5]" },
    ],
    [
      "a line below",
      script("topN(", "  [3, 8, 5],", "  2,", ");", "// => [8, 5]"),
      "topN(\n  [3, 8, 5],\n  2,\n)",
      { value: "[8, 5]" },
    ],
    [
      "a constant",
      script("import { mean } from 'stats/a';", "const xs = [1, NaN];", "mean(xs) // => NaN"),
      "mean(xs)",
      { value: "NaN" },
    ],
    ["an error", script("mean([]) // throws RangeError"), "mean([])", { error: "RangeError" }],
    [
      "an error with its message",
      script("mean([]) // => TypeError: no numbers"),
      "mean([])",
      { error: "TypeError" },
    ],
    [
      "a text without quotes",
      script('slug("Grand Hotel") // → grand-hotel'),
      'slug("Grand Hotel")',
      { text: "grand-hotel" },
    ],
    [
      "a session",
      "```python\n>>> from stats import mean\n>>> mean([1, 2])\n1.5\n```\n",
      "mean([1, 2])",
      { value: "1.5" },
    ],
    [
      "a session without a fence",
      "It works::\n\n    >>> print(mean([1, 2]))\n    1.5\n\n",
      "mean([1, 2])",
      { text: "1.5" },
    ],
    [
      "a module's function",
      "```py\n>>> import stats\n>>> stats.mean([1, 2])\n1.5\n```\n",
      "mean([1, 2])",
      { value: "1.5" },
    ],
    [
      "a namespace's function",
      script("import * as s from './src/a.js';", "s.mean([1, 2]) // => 1.5"),
      "mean([1, 2])",
      { value: "1.5" },
    ],
    [
      "a traceback",
      ">>> mean([])\nTraceback (most recent call last):\n  ...\nValueError: empty\n",
      "mean([])",
      { error: "ValueError" },
    ],
  ])("is %s", (_what, text, code, expected) => expect(read(text)).toEqual([[code, expected]]));

  test.each([
    ["in a sentence", script("mean([1, 2]) // the mean of both", "mean([1]) // 1")],
    ["that is shortened", script("mean([1, 2, 7]) // => 3.333…", "topN([1], 3) // => [1, ...]")],
    ["of something else", script("median([1]) // => 2", "list.mean([1]) // => 2")],
    [
      "of what is not written out",
      script("mean(items) // => 2", "mean([1]).toFixed(1) // => 2", "mean([1]) + 1 // => 2"),
    ],
    ["behind a setting", script('use({ locale: "de" })', "mean([1, 2]) // => '1,5'")],
    ["of another package", script("import { mean } from 'lodash';", "mean([1, 2]) // => 7")],
    ["of another module", ">>> from numpy import mean\n>>> mean([1, 2])\n7\n"],
    ["of its own", script("function mean(list) { return 7; }", "mean([1, 2]) // => 7")],
    ["that was so", `Before the fix:\n\n${script("mean([]) // => NaN")}`],
    [
      "that is so elsewhere",
      script("// On a machine that speaks German", "mean([1, 2]) // => '1,5'"),
    ],
    ["of another namespace", script("import s from 'lodash';", "s.mean([1, 2]) // => 7")],
    ["that is wrong", script("mean([]) // => NaN, which is wrong")],
    [
      "under a condition",
      script("mean([1]) // throws TypeError if it is empty", "mean([2]) // => 1, 2, 3"),
    ],
    ["in another language", "```ruby\nmean([1, 2]) # => 7\n```\n"],
    ["in a text", "Call mean([1, 2]) // => 7\n"],
  ])("is nothing %s", (_what, text) => expect(read(text)).toEqual([]));

  test("is what is new, and the last one of a call", () => {
    const text = script("mean([1, 2]) // => 1.5");
    expect(read(`${text}more\n`, text)).toEqual([]);
    expect(read(`${text}\n${script("mean([1, 2]) // => 2.5")}`, text)).toEqual([
      ["mean([1, 2])", { value: "2.5" }],
    ]);

    expect(
      read(`${script("mean([]) // => NaN")}\nNow:\n\n${script("mean([]) // => null")}`),
    ).toEqual([["mean([])", { value: "null" }]]);
  });

  test("rests on what was done before it", () => {
    const block = selectNewExamples(
      { was: null, is: script('configure({ unit: "m" })', "mean([1]) // => 2") },
      modules,
      "stats",
    );
    expect(block?.[0]?.steps.map(({ code }) => code)).toEqual([
      'configure({ unit: "m" })',
      "mean([1])",
    ]);
  });
});

test("functions that a module exports are known by their form", () => {
  const js =
    "export function a(x) {\n  return x;\n}\nconst b = (x) => x;\nfunction c(x) {\n  return x;\n}\nexport const d = (x) => x;\nexport { b };\n";
  expect(listExports({ path: "src/a.js", text: js }).toSorted()).toEqual(["a", "b", "d"]);
  const common =
    "function a(x) {\n  return x;\n}\nfunction b(x) {\n  return x;\n}\nmodule.exports = { a, c: 1 };\n";
  expect(listExports({ path: "src/a.cjs", text: common })).toEqual(["a"]);
  const py =
    "def a(x):\n    def inner(y):\n        return y\n    return inner(x)\n\n\nclass B:\n    def b(self):\n        return 1\n";
  expect(listExports({ path: "a.py", text: py })).toEqual(["a"]);
});
