import * as v from "valibot";
import { expect, test } from "vitest";
import { type Event, eventNames, eventSchemas } from "../contracts/event.ts";
import { formatLiveLine, formatLogLine, describeRunEvent } from "./log-lines.ts";
import { openMilestones } from "./progress.ts";
import { checked, drafted, entryOf, hash, runView, sha } from "./run-view.test-support.ts";

const attempt = "1@1/execute#2";
const change = { from_state: "running", to_state: "paused" };
/** The smallest data of each event. */
const samples: Readonly<Record<string, object>> = {
  run_drafted: drafted(),
  preview_acknowledged: { ack: hash("3") },
  run_started: { ack: hash("3"), from_state: "draft", to_state: "running" },
  run_opened: {
    opening: 2,
    owner: { pid: 7, host: "box" },
    product: "autopilot 0.1.0",
    isolation: { level: "overlay", mechanism: "userns", enforced: [], not_enforced: [] },
  },
  journal_repaired: { cut_bytes: 12, at_byte: 3456 },
  run_paused: { ...change, detail: "tokens" },
  run_resumed: { from_state: "paused", to_state: "running", request: "r" },
  run_stopped: { from_state: "running", to_state: "stopped" },
  run_completed: {
    from_state: "running",
    to_state: "completed",
    verdict: "verified_with_gaps",
    gaps: ["c2"],
  },
  document_differed: {
    path: "_docs/state.md",
    field: "step",
    found: "3",
    kept: "4",
    because: "_docs/a.md proves it",
  },
  run_adopted: { root: "shop" },
  run_forked: {
    run: "run-2026-03-01-101500",
    at: 12,
    line: hash("3"),
    taken: { tokens: 900, calls: 1, minutes: 2, usd: 0 },
    largest: {},
    cast: { "*": { agent: "codex" } },
  },
  policy_changed: {
    path: ".autopilot/config.yaml",
    recorded: hash("1"),
    found: hash("2"),
    adopted: false,
  },
  control_requested: { request: "r", control: "pause", now: true },
  limit_raised: { request: "r", scope: "run", dimension: "tokens", to: 280_000 },
  review_noted: {
    request: "r",
    commit: sha("c"),
    notes: [{ path: "src/a.ts", line: 7, side: "new", text: "Cap this." }],
  },
  oracles_approved: { request: "r", content: "b".repeat(64) },
  tests_held: { walk: "1", step: "prove", content: "b".repeat(64), paths: ["test/a.test.js"] },
  tests_put_back: {
    attempt,
    commit: sha("c"),
    parent: sha("b"),
    tree: sha("d"),
    paths: ["test/a.test.ts"],
  },
  oracles_judged: {
    attempt,
    commit: sha("c"),
    content: "b".repeat(64),
    changes: [
      { path: "test/a.test.ts", kind: "test", how: "deleted", detail: "it is gone", allowed: null },
    ],
  },
  claims_checked: {
    attempt,
    agent: "scripted",
    role: "executor",
    claims: [
      { kind: "commit", text: "commit 1234567", verdict: "false", why: "there is no such commit" },
      { kind: "count", text: "3 tests", verdict: "true", why: "3 were counted" },
    ],
  },
  pull_request_intended: {
    tool: "gh",
    host: "github.com",
    project: "acme/shop",
    remote: "origin",
    branch: "autopilot/run-2026-01-01-120000",
    into: "main",
    commit: sha("c"),
    draft: false,
  },
  pull_request_opened: {
    number: 7,
    url: "https://github.com/acme/shop/pull/7",
    draft: false,
    commit: sha("c"),
    found: false,
  },
  pull_request_taken_up: { run: "run-2026-01-01-130000", evidence: ["check:1"] },
  pull_request_settled: { run: "run-2026-01-01-130000", commit: null, detail: "nothing changed" },
  pull_request_ended: { how: "merged" },
  evidence_received: {
    source: "https://github.com/acme/shop/pull/7",
    items: [{ key: "check:1", kind: "check", by: "ci", text: "red" }],
  },
  phases_read: { phases: [{ id: "1", name: "Parser", after: [] }] },
  artifacts_surveyed: { gone: [], proved: ["1"] },
  phase_started: { walk: "1" },
  phase_reopened: { walk: "1", visit: 2, because: "artifacts_gone" },
  phases_rewound: { walk: "3", step: "judge", to: "1" },
  phase_skipped: { walk: "2", because: "already_done" },
  phase_completed: { walk: "1" },
  phase_failed: { walk: "1", because: "judge_rejected" },
  closing_completed: { walk: "1/closing" },
  closing_failed: { walk: "1/closing" },
  step_started: {
    walk: "1",
    step: "execute",
    attempt,
    kind: "agent",
    try: 2,
    need: { tokens: 30_000, calls: 1, minutes: 5, source: "estimated" },
  },
  session_opened: { attempt, session: "s", agent: "scripted" },
  return_asked_again: { attempt, ask: 2, errors: ["pass: expected a boolean"] },
  turn_ended: {
    attempt,
    agent: "scripted",
    stop: "end_turn",
    says: {},
    said: "done",
    promised: true,
    announced_more: false,
    confidence: 0.8,
    usage: { tokens: 1500, calls: 1, minutes: 0.4, usd: 0.01, source: "reported" },
  },
  changes_applied: {
    attempt,
    commit: sha("c"),
    parent: sha("a"),
    tree: sha("d"),
    paths: ["src/a.ts"],
    not_applied: 1,
  },
  step_completed: {
    attempt,
    facts: {},
    checks: [checked("c1", "npm test", "criterion", "failed", "passed").latest],
  },
  step_failed: {
    attempt,
    facts: {},
    fingerprint: "x",
    checks: [checked("c1", "npm test", "criterion", "failed", "failed").latest],
  },
  step_interrupted: { attempt, by: "scope", paths: ["package.json"] },
  attempt_settled: {
    attempt,
    doubt: {
      kind: "agent",
      stage: "started",
      layer: "dirty",
      done: false,
      proof: false,
      often: false,
    },
    remedy: "repeat",
    why: "the turn never ended",
  },
  step_skipped: { walk: "1", step: "review" },
  step_retried: { walk: "1", step: "execute", n: 2 },
  route_taken: { walk: "1", step: "judged", to: "pick" },
  tasks_read: { attempt, waves: [[{ id: "03-01", files: [], after: [] }]], left: [] },
  task_completed: { walk: "1@1/execute#1/03-01" },
  task_failed: { walk: "1@1/execute#1/03-01" },
  task_skipped: { walk: "1@1/execute#1/03-01", because: "dependency_failed" },
  wave_completed: { walk: "1@1/execute#1/wave:1" },
  wave_failed: { walk: "1@1/execute#1/wave:1" },
  block_opened: {
    block: "block:1",
    walk: "1",
    step: "approve",
    hold: true,
    question: "Go?",
    options: { A: "yes" },
  },
  block_answered: { request: "r", block: "block:1", answer: "A" },
  circuit_breaker_opened: { because: "no_progress", cooldown_until: "2026-03-01T10:30:00.000Z" },
  circuit_breaker_closed: {},
  agent_switched: {
    role: "executor",
    from: "claude",
    to: "codex",
    player: { agent: "codex" },
    until: "2026-01-01T15:00:00.000Z",
  },
};
const all: readonly Event[] = eventNames.map((event) => {
  const made = { actor: "system", reason_code: "ok", ...samples[event], event };
  return v.parse(eventSchemas[event] as unknown as v.GenericSchema<unknown, Event>, made);
});

test("every event has its sentence, and a log of all of them reads as recorded", async () => {
  const lines = all.map((event, seq) => formatLogLine(entryOf(event, seq)));
  expect(lines.filter((line) => /undefined|null|NaN|\[object/.test(line))).toEqual([]);
  await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("../../test/golden/pages/log.txt");
});

test("a sentence is one line, whatever an agent put into it", () => {
  const opened = all.find((event) => event.event === "block_opened");
  expect(opened).toBeDefined();
  if (opened?.event !== "block_opened") return;
  expect(describeRunEvent({ ...opened, question: "Go?\n✓ verified\u001b[2J" })).toBe(
    "Question (block:1): Go? ✓ verified\\x1b[2J [A: yes]",
  );
});

test("while a run works, book-keeping is quiet and what matters bears a mark", () => {
  const milestones = openMilestones();
  const shown = all.map(
    (event, index) =>
      [event.event, milestones(entryOf(event, index), runView())[0]?.slice(0, 1) ?? null] as const,
  );
  const marks = Object.fromEntries(shown);
  expect(marks).toMatchObject({
    changes_applied: "✓",
    step_completed: "✓",
    step_failed: "✗",
    run_paused: null, // the command's last line says it
    session_opened: null,
    route_taken: null,
    phase_started: null, // there is one phase only
    phase_failed: "✗",
  });
});

test("a glimpse is one short line, and an empty one is none", () => {
  expect(formatLiveLine({ signal: "said", attempt, text: "  \n " })).toBeNull();
  expect(
    formatLiveLine({ signal: "said", attempt, text: `a\n${"b".repeat(500)}` })?.length,
  ).toBeLessThan(130);

  expect(
    formatLiveLine({ signal: "tool", attempt, title: "edit src/a.ts", status: "failed" }),
  ).toBe("  ✗ edit src/a.ts (failed)");

  expect(formatLiveLine({ signal: "checking", attempt, title: "c1", command: "npm test" })).toBe(
    "  · checking c1: npm test",
  );

  const running = { signal: "check_running", attempt, title: "npm test" } as const;
  expect(formatLiveLine({ ...running, elapsedMs: 12_400, line: " ✓ src/a.test.ts" })).toBe(
    "  · npm test, 12s: ✓ src/a.test.ts",
  );

  expect(formatLiveLine({ ...running, elapsedMs: 125_000, line: "" })).toBe("  · npm test, 2m 05s");
  expect(formatLiveLine({ signal: "usage", attempt, tokens: 1500 })).toBe(
    "  · 1,500 tokens so far in execute #2 (phase 1)",
  );
});
