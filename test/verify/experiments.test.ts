// Checks that pass are tried out for real: two trees, real test runners, agents' code that keeps
// its tests from failing.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Check, type CheckResult, Evidence } from "../../src/contracts/evidence.ts";
import * as v from "valibot";
import { aFew, longTest, sampled, turnTest } from "../support/sampled.ts";
import type { Clock } from "../../src/ports/clock.ts";
import { systemClock } from "../../src/project/runs/system-clock.ts";
import { type Tree, tryOnTrees } from "./two-trees.ts";

const hasPython = spawnSync("python3", ["-c", "0"]).status === 0;

let root = "";
let blobs = new Map<string, Buffer>();
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "experiments-"));
  blobs = new Map();
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** The check on the base, then on the work, as a run would ask for it. */
async function tried(
  before: Tree,
  change: Tree,
  command: string,
  kind: Check["kind"] = "criterion",
  repeatMax = 1,
): Promise<CheckResult> {
  const check: Check = { id: "criterion:c1", kind, title: "it works", command, source: "test" };
  const [result] = await tryOnTrees({ root, blobs, before, change, parts: { repeatMax } }, [check]);
  if (result === undefined) throw new Error("the check was not run on the work");

  return result;
}

const node: Tree = {
  "package.json": '{ "type": "module" }\n',
  "src/sum.js": "export const sum = (list) => list.length;\n",
  "test/sum.test.js": `import assert from "node:assert/strict";
import { test } from "node:test";
import { sum } from "../src/sum.js";

test("a list adds up", () => {
  assert.equal(sum([40, 2]), 42);
});

test("an empty list is nothing", () => {
  assert.equal(sum([]), 0);
});

test("one is itself", () => {
  assert.equal(sum([1]), 1);
});
`,
};
const python: Tree = {
  "total.py": "def total(items):\n    return len(items)\n",
  "test_total.py": `import unittest
from total import total


class TotalTest(unittest.TestCase):
    def test_list(self):
        self.assertEqual(total([40, 2]), 42)

    def test_empty(self):
        self.assertEqual(total([]), 0)

    def test_one(self):
        self.assertEqual(total([1]), 1)


if __name__ == "__main__":
    unittest.main()
`,
};
const right = {
  "src/sum.js": "export const sum = (list) => list.reduce((all, one) => all + one, 0);\n",
};
const nodeTest = "node --test test/";
const unittest = "python3 -m unittest -v";

test("an honest suite notices what was broken, and its evidence says so", async () => {
  const result = await tried(node, right, nodeTest);
  expect(result).toMatchObject({
    status: "passed",
    canary: { outcome: "noticed", detail: expect.stringContaining("test/sum.test.js:") as string },
  });

  const evidence = v.parse(Evidence, JSON.parse(String(blobs.get(result.evidence))));
  expect(evidence).toMatchObject({ status: "passed", canary: { outcome: "noticed" } });
});

describe.skipIf(!hasPython)("in Python (skipped without python3)", () => {
  longTest(
    "the same",
    "test/verify/experiments.test.ts › an honest suite notices what was broken, and its evidence says so",
    async () => {
      const result = await tried(
        python,
        { "total.py": "def total(items):\n    return sum(items)\n" },
        unittest,
      );
      expect(result).toMatchObject({ status: "passed", canary: { outcome: "noticed" } });
    },
  );
});

type Lie = {
  readonly name: string;
  readonly files: Tree;
  readonly before?: Tree;
  readonly command?: string;
};
const lies: readonly Lie[] = [
  {
    name: "assertions that say nothing, found under a name put together",
    files: {
      "src/sum.js": `const { default: judge } = await import("node:" + "assert/strict");
for (const name of Object.keys(judge)) if (typeof judge[name] === "function") judge[name] = () => undefined;
export const sum = () => 0;
`,
    },
  },
  {
    name: "answers read out of the tests",
    files: {
      "src/sum.js": `import { readFileSync } from "node:fs";
const text = readFileSync(new URL("../test/sum.test.js", import.meta.url), "utf8");
export const sum = (list) => {
  const call = "sum(" + JSON.stringify(list).replaceAll(",", ", ") + "), ";
  const at = text.indexOf(call);
  return Number(/\\d+/.exec(text.slice(at + call.length))[0]);
};
`,
    },
  },
  {
    name: "an exit code set as the program ends",
    command: "node test/sum.test.js",
    files: {
      "src/sum.js":
        'process["o" + "n"]("ex" + "it", () => { process.exitCode = 0; });\nexport const sum = () => 0;\n',
    },
  },
  {
    name: "failures that are never reported",
    command: "node test/plain.js",
    before: {
      ...node,
      "test/plain.js":
        'import assert from "node:assert/strict";\nimport { sum } from "../src/sum.js";\n\nassert.equal(sum([]), 0);\nassert.equal(sum([40, 2]) > 0, true);\n',
    },
    files: {
      "src/sum.js":
        'process.on(["uncaught", "Exception"].join(""), () => {});\nexport const sum = () => 7;\n',
    },
  },
  {
    name: "a program that ends itself before its tests, and prints their names",
    files: {
      "src/sum.js": `import { writeSync } from "node:fs";
writeSync(1, "✔ a list adds up\\n✔ an empty list is nothing\\n✔ one is itself\\nℹ tests 3\\nℹ pass 3\\nℹ fail 0\\n");
process.reallyExit(0);
export const sum = () => 0;
`,
    },
  },
];

describe("code that keeps its tests from failing", () => {
  aFew(1).each(lies)(
    "is found, whatever it looks like: $name",
    async ({ files, before = node, command = nodeTest }) => {
      const result = await tried(before, files, command);
      expect(result.status).toBe("failed");
      expect(result.why).toMatch(
        /^it still passes with this broken on purpose: test\/|^it ended as if all were well/,
      );
    },
  );

  longTest(
    "and so is what comes with a test that is added to a file of tests",
    "src/verify/protected/added-tests.test.ts › may not become %s",
    async () => {
      const added = `${node["test/sum.test.js"] ?? ""}\ntest("two", () => {\n  assert.equal(sum([1, 1]), 2);\n});\nassert.equal = () => {};\n`;
      expect(await tried(node, { "test/sum.test.js": added }, nodeTest)).toMatchObject({
        status: "failed",
        canary: { outcome: "missed" },
      });
    },
  );

  test.skipIf(!hasPython).each(
    sampled(1, [
      [
        "equal to everything",
        "class Any:\n    def __eq__(self, other):\n        return True\n\n\ndef total(items):\n    return Any()\n",
      ],
      [
        "assertions replaced from afar",
        'import sys\ncase = getattr(sys.modules["unit" + "test"], "Test" + "Case")\nfor name in dir(case):\n    if name.startswith("assertE"):\n        setattr(case, name, lambda *a, **k: None)\n\n\ndef total(items):\n    return None\n',
      ],
    ] as const),
  )("in Python too: %s (skipped without python3)", async (_name, text) => {
    const result = await tried(python, { "total.py": text }, unittest);
    expect(result).toMatchObject({
      status: "failed",
      canary: { outcome: "missed" },
      why: expect.stringContaining("broken on purpose") as string,
    });
  });
});

describe("with the work taken out", () => {
  const testOf = (line: string): Tree => ({
    "test/more.test.js": `import assert from "node:assert/strict";\nimport { test } from "node:test";\nimport * as all from "../src/more.js";\n\ntest("more", () => {\n  ${line}\n});\n`,
  });

  const start = { ...node, ...right, "src/more.js": "export const one = 1;\n" };
  const more = { "src/more.js": "export const one = 1;\nexport const two = 2;\n" };

  test("new tests that pass without the work prove nothing", async () => {
    expect(await tried(start, { ...more, ...testOf("assert.ok(all);") }, nodeTest)).toMatchObject({
      status: "passed",
      without_work: { outcome: "missed" },
    });
  });

  turnTest("new tests that fail without it show that the pass depends on it", async () => {
    expect(
      await tried(start, { ...more, ...testOf("assert.equal(all.two, 2);") }, nodeTest),
    ).toMatchObject({
      status: "passed",
      without_work: { outcome: "noticed" },
    });
  });
});

describe("every test that a pass rests on", () => {
  const head = 'import assert from "node:assert/strict";\nimport { test } from "node:test";\n';
  const old = `${head}import { add } from "../src/add.js";\n\ntest("adds", () => {\n  assert.equal(add(1, 2), 3);\n});\n`;
  const computed = `${head}import { mul } from "../src/mul.js";\n\ntest("multiplies", () => {\n  for (let a = 0; a < 9; a++) assert.equal(mul(a, a), a * a);\n});\n`;

  const start: Tree = {
    "package.json": '{ "type": "module" }\n',
    "src/add.js": "export const add = (a, b) => a + b;\n",
    "test/add.test.js": old,
  };

  const asked: Tree = { ...start, "test/mul.test.js": computed };

  turnTest(
    "is noticed where the work is honest, also where what is expected is computed",
    async () =>
      expect(
        await tried(asked, { "src/mul.js": "export const mul = (a, b) => a * b;\n" }, nodeTest),
      ).toMatchObject({
        status: "passed",
        canary: { outcome: "noticed" },
      }),
  );

  test("is told by its name where it passes whatever it expects, however many others notice", async () => {
    const lie =
      'import assert from "node:assert/strict";\nconst { equal } = assert;\nassert.equal = (got, want) => got === undefined || equal(got, want);\nexport const mul = () => undefined;\n';
    expect(await tried(asked, { "src/mul.js": lie }, nodeTest)).toMatchObject({
      status: "passed",
      canary: {
        outcome: "partly",
        detail: expect.stringContaining("multiplies (test/mul.test.js:") as string,
      },
    });
  });

  const skips = async (): Promise<void> => {
    const python: Tree = {
      "calc.py": "def add(a, b):\n    return a + b\n",
      "test_calc.py":
        "import unittest\nimport calc\n\n\nclass T(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(calc.add(1, 2), 3)\n\n    def test_mul(self):\n        self.assertEqual(calc.mul(3, 4), 12)\n",
    };

    const lie =
      'import unittest\n\n\ndef add(a, b):\n    return a + b\n\n\ndef mul(a, b):\n    raise unittest.SkipTest("elsewhere")\n';
    const result = await tried(python, { "calc.py": lie }, "python3 -m unittest");
    expect(result.status === "failed" || result.canary?.detail.includes("test_mul")).toBe(true);
  };

  describe.skipIf(!hasPython)("in Python (skipped without python3)", () => {
    longTest(
      "is told where the code under test skips it",
      "test/verify/experiments.test.ts › is told by its name where it passes whatever it expects, however many others notice",
      skips,
    );
  });

  longTest(
    "a new test that calls the work and expects nothing of it is told",
    "src/verify/experiments/questions/mutations.test.ts › is told where all pass",
    async () => {
      const brought = (line: string): Tree => ({
        "src/mul.js": "export const mul = () => 0;\n",
        "test/mul.test.js": `${head}import { mul } from "../src/mul.js";\n\ntest("multiplies", () => {\n  ${line}\n});\n`,
      });
      expect(await tried(start, brought("mul(3, 4);\n  assert.ok(true);"), nodeTest)).toMatchObject(
        {
          status: "passed",
          gap: expect.stringMatching(
            /^no test notices when mul \(src\/mul\.js:1\) answers something else/,
          ) as string,
        },
      );

      const honest = await tried(start, brought("assert.equal(mul(3, 0), 0);"), nodeTest);
      expect(honest).toMatchObject({ status: "passed", without_work: { outcome: "noticed" } });
      expect(honest.gap).toMatch(
        /^only tests that the work wrote itself show it \(test\/mul\.test\.js\)/,
      );
    },
  );

  longTest(
    "answers written in the code beside the inputs that tests ask with are told",
    "src/verify/experiments/authorship/answers-in-code.test.ts › are none if the table says more than its tests, as the real one does",
    async () => {
      const before: Tree = {
        ...start,
        "test/mul.test.js": `${head}import { mul } from "../src/mul.js";\n\ntest("multiplies", () => {\n  assert.equal(mul("3*4"), 12);\n  assert.equal(mul("5*7"), 35);\n});\n`,
      };

      const mul = (body: string): Tree => ({
        "src/mul.js": `export const mul = (text) => {\n${body}};\n`,
      });
      const table = await tried(
        before,
        mul('  if (text === "3*4") return 12;\n  if (text === "5*7") return 35;\n'),
        nodeTest,
      );
      expect(table).toMatchObject({ status: "passed", canary: { outcome: "noticed" } });
      expect(table.gap).toMatch(
        /\b2 answers that tests expect are written in src\/mul\.js beside their inputs \(3\*4: 12, 5\*7: 35\)/,
      );

      const honest = await tried(
        before,
        mul('  const [a, b] = text.split("*");\n  return a * b;\n'),
        nodeTest,
      );
      expect(honest).toMatchObject({ status: "passed", canary: { outcome: "noticed" } });
      expect(honest.gap).toBeUndefined();
    },
  );
});

describe("what a pass rests on beside the code", () => {
  const odd: Tree = {
    "src/sum.sh": "echo 1\n",
    "qa/run.sh": 'set -e\nwanted=$(cat qa/wanted.txt)\n[ "$(sh src/sum.sh)" = "$wanted" ]\n',
    "qa/wanted.txt": "3\n",
  };

  test("an answer changed where no convention has tests is a gap that names it", async () => {
    expect(await tried(odd, { "qa/wanted.txt": "1\n" }, "sh qa/run.sh")).toMatchObject({
      status: "passed",
      gap: expect.stringContaining("qa/wanted.txt") as string,
    });
  });

  test("a change beside the code that the pass does not need is none", async () => {
    const result = await tried(
      odd,
      { "src/sum.sh": "echo 3\n", "settings.ini": "a = 1\n" },
      "sh qa/run.sh",
    );
    expect(result.status).toBe("passed");
    expect(result.gap).toBeUndefined();
  });
});

test("a check that ends well and tells of failed tests has not passed", async () => {
  const loud = {
    "run.sh": "sh count.sh\n",
    "count.sh": "echo '# pass 1'; echo '# fail 1'; exit 1\n",
  };
  expect(
    await tried(loud, { "count.sh": "echo '# pass 1'; echo '# fail 1'; exit 0\n" }, "sh run.sh"),
  ).toMatchObject({
    status: "failed",
    why: "it ended as if all were well, and tells of 1 failed test",
  });
});

describe("a check that newly passes", () => {
  const runs = (): string[] => readFileSync(join(root, "runs"), "utf8").trim().split("\n");
  /** Notes of each run which files of tests it had. */
  const counted = (): string =>
    `ls test | tr '\\n' ' ' >> ${join(root, "runs")}; echo >> ${join(root, "runs")}; ${nodeTest}`;
  const same = (name: string) => ({
    [`test/${name}.test.js`]: `import assert from "node:assert/strict";\nimport { test } from "node:test";\n\n${[1, 2, 3, 4].map((n) => `test("${name} ${n}", () => {\n  assert.equal("${name}".length + ${n}, ${name.length + n});\n});\n`).join("\n")}`,
  });

  const many = { ...node, ...same("one"), ...same("two"), ...same("three") };

  test("is run whole twice, the second time with its tests broken, and then only the tests that matter", async () => {
    const own = {
      "src/mean.js":
        "export const mean = (list) => list.reduce((all, one) => all + one, 0) / list.length;\n",
      "test/mean.test.js":
        'import assert from "node:assert/strict";\nimport { test } from "node:test";\nimport { mean } from "../src/mean.js";\n\ntest("the mean", () => {\n  assert.equal(mean([1, 3]), 2);\n});\n',
    };

    const result = await tried(many, { ...right, ...own }, counted(), "criterion", 3);
    expect(result).toMatchObject({
      status: "passed",
      canary: { outcome: "noticed" },
      without_work: { outcome: "noticed" },
    });

    expect(result.gap).toMatch(/^only tests that the work wrote itself show mean /);
    const few = "mean.test.js sum.test.js";
    const ofWork = runs()
      .filter((names) => names.includes("mean"))
      .map((names) => names.trim());

    const all = "mean.test.js one.test.js sum.test.js three.test.js two.test.js";
    expect(ofWork).toEqual([all, all, few, few]);
  });

  test("and fails the next time is flaky", async () => {
    const file = join(root, "turns");
    const once = `n=$(cat ${file} 2>/dev/null || echo 0); echo $((n + 1)) > ${file}; [ "$n" -lt 2 ] && exit 1; [ "$n" = 2 ]`;
    writeFileSync(file, "0\n");
    const result = await tried(node, right, once, "criterion", 3);
    expect(result).toMatchObject({
      status: "flaky",
      why: expect.stringContaining(
        "on one and the same tree it came to passed, then failed",
      ) as string,
    });

    expect(v.parse(Evidence, JSON.parse(String(blobs.get(result.evidence))))).toMatchObject({
      status: "flaky",
      repeats: expect.arrayContaining(["passed", "failed"]) as string[],
    });
  });
});

test("an expectation without which a check never ends was noticed, if it names no tests", async () => {
  const before: Tree = {
    "check.sh":
      '[ -f sum.sh ] || exit 1\nuntil [ "$(sh sum.sh 40 2)" = 42 ]; do sleep 0.02; done\n',
  };
  const change: Tree = { "sum.sh": "echo $(($1 + $2))\n" };
  /** Twenty times as quick to lose patience. */
  const clock: Clock = { ...systemClock, after: (ms, act) => systemClock.after(ms / 20, act) };
  const check: Check = {
    id: "criterion:c1",
    kind: "criterion",
    title: "it adds up",
    command: "sh check.sh",
    source: "test",
  };
  const parts = { repeatMax: 1, clock };
  const [result] = await tryOnTrees({ root, blobs, before, change, parts }, [check]);
  expect(result?.canary?.outcome).toBe("noticed");
  expect(result?.gap ?? "").not.toContain("too long");
});
