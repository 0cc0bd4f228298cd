import { expect, test } from "vitest";
import type { Event } from "../contracts/event.ts";
import { reportDetails, reportPage } from "./report-page.ts";
import { buildReportView } from "./report.ts";
import {
  checked,
  drafted,
  entryOf,
  hash,
  overlay,
  phases,
  runView,
  sha,
  cursor,
} from "./run-view.test-support.ts";

const attempt = "1@1/execute#1";
const usage = { tokens: 1500, calls: 1, minutes: 0.4, source: "reported" as const };
const story: readonly Event[] = [
  drafted(),
  {
    event: "preview_acknowledged",
    actor: "operator:kim",
    reason_code: "ack_recorded",
    ack: hash("3"),
  },
  {
    event: "run_started",
    actor: "operator:kim",
    reason_code: "run_started",
    ack: hash("3"),
    from_state: "draft",
    to_state: "running",
  },
  {
    event: "run_opened",
    actor: "system",
    reason_code: "ok",
    opening: 1,
    owner: { pid: 7, host: "box" },
    product: "autopilot 0.1.0",
    isolation: { ...overlay, level: "clone", not_enforced: ["writes outside"] },
  },
  {
    event: "step_interrupted",
    actor: "system",
    reason_code: "scope_violation_blocked",
    attempt,
    by: "scope",
    paths: ["package.json"],
    detail: "outside the scope",
  },
  {
    event: "turn_ended",
    actor: "agent:scripted",
    reason_code: "ok",
    attempt,
    agent: "scripted",
    stop: "end_turn",
    says: {},
    said: "All green, trust me.\n\u001b]52;c;ZXZpbA==\u0007 <promise>DONE</promise>",
    promised: true,
    announced_more: false,
    confidence: 0.9,
    usage,
  },
  {
    event: "changes_applied",
    actor: "system",
    reason_code: "ok",
    attempt,
    commit: sha("c"),
    parent: sha("a"),
    tree: sha("d"),
    paths: ["src/login.ts"],
    not_applied: 0,
  },
  {
    event: "run_paused",
    actor: "system",
    reason_code: "budget_threshold_reached",
    from_state: "running",
    to_state: "paused",
    detail: "tokens",
  },
  {
    event: "limit_raised",
    actor: "operator:kim",
    reason_code: "limit_raised",
    request: "r1",
    scope: "run",
    dimension: "tokens",
    to: 280_000,
    detail: "nearly there",
  },
  {
    event: "step_failed",
    actor: "system",
    reason_code: "checkout_dirty",
    attempt: "after.land@1/merge#1",
    facts: {},
    fingerprint: "land",
    detail: "2 files",
  },
];
const entries = story.map((event, seq) => entryOf(event, seq));
const run = runView({
  status: "paused",
  reason: "completion_gates_blocked",
  acknowledged: true,
  isolation: overlay,
  phases: phases("completed", "open"),
  cursors: { "1": cursor("1", ["pick"]) },
  checks: {
    "criterion:c1": checked("criterion:c1", "npm test -- login", "criterion", "failed", "failed"),
  },
  ledger: {
    run: { tokens: 1500, minutes: 0.4, calls: 1, usd: 0.02, estimated: 0 },
    phase: {},
    largest: {},
  },
});

test("every field the command contract promises is there", () => {
  const view = buildReportView(run, entries);
  expect(Object.keys(view)).toEqual(
    expect.arrayContaining([
      "run_id",
      "state",
      "summary",
      "decisions",
      "blockers",
      "recommendations",
      "evidence",
      "changes",
      "cost",
      "verdict",
    ]),
  );

  expect(view.changes).toEqual({
    files: 1,
    insertions: null,
    deletions: null,
    commits: [{ sha: sha("c"), subject: "execute #1 (phase 1)" }],
  });

  expect(view.cost).toEqual({ tokens: 1500, usd: 0.02, minutes: 0.4, calls: 1, estimated: 0 });
  expect(view.recommendations.length).toBeGreaterThan(0);
});

test("decisions are drawn from the journal: guardrails, trade-offs, and what people chose", () => {
  expect(
    buildReportView(run, entries).decisions.map(
      ({ kind, reason_code }) => `${kind} ${reason_code}`,
    ),
  ).toEqual([
    "operator ack_recorded",
    "trade_off ok",
    "guardrail scope_violation_blocked",
    "guardrail budget_threshold_reached",
    "operator limit_raised",
    "trade_off checkout_dirty",
  ]);
});

test("proof and claim stand apart, and the claim cannot steer the terminal", () => {
  const view = buildReportView(run, entries, {
    excerpts: { [hash("5")]: "1 failing\n  expected 200, got 500" },
  });
  const page = reportPage(view);
  const proof = page.indexOf("Proof (run by autopilot)");
  const claims = page.indexOf("Agent's word (not proof)");
  expect(proof).toBeGreaterThan(0);
  expect(claims).toBeGreaterThan(proof);
  expect(page.slice(proof, claims).join("\n")).toContain("expected 200, got 500");
  expect(page.slice(claims).join("\n")).toContain("\\x1b]52;c;");
  expect(page.join("")).not.toContain("\u001b");
});

test("the page reads as recorded", async () => {
  const changes = {
    files: 1,
    insertions: 12,
    deletions: 3,
    commits: [{ sha: sha("c"), subject: "execute: make the login test steady" }],
  };

  const page = reportPage(
    buildReportView(run, entries, {
      changes,
      excerpts: { [hash("5")]: "1 failing\n  expected 200, got 500" },
    }),
  );

  await expect(`${page.join("\n")}\n`).toMatchFileSnapshot(
    "../../test/golden/pages/report-paused.txt",
  );
});

test("a verified run's page reads as recorded", async () => {
  const proved = {
    "criterion:c1": checked("criterion:c1", "npm test -- login", "criterion", "failed", "passed"),
  };

  const done = runView({
    ...run,
    status: "completed",
    reason: "completion_verified",
    verdict: "verified",
    checks: proved,
    phases: phases("completed", "completed", "completed"),
  });

  await expect(
    `${reportPage(buildReportView(done, entries.slice(0, 7))).join("\n")}\n`,
  ).toMatchFileSnapshot("../../test/golden/pages/report-verified.txt");
});

test("what a person should look at has a section of its own", () => {
  const look = [{ path: ".github/workflows/a.yml", what: "is run by a build server" }];
  const looked = runView({ ...run, oracles: { content: hash("5"), changes: [], look } });
  const page = reportPage(buildReportView(looked, entries)).join("\n");
  expect(page).toContain("Look at this\n  · .github/workflows/a.yml: it is run by a build server");
});

test("with -v every commit and every decision is listed", () => {
  const view = buildReportView(run, entries);
  const [decision] = view.decisions;

  const many = {
    ...view,
    changes: {
      ...view.changes,
      commits: Array.from({ length: 30 }, (_, index) => ({
        sha: "a".repeat(40),
        subject: `commit ${index}`,
      })),
    },
    decisions: Array.from({ length: 40 }, () => decision).filter((item) => item !== undefined),
  };
  const details = reportDetails(many).join("\n");
  expect(details).toContain("commit 29");
  expect(details).not.toMatch(/… \d+/);
});

test("a goal that is a whole prompt is cut to one line of the page, and whole with -v", () => {
  const view = {
    ...buildReportView(run, entries),
    goal: `Fix the cart. ${"Mind the cents. ".repeat(20)}\nAnd the tax.`,
  };
  const line = reportPage(view).find((text) => text.includes("Goal")) ?? "";
  expect(line).toMatch(/Fix the cart\. .*…$/);
  expect(line.length).toBeLessThan(110);
  expect(reportDetails(view).join("\n")).toContain("And the tax.");
});
