// The runner applies each bug's regression test itself: one that passes shows no bug, and what the
// log says is what the runner saw.

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { git } from "../support/scratch-repository.ts";
import { longTest } from "../support/sampled.ts";
import { audit, left, log, named, shop, turn, turns } from "./audit.ts";

const project = {
  "package.json": JSON.stringify({
    name: "shop",
    type: "module",
    scripts: { test: "node --test" },
  }),
  "test/sum.test.js":
    'import test from "node:test";\nimport assert from "node:assert";\nimport { sum } from "../src/sum.js";\n\ntest("it adds", () => assert.equal(sum([1, 2]), 3));\n',
};

/** The patch that a change to these files is, made by git. */
function patchOf(folder: string, files: Readonly<Record<string, string>>): string {
  for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text);
  execFileSync("git", ["add", "-AN"], { cwd: folder });
  const patch = `${git(folder, "diff")}\n`;
  execFileSync("git", ["checkout", "-q", "--", "."], { cwd: folder });
  execFileSync("git", ["rm", "-qrf", "--cached", "--ignore-unmatch", ...Object.keys(files)], {
    cwd: folder,
  });

  execFileSync("git", ["reset", "-q"], { cwd: folder });
  execFileSync("git", ["clean", "-qfd", "src", "test"], { cwd: folder });
  return patch;
}
const testOf = (claim: string): string =>
  `import test from "node:test";\nimport assert from "node:assert";\nimport { sum } from "../src/sum.js";\n\ntest("bug", () => ${claim});\n`;

test(
  "a test that passes shows no bug; one that fails is logged by the runner, with what it printed",
  { timeout: 600_000 },
  async () => {
    const folder = shop(project);
    const empty = patchOf(folder, { "test/bug-1.test.js": testOf("assert.equal(sum([]), 0)") });
    const floats = patchOf(folder, {
      "test/bug-2.test.js": testOf("assert.equal(sum([0.1, 0.2]), 0.3)"),
    });

    const hollow = patchOf(folder, { "test/bug-2.test.js": testOf("assert.equal(sum([1]), 1)") });
    const vandal = patchOf(folder, {
      "src/sum.js": "export const sum = () => { throw new Error('Reduce of empty array'); };\n",
    });

    const fix = patchOf(folder, {
      "src/sum.js": "export const sum = (prices) => prices.reduce((a, b) => a + b, 0);\n",
    });

    expect(git(folder, "status", "--porcelain")).toBe("");
    const [one, two] = [
      "patches/BUG-001-regression-test.patch",
      "patches/BUG-002-regression-test.patch",
    ];

    const { json, out } = await audit(
      folder,
      turns({
        "3": turn("3", {
          ...left["3"],
          [one]: empty,
          [two]: hollow,
          "patches/BUG-001-fix.patch": fix,
        }),
        "5": [turn("5"), turn("5", { [two]: vandal }), turn("5", { [two]: floats })],
      }),
    );
    expect(json, out).toMatchObject({
      result: "WARN",
      state: "completed",
      verdict: "verified_with_gaps",
    });
    expect(out).toContain("only the audit's own say what is wrong (BUG-001, BUG-002)");
    const errors = named(log(folder), "error").map(({ message }) => String(message));
    expect(errors).toHaveLength(2);
    expect(errors[0]).toContain("BUG-002: the project's tests pass with its regression test");
    expect(errors[1]).toContain("BUG-002: with its regression test 0 tests pass, and 1 without it");
    const red = readFileSync(join(folder, "quality/results/BUG-002.red.log"), "utf8");
    expect(red).toContain("Written by the runner");
    expect(red).toContain("0.30000000000000004");
    expect(
      named(log(folder), "gate_check")
        .filter((line) => line["gate_name"] === "regression_tests")
        .at(-1),
    ).toMatchObject({
      verdict: "pass",
      reason: expect.stringContaining("applied 2") as string,
    });
  },
);

longTest(
  "a test that fails whatever the code does shows no bug: the verdict says so",
  "test/quality/regression-tests.test.ts › a test that passes shows no bug; one that fails is logged by the runner, with what it printed",
  async () => {
    const folder = shop(project);
    const [one, two] = [
      "patches/BUG-001-regression-test.patch",
      "patches/BUG-002-regression-test.patch",
    ];

    const liar = patchOf(folder, {
      "test/bug-1.test.js": testOf("{ console.log(sum([1])); assert.ok(false, String(sum([]))); }"),
    });

    const unloadable = patchOf(folder, { "test/bug-2.test.js": 'import "../src/never.js";\n' });
    const { json, out } = await audit(
      folder,
      turns({ "3": turn("3", { ...left["3"], [one]: liar, [two]: unloadable }) }),
    );
    expect(json, out).toMatchObject({ state: "completed", verdict: "verified_with_gaps" });
    expect(out).toContain(
      "the tests of BUG-001, BUG-002 fail, and nobody has seen that it is because of the bug",
    );
  },
);

test(
  "a test that is red because a file is missing shows no bug; a fix that names its test's input is a gap",
  { timeout: 600_000 },
  async () => {
    const folder = shop(project);
    const [one, two] = [
      "patches/BUG-001-regression-test.patch",
      "patches/BUG-002-regression-test.patch",
    ];

    const missing = patchOf(folder, {
      "test/bug-1.test.js": testOf("assert.equal(sum([1]), 1)").replace("sum.js", "sum-safe.js"),
    });

    const adding = patchOf(folder, { "src/sum-safe.js": 'export * from "./sum.js";\n' });
    const empty = patchOf(folder, { "test/bug-1.test.js": testOf("assert.equal(sum([]), 0)") });
    const fix = patchOf(folder, {
      "src/sum.js": "export const sum = (prices) => prices.reduce((a, b) => a + b, 0);\n",
    });

    const odd = patchOf(folder, {
      "test/bug-2.test.js": testOf("assert.equal(sum([2, 4, 6]), 13)"),
    });

    const special = patchOf(folder, {
      "src/sum.js":
        "export const sum = (prices) => (prices.join() === '2,4,6' ? 13 : prices.reduce((a, b) => a + b));\n",
    });

    const lie = {
      [one]: missing,
      [two]: odd,
      "patches/BUG-001-fix.patch": adding,
      "patches/BUG-002-fix.patch": special,
    };

    const { json, out } = await audit(
      folder,
      turns({
        "3": turn("3", { ...left["3"], ...lie }),
        "5": [turn("5"), turn("5", { [one]: empty, "patches/BUG-001-fix.patch": fix })],
      }),
    );

    const [error, ...others] = named(log(folder), "error").map(({ message }) => String(message));
    expect(error).toContain(
      "BUG-001: its regression test loads src/sum-safe.js, which only its fix adds",
    );

    expect(others).toEqual([]);
    expect(json, out).toMatchObject({ state: "completed", verdict: "verified_with_gaps" });
    expect(out).toContain(
      "the fix names the very input that its test asks for, so nobody has seen it mend more than that: BUG-002 ([2, 4, 6])",
    );
  },
);

longTest(
  "a patch that changes what it judges, or what judges it, is refused",
  "src/playbooks/quality/steps/regression-test-trials.test.ts › it breaks the tests that were there",
  async () => {
    const folder = shop(project);
    const [one, two] = [
      "patches/BUG-001-regression-test.patch",
      "patches/BUG-002-regression-test.patch",
    ];

    const source = "export const sum = (prices) => prices.reduce((a, b) => a + b, 0);\n";
    const real = patchOf(folder, { "test/bug-1.test.js": testOf("assert.equal(sum([]), 0)") });
    const fix = patchOf(folder, { "src/sum.js": source });

    const planted = patchOf(folder, {
      "src/sum.js":
        "export const sum = (prices) => (prices.length === 9 ? 0 : prices.reduce((a, b) => a + b));\n",
      "test/bug-2.test.js": testOf("assert.equal(sum(Array(9).fill(1)), 9)"),
    });

    const bent = patchOf(folder, {
      "src/sum.js": source,
      "test/sum.test.js": `${project["test/sum.test.js"]}test("more", () => {});\n`,
    });

    const floats = patchOf(folder, {
      "test/bug-2.test.js": testOf("assert.equal(sum([0.1, 0.2]), 0.3)"),
    });

    await audit(
      folder,
      turns({
        "3": turn("3", {
          ...left["3"],
          [one]: real,
          [two]: planted,
          "patches/BUG-001-fix.patch": bent,
        }),
        "5": [turn("5"), turn("5", { [two]: floats, "patches/BUG-001-fix.patch": fix })],
      }),
    );

    const errors = named(log(folder), "error").map(({ message }) => String(message));
    expect(errors[0]).toContain("BUG-001: its fix changes test/sum.test.js, which is to judge it");
    expect(errors[0]).toContain(
      "BUG-002: its regression test changes src/sum.js, which it is to judge",
    );

    expect(errors).toHaveLength(1);
  },
);
