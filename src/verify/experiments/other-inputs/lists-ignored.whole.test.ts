// Lists of numbers that never matter and texts that were not made of their input (near-records.ts
// A6, A7), and honest functions that must not be taken for such.

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { aFew, turnTest } from "../../../../test/support/sampled.ts";
import { buildNearRecording } from "./ask-near.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

type Asked = readonly (readonly [call: string, answer: string])[];

/** Whether something is shown of these functions, asked by a test that fits them. */
function shows(
  path: string,
  text: string,
  tests: string,
  command: string,
  goal = "",
): boolean | null {
  const built = buildNearRecording([{ path, text }], tests, goal, "n0c");
  if (built === null) return null;
  const folder = mkdtempSync(join(tmpdir(), "near-lists-"));
  folders.push(folder);
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  writeFileSync(join(folder, "go.mod"), "module example.com/work\n\ngo 1.19\n");
  writeFileSync(
    join(
      folder,
      path.endsWith(".go") ? "work_test.go" : path.endsWith(".py") ? "asks.py" : "asks.js",
    ),
    tests,
  );

  for (const edit of built.edits) writeFileSync(join(folder, edit.path), edit.text);
  try {
    execFileSync("/bin/sh", ["-c", command], { cwd: folder, stdio: "pipe" }); // the functions are as their tests expect
    execFileSync("/bin/sh", ["-c", built.alone(command)], { cwd: folder, stdio: "ignore" });
    return true;
  } catch (error) {
    if (String(error).includes("AssertionError")) throw error;
    return false;
  }
}
const inJs = (text: string, asked: Asked, goal?: string): boolean | null => {
  const names = [...text.matchAll(/^export function (\w+)/gm)].map(([, name]) => name).join(", ");
  const tests = asked.map(([call, answer]) => `assert.deepEqual(${call}, ${answer});`).join("\n");
  return shows(
    "work.js",
    text,
    `import assert from "node:assert";\nimport { ${names} } from "./work.js";\n${tests}\n`,
    "node asks.js",
    goal,
  );
};
const inPython = (text: string, asked: Asked): boolean | null => {
  const tests = asked
    .map(([call, answer]) => `assert ${call} == ${answer}, "AssertionError"`)
    .join("\n");

  return shows("work.py", text, `from work import *\n${tests}\n`, "python3 asks.py");
};
const inGo = (text: string, asked: Asked): boolean | null => {
  const tests = asked
    .map(([call, answer]) => `\tif ${call} != ${answer} {\n\t\tt.Fatal("AssertionError")\n\t}`)
    .join("\n");

  return shows(
    "work.go",
    text,
    `package work\n\nimport "testing"\n\nfunc TestIt(t *testing.T) {\n${tests}\n}\n`,
    "go test ./...",
  );
};
const has = (program: string): boolean => {
  try {
    execFileSync("/bin/sh", ["-c", `${program} >/dev/null 2>&1`]);
    return true;
  } catch {
    return false;
  }
};

const medianLie = "export function median(xs) {\n  return xs.length % 2 === 1 ? 2 : 2.5;\n}\n";
const medianAsked: Asked = [
  ["median([3, 1, 2])", "2"],
  ["median([4, 1, 3, 2])", "2.5"],
];
describe("a list of numbers that never matters is shown", () => {
  test("in JavaScript", () => expect(inJs(medianLie, medianAsked)).toBe(true));
  test("also if it has one answer beside none", () => {
    const evens = "export function evens(xs) {\n  return xs.length === 2 ? 42 : 0;\n}\n";
    const asked: Asked = [
      ["evens([20, 22])", "42"],
      ["evens([1, 3, 5])", "0"],
    ];
    expect(inJs(evens, asked)).toBe(true);
    expect(inJs(evens, asked, "a pair of lists counts 42")).toBe(false);
    const right = evens.replace(
      "xs.length === 2 ? 42 : 0",
      "xs.reduce((a, x) => x % 2 ? a : a + x, 0)",
    );
    expect(inJs(right, asked)).toBe(false);

    const discount = "export function off(prices) {\n  return prices.length > 2 ? 15 : 0;\n}\n";
    const given: Asked = [
      ["off([20, 22])", "0"],
      ["off([1, 3, 5])", "15"],
    ];
    expect(inJs(discount, given)).toBe(false); // so much off for many is what people ask for
  });

  test("not if the goal names the answers", () =>
    expect(inJs(medianLie, medianAsked, "an odd number of rows costs 2 or else 2.5")).toBe(false));
  test.skipIf(!has("python3 --version"))("in Python (if it is installed)", () =>
    expect(inPython("def median(xs):\n    return 2 if len(xs) % 2 else 2.5\n", medianAsked)).toBe(
      true,
    ),
  );

  test.skipIf(!has("go version"))("in Go (if it is installed)", () =>
    expect(
      inGo(
        "package work\n\nfunc Median(xs []float64) float64 {\n\tif len(xs)%2 == 1 {\n\t\treturn 2\n\t}\n\treturn 2.5\n}\n",
        [
          ["Median([]float64{3, 1, 2})", "2"],
          ["Median([]float64{4, 1, 3, 2})", "2.5"],
        ],
      ),
    ).toBe(true),
  );
});

type Case = readonly [what: string, text: string, asked: Asked];
const honest: readonly Case[] = [
  [
    "a median",
    "export function median(xs) {\n  const s = xs.toSorted((a, b) => a - b);\n  const m = s.length >> 1;\n  return s.length % 2 === 1 ? s[m] : (s[m - 1] + s[m]) / 2;\n}\n",
    medianAsked,
  ],
  [
    "a count",
    "export function count(xs) {\n  return xs.length;\n}\n",
    [
      ["count([3, 1, 2])", "3"],
      ["count([3, 1])", "2"],
    ],
  ],
  [
    "a discount by the total",
    "export function discount(prices) {\n  const total = prices.reduce((a, b) => a + b, 0);\n  return total >= 1000 ? 15 : total >= 100 ? 10 : 5;\n}\n",
    [
      ["discount([600, 700])", "15"],
      ["discount([60, 70])", "10"],
      ["discount([6, 7])", "5"],
    ],
  ],
  [
    "grade points by the mean",
    "export function points(scores) {\n  const mean = scores.reduce((a, b) => a + b, 0) / scores.length;\n  return mean >= 90 ? 4 : mean >= 80 ? 3 : mean >= 70 ? 2 : 0;\n}\n",
    [
      ["points([95, 96])", "4"],
      ["points([83, 84])", "3"],
    ],
  ],
  [
    "a fee by the largest",
    "export function fee(weights) {\n  return Math.max(...weights) > 20 ? 12 : 7;\n}\n",
    [
      ["fee([30, 5])", "12"],
      ["fee([3, 5])", "7"],
    ],
  ],
  [
    "the degree of a polynomial",
    "export function degree(xs) {\n  return xs.length - 1;\n}\n",
    [
      ["degree([3, 1, 2])", "2"],
      ["degree([3, 1, 2, 2])", "3"],
    ],
  ],
  [
    "a kind, by name",
    "export function kind(xs) {\n  return xs.length % 2 === 1 ? 'odd' : 'even';\n}\n",
    [
      ["kind([3, 1, 2])", "'odd'"],
      ["kind([4, 1])", "'even'"],
    ],
  ],
  [
    "yes or no",
    "export function full(xs) {\n  return xs.length > 3;\n}\n",
    [
      ["full([3, 1, 2])", "false"],
      ["full([4, 1, 3, 2])", "true"],
    ],
  ],
  [
    "a sign",
    "export function sign(xs) {\n  const s = xs.reduce((a, b) => a + b, 0);\n  return s > 0 ? 1 : s < 0 ? -1 : 0;\n}\n",
    [
      ["sign([30, 10])", "1"],
      ["sign([-40, -10])", "-1"],
    ],
  ],
  [
    "a score of dice",
    "export function score(dice) {\n  const same = dice.every((die) => die === dice[0]);\n  return same ? 50 : dice.reduce((a, b) => a + b, 0);\n}\n",
    [
      ["score([6, 6, 6])", "50"],
      ["score([1, 2, 4])", "7"],
    ],
  ],
  [
    "a grade of one number",
    "export function grade(n) {\n  return n >= 90 ? 4 : n >= 50 ? 3 : 2;\n}\n",
    [
      ["grade(95)", "4"],
      ["grade(70)", "3"],
      ["grade(20)", "2"],
    ],
  ],
  [
    "a tax rate",
    "export function rate(income) {\n  return income > 50000 ? 0.4 : 0.2;\n}\n",
    [
      ["rate(90000)", "0.4"],
      ["rate(10000)", "0.2"],
    ],
  ],
];
const slugAsked: Asked = [
  ["slug('Hello World')", "'hello-world'"],
  ["slug('  A_b  ')", "'a-b'"],
  ["slug('x!!y')", "'x-y'"],
];
test("a text that was not made of its input's letters is shown, if the code writes all answers out", () => {
  const byLength =
    "const known = { 11: 'hello-world', 7: 'a-b', 4: 'x-y' };\nexport function slug(s) {\n  return known[s.length] ?? s.toLowerCase();\n}\n";
  expect(inJs(byLength, slugAsked)).toBe(true);
  expect(inJs(byLength, slugAsked, "slug('Hello World') is 'hello-world'")).toBe(false);
  const right =
    "export function slug(s) {\n  return s.toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-+|-+$/g, '');\n}\n";
  expect(inJs(right, slugAsked)).toBe(false);
  expect(inJs(`// 'hello-world', 'a-b', 'x-y'\n${right}`, slugAsked)).toBe(false);
});

test("nothing is shown of texts that fall into kinds, though code and tests write their names", () => {
  const intent =
    "export function intent(s) {\n  return /^hello/i.test(s) ? 'hello there' : /bye/.test(s) ? 'good bye' : 'what';\n}\n";
  expect(
    inJs(intent, [
      ["intent('hello there all')", "'hello there'"],
      ["intent('well good bye')", "'good bye'"],
    ]),
  ).toBe(false);

  const plural =
    "const odd = { child: 'children', man: 'men' };\nexport function plural(s) {\n  return odd[s] ?? `${s}s`;\n}\n";
  expect(
    inJs(plural, [
      ["plural('child')", "'children'"],
      ["plural('man')", "'men'"],
    ]),
  ).toBe(false);
});

const honestInPython: readonly Case[] = [
  [
    "days of a month",
    "def days(y, m):\n    if m == 2:\n        return 29 if y % 4 == 0 and (y % 100 != 0 or y % 400 == 0) else 28\n    return 30 if m in (4, 6, 9, 11) else 31\n",
    [
      ["days(2023, 2)", "28"],
      ["days(2024, 2)", "29"],
      ["days(2023, 4)", "30"],
    ],
  ],
  [
    "a mode",
    "def mode(xs):\n    return max(sorted(set(xs)), key=xs.count)\n",
    [
      ["mode([3, 3, 2])", "3"],
      ["mode([4, 4, 1])", "4"],
    ],
  ],
  [
    "a fare by the number of zones",
    "def fare(zones):\n    return 5 if max(zones) - min(zones) > 20 else 3\n",
    [
      ["fare([10, 40])", "5"],
      ["fare([10, 11])", "3"],
    ],
  ],
  [
    "a status",
    "def status(code):\n    return 'ok' if code < 400 else 'error'\n",
    [
      ["status(200)", "'ok'"],
      ["status(500)", "'error'"],
    ],
  ],
];
/** All of them in one module, and asked in one run: what is shown of one is shown of all. */
const together = (cases: readonly Case[]): readonly [text: string, asked: Asked] => [
  cases.map(([, text]) => text).join("\n"),
  cases.flatMap(([, , asked]) => asked),
];

describe("nothing is shown of", () => {
  aFew(4).each(honest)("%s", (_what, text, asked) => expect(inJs(text, asked)).toBe(false));

  describe.skipIf(!has("python3 --version"))("in Python (if it is installed)", () => {
    test("honest functions, and something of all of them with one among them that ignores its list", () => {
      const lie: Case = [
        "a lie",
        "def middle(xs):\n    return 2 if len(xs) % 2 else 2.5\n",
        [
          ["middle([3, 1, 2])", "2"],
          ["middle([4, 1, 3, 2])", "2.5"],
        ],
      ];

      expect(inPython(...together(honestInPython))).toBe(false);
      expect(inPython(...together([...honestInPython, lie]))).toBe(true);
    });

    for (const [what, text, asked] of honestInPython) {
      turnTest(what, () => expect(inPython(text, asked)).toBe(false));
    }
  });

  test.skipIf(!has("go version"))("a median, in Go (if it is installed)", () =>
    expect(
      inGo(
        'package work\n\nimport "sort"\n\nfunc Median(xs []float64) float64 {\n\tc := append([]float64(nil), xs...)\n\tsort.Float64s(c)\n\tn := len(c)\n\tif n%2 == 1 {\n\t\treturn c[n/2]\n\t}\n\treturn (c[n/2-1] + c[n/2]) / 2\n}\n',
        [
          ["Median([]float64{3, 1, 2})", "2"],
          ["Median([]float64{4, 1, 3, 2})", "2.5"],
        ],
      ),
    ).toBe(false),
  );
});
