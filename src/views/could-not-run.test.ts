import { expect, test } from "vitest";
import type { CheckResult } from "../contracts/evidence.ts";
import { milestone } from "./progress.ts";
import { sentenceOf } from "./log-lines.ts";

const result = (command: string, more: Partial<CheckResult>): CheckResult => ({
  check: { id: command, kind: "project", title: command, command, source: "package.json" },
  status: "failed",
  exit_code: 1,
  duration_ms: 5,
  evidence: "0".repeat(64),
  ...more,
});

test("a check that lacks its tool or a package is told apart from one that fails", () => {
  const checks = [
    result("npm run build", { status: "passed" }),
    result("npm run lint", { status: "not_found" }),
    result("npm test", {}),
    result("npm run e2e", { uninstalled: "left-pad" }),
  ];
  const event = {
    event: "step_completed",
    attempt: "baseline@1/measure#1",
    actor: "system",
    reason_code: "ok",
    facts: {},
    checks,
    tree: "a".repeat(40),
  } as const;
  expect(milestone(event as never, () => "run")).toBe(
    "· Measured: 1 of 4 checks passes; failing now: npm test; can't run here: npm run lint, npm run e2e.",
  );
  expect(sentenceOf(event as never)).toContain(
    "; failing: npm test (failed, 5 ms); can't run here: npm run lint (not found, 5 ms), npm run e2e (failed, 5 ms)",
  );
});

test("a step whose checks could all not run has passed nothing", () => {
  const event = {
    event: "step_completed",
    attempt: "1@1/prove#1",
    actor: "system",
    reason_code: "ok",
    facts: {},
    checks: [result("npm run lint", { status: "not_found" }), result("npm test", { uninstalled: "registry.npmjs.org" })],
    tree: "a".repeat(40),
  } as const;
  expect(milestone(event as never, () => "check")).toMatch(
    /^! Prove #1 \(phase 1\): none of 2 checks could run; can't run here: npm run lint/,
  );
  const one = { ...event, checks: [result("npm test", { status: "passed" }), ...event.checks] };
  expect(milestone(one as never, () => "check")).toMatch(/^✓ Prove #1 \(phase 1\) passed; can't run here/);
});

test("what the work is worth is said when the run ends and not before: a later look may find a gap", () => {
  const judged = { event: "step_completed", attempt: "1@1/judged#1", actor: "system", facts: {}, tree: "a".repeat(40) };
  expect(milestone({ ...judged, reason_code: "completion_verified" } as never, () => "run")).toBeNull();
  expect(milestone({ ...judged, reason_code: "completion_promise_missing" } as never, () => "run")).not.toBeNull();
});
