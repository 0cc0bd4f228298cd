// Tests that are added to a file of tests need no leave, as long as checks are tried out: whatever comes with them is found that way.

import { expect, test } from "vitest";
import { findProtected } from "./look-oracles.ts";
import { base, between, commit } from "./look-oracles.test-support.ts";

const path = "test/add.test.js";
const text = 'test("adds", () => {\n  assert.equal(add(1, 2), 3);\n});\n';
const more = 'test("adds more", () => {\n  assert.equal(add(2, 2), 4);\n});\n';

async function allowed(after: string, areTriedOut = true) {
  const parts = { workspace: between({ [path]: text }, { [path]: after }), protect: [], restores: false, areTriedOut };
  const { changes } = await findProtected(parts, { base, commit, scope: ["**"], approved: [] });
  return changes.map((change) => change.allowed);
}

test("tests behind, before and between those that were there may be added", async () => {
  expect(await allowed(`${text}\n${more}`)).toEqual(["added"]);
  expect(await allowed(`${more}\n${text}`)).toEqual(["added"]);
});

test("if nothing that was there is changed, left out or put to sleep", async () => {
  expect(await allowed(`${text.replace("3);", "4);")}\n${more}`)).toEqual([null]);
  expect(await allowed(more)).toEqual([null]);
  expect(await allowed(`${text}\n${more.replace("test(", "test.only(")}`)).toEqual([null]);
  expect(await allowed(`${text}\nprocess.exit(0);\n`)).toEqual([null]);
});

test("and only if checks are tried out", async () => {
  expect(await allowed(`${text}\n${more}`, false)).toEqual([null]);
});

test("new settings beside the tests may be added, if checks are tried out", async () => {
  const tests = { "tests/test_a.py": "def test_a():\n    assert 1\n" };
  const both = { ...tests, "tests/conftest.py": "import pytest\n" };
  const changes = async (areTriedOut: boolean) => {
    const parts = { workspace: between(tests, both), protect: [], restores: false, areTriedOut };
    return (await findProtected(parts, { base, commit, scope: ["**"], approved: [] })).changes.map(({ path: file, allowed: by }) => [
      file,
      by,
    ]);
  };
  expect(await changes(true)).toEqual([["tests/conftest.py", "added"]]);
  expect(await changes(false)).toEqual([["tests/conftest.py", null]]);
});
