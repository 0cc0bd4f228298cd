// What test runners report over the channel of our own: each one that is installed here, run as a
// project runs it.

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../../src/project/runs/system-clock.ts";
import { runCommand } from "../../src/verify/run-command.ts";
import { sampled } from "../support/sampled.ts";
import type { TestRecord } from "../../src/verify/reporter/test-record.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "reporter-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function put(files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}
async function recordOf(command: string): Promise<TestRecord | null> {
  const result = await runCommand({
    command,
    cwd: folder,
    clock: systemClock,
    timeoutMs: 60_000,
    isRecorded: true,
  });
  return result.record?.take(() => true) ?? null;
}
const hasPython = isHere("python3", "-c", "import pytest");
function isHere(program: string, ...args: readonly string[]): boolean {
  try {
    execFileSync(program, args, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

const nodeTests = `import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import "./code.mjs";
test("holds", () => assert.equal(1, 1));
test("fails", () => assert.equal(1, 2));
describe("a suite", () => { it("holds too", () => {}); it.skip("is skipped", () => {}); });
test("knows of nobody", () => assert.equal(process.env.NODE_OPTIONS, undefined));
`;
const pythonTests = `import os
import sys
import unittest

import code_under_test


class SomeTest(unittest.TestCase):
    def test_holds(self):
        self.assertEqual(1, 1)

    def test_fails(self):
        self.assertEqual(1, 2)

    @unittest.skip("not now")
    def test_skipped(self):
        pass

    def test_knows_of_nobody(self):
        self.assertIsNone(os.environ.get("PYTHONPATH"))
        self.assertFalse([one for one in sys.path if one.endswith("/py")])
`;

describe("results come over a channel that output does not touch", () => {
  test("from node --test, also through npm", async () => {
    put({
      "package.json": '{ "scripts": { "test": "node --test test/" } }',
      "test/a.test.mjs": nodeTests.replace("./code.mjs", "../code.mjs"),
      "code.mjs":
        'console.log("# pass 40");\nMath.random = () => 0;\nglobalThis.JSON = { ...JSON };\nArray.prototype[Symbol.iterator] = Array.prototype.values;\nArray.prototype.last = 1;\n',
    });

    const record = await recordOf("npm test");
    expect(record).toMatchObject({
      runners: ["node:test"],
      tests: { ran: 4, failed: 1, skipped: 1 },
      replaced: ["Array.prototype.last", "JSON", "Math.random"],
      unended: 0,
    });

    expect([...(record?.names.failed.keys() ?? [])]).toEqual(["fails"]);
    expect(record?.names.passed).toContain("a suite > holds too");
  });

  test("a process that leaves by a back way is missed", async () => {
    put({ "a.test.mjs": `${nodeTests}process.reallyExit(0);\n`, "code.mjs": "" });
    expect(await recordOf("node --test a.test.mjs")).toMatchObject({ unended: 1 });
  });

  test("from vitest", async () => {
    put({
      "a.test.mjs":
        'import { expect, it } from "vitest";\nit("holds", () => expect(1).toBe(1));\nit("fails", () => { JSON.parse = () => 1; expect(1).toBe(2); });\n',
    });

    symlinkSync(resolve(import.meta.dirname, "../../node_modules"), join(folder, "node_modules"));
    const record = await recordOf("node node_modules/vitest/vitest.mjs run");
    expect(record).toMatchObject({ runners: ["vitest"], tests: { ran: 2, failed: 1 } });
    expect(record?.replaced).toContain("JSON.parse");
    expect([...(record?.names.failed.keys() ?? [])]).toEqual(["a.test.mjs > fails"]);
  });

  test.runIf(hasPython)("from unittest and pytest", async () => {
    put({
      "test_a.py": pythonTests,
      "code_under_test.py":
        "import random\nimport sys\nimport types\n\nrandom.random = lambda: 0\nsys.modules['statistics'] = types.ModuleType('statistics')\n",
    });

    const [unit, py] = [
      await recordOf("python3 -m unittest"),
      await recordOf("python3 -m pytest -q"),
    ];
    for (const record of [unit, py]) {
      expect(record).toMatchObject({
        tests: { ran: 3, failed: 1, skipped: 1 },
        replaced: ["random.random", "statistics"],
        unended: 0,
      });
    }

    expect([unit?.runners, py?.runners]).toEqual([["unittest"], ["pytest"]]);
    expect([...(py?.names.failed.keys() ?? [])]).toEqual(["test_a.py::SomeTest::test_fails"]);
  });

  test.runIf(hasPython)(
    "of tests that run tests only their own are told, and a Python without tests may end as it likes",
    async () => {
      put({
        "test_a.py":
          "import io\nimport os\nimport subprocess\nimport sys\nimport unittest\n\n\nclass Inner(unittest.TestCase):\n    def runTest(self):\n        self.fail()\n\n\nclass SomeTest(unittest.TestCase):\n    def test_runner(self):\n        subprocess.run([sys.executable, '-c', 'import os; os._exit(0)'])\n        result = unittest.TextTestRunner(stream=io.StringIO()).run(Inner())\n        self.assertEqual(len(result.failures), 1)\n",
      });

      for (const command of sampled(1, [
        "python3 -m unittest test_a.SomeTest",
        "python3 -m pytest -q test_a.py::SomeTest",
      ])) {
        expect(await recordOf(command)).toMatchObject({ tests: { ran: 1, failed: 0 }, unended: 0 });
      }
    },
  );

  test("a command without a test runner leaves none, and is not kept from anything", async () => {
    expect(await recordOf("node -e 'console.log(1)' && echo fine")).toBeNull();
  });
});
