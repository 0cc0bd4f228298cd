import { expect, test } from "vitest";
import {
  block,
  checked,
  overlay,
  phases,
  runId,
  runView,
  cursor,
} from "./run-view.test-support.ts";
import { statusDetails, statusPage } from "./status-page.ts";
import { listNextActions } from "./next-actions.ts";
import { buildStatusView } from "./status.ts";

const spent = { tokens: 150_000, minutes: 12.346, calls: 40, usd: 0, estimated: 0 };
const working = runView({
  status: "running",
  reason: "run_started",
  acknowledged: true,
  isolation: overlay,
  phases: phases("completed", "open"),
  cursors: { "1": cursor("1", ["pick"]) },
  checks: {
    "criterion:c1": checked("criterion:c1", "npm test -- login", "criterion", "failed", "passed"),
  },
  ledger: { run: spent, phase: {}, largest: {} },
  seq: 17,
  updatedAt: "2026-03-01T10:20:00.000Z",
});
const blocked = runView({
  ...working,
  status: "paused",
  reason: "completion_gates_blocked",
  detail: "the login test is red",
  checks: {
    "criterion:c1": checked("criterion:c1", "npm test -- login", "criterion", "failed", "failed"),
    "project:lint": checked("project:lint", "npm run lint", "project", "passed", "failed"),
    "project:old": checked("project:old", "npm run e2e", "project", "failed", "failed"),
  },
});

test("every field the command contract promises is there", () => {
  const view = buildStatusView(working, { pid: 4711 });
  expect(Object.keys(view)).toEqual(
    expect.arrayContaining([
      "run_id",
      "state",
      "reason_code",
      "objective",
      "budget",
      "progress",
      "isolation",
      "verdict",
      "next_actions",
    ]),
  );

  expect(view.objective).toMatchObject({
    goal: "Make the login test steady",
    scope: ["src/**", "test/**"],
    completion_mode: "promise",
    max_budget: { profile: "balanced" },
  });

  expect(view.objective.done_criteria.map(({ id, proved }) => [id, proved])).toEqual([
    ["c1", true],
    ["c2", false],
  ]);

  expect(Object.keys(view.budget)).toEqual(
    expect.arrayContaining(["limits", "counters", "ratios", "warnings"]),
  );

  expect(Object.keys(view.progress)).toEqual(["completed_steps", "pending_steps", "blockers"]);
  expect(view.isolation).toEqual(overlay);
});

test("limits, counters and ratios bear the same names, and a soft limit passed is a warning", () => {
  const { budget } = buildStatusView(working, null);
  expect(budget.limits).toEqual({ tokens: 180_000, minutes: 30, calls: 180 });
  expect(budget.counters).toEqual({ tokens: 150_000, minutes: 12.35, calls: 40, usd: 0 });
  expect(budget.ratios).toEqual({ tokens: 0.8333, minutes: 0.4117, calls: 0.2222 });
  expect(budget.warnings).toEqual(["tokens: 83 % of 180,000 tokens is used (warned at 80 %)"]);
});

test("where the run stands in its journal, and how far a limit can be passed before anything is cut", () => {
  const { checkpoint, budget } = buildStatusView(working, null);
  expect(checkpoint).toMatchObject({ seq: 17, at: "2026-03-01T10:20:00.000Z" });
  expect(budget.overshoot).toBe("one turn");
  const used = { tokens: 900, minutes: 1, calls: 2, usd: 0 };
  const withTurns = (...sources: readonly ("metered" | "reported")[]) => {
    const turns = sources.map((source, at) => [`role-${at}`, { ...used, source }] as const);
    return runView({
      ...working,
      ledger: { ...working.ledger, largest: Object.fromEntries(turns) },
    });
  };
  const overshootOf = (run: typeof working) => buildStatusView(run, null).budget.overshoot;
  expect(overshootOf(withTurns("reported"))).toBe("one turn");
  expect(overshootOf(withTurns("metered", "metered"))).toBe("one request");
  expect(overshootOf(withTurns("metered", "reported"))).toBe("one turn");
  const lastLimit = (run: typeof working) =>
    statusDetails(run, null).find((line) => line.includes("can be passed"));
  expect(lastLimit(working)).toBe("  A limit can be passed by one turn at most.");
  expect(lastLimit(withTurns("metered"))).toBe("  A limit can be passed by one request at most.");
});

test("what is done and what is left: criteria first, then phases, the open one step by step", () => {
  expect(buildStatusView(working, null).progress).toEqual({
    completed_steps: [
      "criterion c1: the login test passes (proved)",
      "phase baseline (Baseline)",
      "phase 1 (Objective): pick",
    ],
    pending_steps: [
      "criterion c2: the reason is written down",
      "phase 1 (Objective): execute",
      "phase 1 (Objective): prove",
      "phase land (Land)",
    ],
    blockers: [],
  });
});

test("a check that was red before the run blocks nothing; one that was green, and a criterion tried in vain, do", () => {
  expect(buildStatusView(blocked, null).progress.blockers).toEqual([
    "completion_gates_blocked: The agent says it's done; the checks disagree. (the login test is red)",
    "the criterion check fails: npm test -- login (exit 1)",
    "a check that passed before the run fails now: npm run lint (exit 1)",
  ]);
});

test("a check of the project that nobody had looked at before a change is in the way, and is not said to be worse than before", () => {
  const lint = blocked.checks["project:lint"];
  if (lint === undefined) throw new Error(Object.keys(blocked.checks).join());
  const late = { ...lint, baseline: lint.latest, isLate: true as const };
  const { blockers } = buildStatusView(
    runView({ ...blocked, checks: { "project:lint": late } }),
    null,
  ).progress;
  expect(blockers).toContain("a check of the project fails: npm run lint (exit 1)");
  const before = { ...lint.latest, tests: { ran: 9, failed: 1, skipped: 0 } };
  const red = { ...lint, baseline: before, latest: before };
  const worse = { ...red, latest: { ...lint.latest, tests: { ran: 9, failed: 2, skipped: 0 } } };

  const reported = (check: typeof red) =>
    buildStatusView(
      runView({ ...blocked, checks: { "project:lint": check } }),
      null,
    ).progress.blockers.join();
  expect(reported(red)).not.toContain("npm run lint");
  expect(reported(worse)).toContain(
    "a check that failed before the run fails worse now: npm run lint (exit 1)",
  );
});

test("the reason follows from the state where the run has none of its own", () => {
  expect(buildStatusView(runView(), null).reason_code).toBe("run_drafted");
  expect(buildStatusView(working, { pid: 1 }).reason_code).toBe("run_in_progress");
  expect(
    buildStatusView(runView({ ...working, resting: "cycle_cap_reached" }), null).reason_code,
  ).toBe("cycle_cap_reached");

  expect(
    buildStatusView(runView({ ...working, status: "paused", reason: "a_flow_author's_own" }), null)
      .reason_code,
  ).toBe("operator_paused");
});

test("every state has a next action, and a run that is not the current one is named in it", () => {
  for (const status of ["draft", "running", "paused", "stopped", "completed"] as const) {
    expect(
      buildStatusView(runView({ ...working, status }), null).next_actions.length,
    ).toBeGreaterThan(0);
  }

  expect(listNextActions(working, { pid: 1 }, { isCurrent: false })).toEqual([
    `autopilot watch --run ${runId}`,
    `autopilot pause --run ${runId}`,
  ]);
});

const pages = {
  "status-draft": () => statusPage(runView(), null),
  "status-running": () => statusPage(working, { pid: 4711 }),
  "status-blocked": () => statusPage(blocked, null),
  "status-question": () =>
    statusPage(
      runView({
        ...working,
        status: "paused",
        reason: "approval_required",
        blocks: { "block:after.land@1/approve#1": block({ A: "merge", B: "keep the branch" }) },
      }),
      null,
    ),
  "status-completed": () =>
    statusPage(
      runView({
        ...working,
        status: "completed",
        reason: "completion_with_gaps",
        verdict: "verified_with_gaps",
        gaps: ["c2 has no check"],
        phases: phases("completed", "completed", "completed"),
      }),
      null,
    ),
};
for (const [name, page] of Object.entries(pages)) {
  test(`the page ${name} reads as recorded`, async () => {
    await expect(`${page().join("\n")}\n`).toMatchFileSnapshot(
      `../../test/golden/pages/${name}.txt`,
    );
  });
}

test("a run that nobody works on any more is interrupted: what is kept and what starts over", () => {
  const open = (stage: "started" | "turned" | "applied", kind: "agent" | "check" = "agent") =>
    ({ attempt: "1@1/execute#2", cursor: "1", step: "execute", kind, stage, need: null }) as never;
  const crashed = (of: never) => runView({ ...working, opening: 1, open: { "1@1/execute#2": of } });
  expect(buildStatusView(crashed(open("started")), null)).toMatchObject({
    state: "running",
    reason_code: "run_interrupted",
    interrupted: { open: [{ attempt: "1@1/execute#2", starts_over: true }] },
    next_actions: ["autopilot resume", "autopilot stop"],
  });

  const page = statusPage(crashed(open("started")), null);
  expect(page[0]).toBe(
    "! interrupted: autopilot ended in execute #2 (phase 1) (10:20 UTC)     run_interrupted",
  );

  expect(page).toContain(
    `  Resumes  execute #2 (phase 1): its unfinished changes are saved as a patch in .autopilot/runs/${runId}/aside, and the turn starts over`,
  );

  expect(page).toContain("  Kept     no commit yet; your checkout is untouched");
  for (const [of, startsOver] of [
    [open("turned"), false],
    [open("applied"), false],
    [open("started", "check"), true],
  ] as const) {
    expect(buildStatusView(crashed(of), null).interrupted?.open).toMatchObject([
      { starts_over: startsOver },
    ]);
  }

  expect(buildStatusView(crashed(open("started")), { pid: 4711 }).interrupted).toBe(null);
  expect(
    buildStatusView(runView({ ...working, opening: 1, resting: "cycle_cap_reached" }), null),
  ).toMatchObject({
    interrupted: null,
    reason_code: "cycle_cap_reached",
  });
});
