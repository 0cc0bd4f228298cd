import { describe, expect, test } from "vitest";
import { findExpectedSources, findReferences } from "./expected-value-sources.ts";

const among = new Set([
  "src/mul.mjs",
  "src/slow.mjs",
  "src/spec.mjs",
  "golden/out.mjs",
  "calc/mul.py",
  "calc/slow.py",
  "calc/cases.py",
  "src/point.ts",
]);
const js = (text: string): readonly string[] =>
  findExpectedSources([{ path: "test/mul.test.mjs", text }], among);
const py = (text: string): readonly string[] =>
  findExpectedSources([{ path: "tests/test_mul.py", text }], among);
const head = "import assert from 'node:assert/strict';\nimport { mul } from '../src/mul.mjs';\n";

describe("a module that a test takes nothing from but what it expects", () => {
  test.each([
    [
      "a reference",
      "import { slowMul } from '../src/slow.mjs';\ntest('x', () => { assert.equal(mul(2, 7), slowMul(2, 7)); });",
      ["src/slow.mjs"],
    ],
    [
      "a table",
      "import { spec } from '../src/spec.mjs';\ntest('x', () => { for (const [a, b, want] of spec) assert.equal(mul(a, b), want); });",
      ["src/spec.mjs"],
    ],
    [
      "a golden answer",
      "import golden from '../golden/out.mjs';\ntest('x', () => { assert.deepEqual([mul(3, 4)], golden); });",
      ["golden/out.mjs"],
    ],
    [
      "a reference of vitest's",
      "import { slowMul as slow } from '../src/slow.mjs';\nit('x', () => { expect(mul(2, 7)).toBe(slow(2, 7)); });",
      ["src/slow.mjs"],
    ],
  ])("is found: %s", (_, text, paths) => expect(js(head + text)).toEqual(paths));

  test.each([
    [
      "a reference",
      "from calc.slow import slow\n\ndef test_mul():\n    assert mul(2, 7) == slow(2, 7)\n",
      ["calc/slow.py"],
    ],
    [
      "cases",
      "from calc.cases import CASES\n\ndef test_mul():\n    for a, b, want in CASES:\n        assert mul(a, b) == want\n",
      ["calc/cases.py"],
    ],
    [
      "a module by name",
      "from calc import cases\n\ndef test_mul():\n    for a, b, want in cases:\n        assert mul(a, b) == want\n",
      ["calc/cases.py"],
    ],
  ])("is found in Python: %s", (_, text, paths) =>
    expect(py(`from calc.mul import mul\n${text}`)).toEqual(paths),
  );
});

describe("a module under test is not", () => {
  test("that is only asked", () =>
    expect(js(`${head}test('x', () => { assert.equal(mul(3, 4), 12); });`)).toEqual([]));
  test.each([
    "console.error('FAIL', mul(3, 4));",
    "t('x', () => assert.equal(mul(3, 4), 12));",
    "checkAll('x', mul);",
  ])("that a function of another name is given with a title: %s", (call) =>
    expect(js(`${head}${call}`)).toEqual([]),
  );
  test("whose answers an assertion takes apart", () =>
    expect(
      js(
        "import * as mul from '../src/mul.mjs';\ntest('x', () => assert.deepEqual({ ...mul.make(1) }, { id: 1 }));\ntest('y', () => assert.deepEqual(Object.keys(mul.make({})), ['id']));",
      ),
    ).toEqual([]));

  test("that is on both sides", () =>
    expect(
      js(
        `${head}import { Point } from '../src/point';\ntest('x', () => { assert.deepEqual(mul(new Point(1), 2), new Point(2)); });`,
      ),
    ).toEqual([]));

  test("that brings an error to be thrown", () =>
    expect(
      py(
        "import pytest\nfrom calc.mul import mul, BadNumber\n\ndef test_mul():\n    with pytest.raises(BadNumber):\n        mul('a', 1)\n",
      ),
    ).toEqual([]));

  test("that is in another file than the work's", () =>
    expect(
      js(
        `${head}import { other } from './other.mjs';\ntest('x', () => { assert.equal(mul(1, 1), other()); });`,
      ),
    ).toEqual([]));

  test("whose name stands in what is expected", () =>
    expect(
      js(
        `${head}test('x', () => { assert.equal(String(mul(1, 2)), readFileSync('snapshots/mul.snap', 'utf8')); });`,
      ),
    ).toEqual([]));

  test("that another test asks", () => {
    const compares = `${head}import { slow } from '../src/slow.mjs';\ntest('x', () => { assert.equal(mul(2, 7), slow(2, 7)); });`;
    const asks =
      "import { slow } from '../src/slow.mjs';\ntest('y', () => { assert.equal(slow(2, 7), 14); });";
    const tests = [compares, asks].map((text, index) => ({ path: `test/${index}.test.mjs`, text }));
    expect(tests.map((one) => findExpectedSources([one], among))).toEqual([["src/slow.mjs"], []]);
    expect(findExpectedSources(tests, among)).toEqual([]);
  });
});

test("functions that tests compare with are found with their file, and those they ask are not", () => {
  const files = new Set([
    "test/reference/index.js",
    "src/slug.js",
    "tests/reference.py",
    "slug.py",
  ]);

  const found = findReferences(
    [
      {
        path: "test/slug.test.js",
        text: "const { slug } = require('../src/slug');\nconst { expected } = require('./reference');\ntest('x', () => { assert.equal(slug('A'), expected('A')); });\n",
      },
      {
        path: "tests/test_slug.py",
        text: "from slug import slug\nfrom reference import expected\ndef test_one():\n    assert slug('A') == expected('A')\n",
      },
    ],
    files,
  );
  expect([...found]).toEqual([
    ["test/reference/index.js", new Set(["expected"])],
    ["tests/reference.py", new Set(["expected"])],
  ]);
});
