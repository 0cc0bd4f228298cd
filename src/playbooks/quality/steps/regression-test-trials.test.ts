// When a regression test shows its bug, from what the runner's own tries of it came to.

import { describe, expect, test } from "vitest";
import type { CheckResult, TestTally } from "../../../contracts/evidence.ts";
import { whyNotShown } from "./regression-test-trials.ts";

const result = (id: string, more: Partial<CheckResult>): CheckResult => ({
  check: { id: `bug:${id}`, kind: "proof", title: id, command: "npm test", source: "the audit" },
  status: "failed",
  exit_code: 1,
  duration_ms: 1,
  evidence: "a".repeat(64),
  ...more,
});
const passed = { status: "passed", exit_code: 0 } as const;
const tests = (ran: number, failed: number, skipped = 0): TestTally => ({ ran, failed, skipped });
const before = tests(5, 0);

describe("a bug is shown", () => {
  test.each<[string, readonly CheckResult[], TestTally | undefined]>([
    ["the new test fails, every other passes", [result("BUG-1", { tests: tests(6, 1) })], before],
    [
      "skipped tests beside it count as neither",
      [result("BUG-1", { tests: tests(6, 1, 2) })],
      before,
    ],
    ["tests are not counted here", [result("BUG-1", {})], undefined],
    [
      "and passes with the fix",
      [result("BUG-1", { tests: tests(6, 1) }), result("BUG-1:fixed", passed)],
      before,
    ],
  ])("%s", (_what, results, tally) => expect(whyNotShown("BUG-1", results, tally)).toBeNull());
});

describe("a bug is not shown", () => {
  test.each<[string, readonly CheckResult[], RegExp]>([
    ["nothing was tried", [], /could not be run \(not tried\)/],
    [
      "it took too long",
      [result("BUG-1", { status: "timed_out", exit_code: null })],
      /could not be run \(timed_out\)/,
    ],
    ["the tests pass", [result("BUG-1", passed)], /shows no bug/],
    [
      "the patch does not apply",
      [result("BUG-1", { exit_code: 87 })],
      /BUG-1-regression-test\.patch does not apply/,
    ],
    [
      "it breaks the tests that were there",
      [result("BUG-1", { tests: tests(5, 5) })],
      /0 tests pass, and 5 without it/,
    ],
    [
      "it fails with the fix too",
      [result("BUG-1", {}), result("BUG-1:fixed", {})],
      /fails with its fix as well/,
    ],
    [
      "the fix does not apply",
      [result("BUG-1", {}), result("BUG-1:fixed", { exit_code: 87 })],
      /BUG-1-fix\.patch does not apply/,
    ],
  ])("%s", (_what, results, why) => expect(whyNotShown("BUG-1", results, before)).toMatch(why));
});
