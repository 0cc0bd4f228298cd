import { expect, test } from "vitest";
import type { CheckResult } from "../contracts/evidence.ts";
import type { Entry } from "../contracts/event.ts";
import { openMilestones } from "./progress.ts";
import { entryOf, runView } from "./run-view.test-support.ts";
import { describeRunEvent } from "./log-lines.ts";

const result = (command: string, more: Partial<CheckResult>): CheckResult => ({
  check: { id: command, kind: "project", title: command, command, source: "package.json" },
  status: "failed",
  exit_code: 1,
  duration_ms: 5,
  evidence: "0".repeat(64),
  ...more,
});

/** What is shown of the end of a step, two seconds after it began. */
function shown(kind: string, event: { readonly attempt: string }): readonly string[] {
  const milestones = openMilestones();
  const started = {
    event: "step_started",
    attempt: event.attempt,
    kind,
    try: 1,
    actor: "system",
    reason_code: "ok",
  };

  const at = (what: unknown, seq: number): Entry => entryOf(what as never, seq);
  milestones(at(started, 0), runView());
  return milestones(at(event, 1), runView());
}

test("a check that lacks its tool or a package is told apart from one that fails", () => {
  const checks = [
    result("npm run build", { status: "passed" }),
    result("npm run lint", { status: "not_found" }),
    result("npm test", {}),
    result("npm run e2e", { uninstalled: "left-pad" }),
  ];

  const event = {
    event: "step_completed",
    attempt: "before.baseline@1/measure#1",
    actor: "system",
    reason_code: "ok",
    facts: {},
    checks,
    tree: "a".repeat(40),
  } as const;
  expect(shown("run", event)).toEqual([
    "✓ Baseline  1 of 4 pass; failing: npm test (exit 1); can't run here: npm run lint, npm run e2e   10s",
  ]);

  expect(describeRunEvent(event as never)).toContain(
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
    checks: [
      result("npm run lint", { status: "not_found" }),
      result("npm test", { uninstalled: "registry.npmjs.org" }),
    ],
    tree: "a".repeat(40),
  } as const;
  expect(shown("check", event)).toEqual([
    "! Checks    0 of 2 pass; can't run here: npm run lint, npm test   10s",
  ]);

  const one = { ...event, checks: [result("npm test", { status: "passed" }), ...event.checks] };
  expect(shown("check", one)).toEqual([
    "✓ Checks    1 of 3 pass; can't run here: npm run lint, npm test   10s",
  ]);
});

test("what the work is worth is said when the run ends and not before: a later look may find a gap", () => {
  const judged = {
    event: "step_completed",
    attempt: "1@1/judged#1",
    actor: "system",
    facts: {},
    tree: "a".repeat(40),
  };

  expect(shown("run", { ...judged, reason_code: "completion_verified" } as never)).toEqual([]);
  expect(
    shown("run", { ...judged, reason_code: "completion_promise_missing" } as never),
  ).toHaveLength(1);
});
