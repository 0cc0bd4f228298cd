// What a portfolio tells people who are not looking.

import { expect, test } from "vitest";
import { dispatched, project, task, written } from "../planner/portfolio.test-support.ts";
import { findAnsweredNotices, buildPortfolioNotices } from "./portfolio-notices.ts";

const id = "task-figs-000001";
const begun = () =>
  written(
    { event: "project_created", project_id: "proj-shop", fields: project({ name: "Shop" }) },
    {
      event: "task_created",
      task_id: id,
      project_id: "proj-shop",
      status: "ready",
      fields: task({ objective: "sell figs" }),
    },
    dispatched(id, 1),
  );
const told = ({ state, entries }: ReturnType<typeof begun>) =>
  entries.slice(-1).flatMap((entry) => buildPortfolioNotices(entry, state, "/pf"));

test("a question of a portfolio is told with its answers and the command that gives one, and not after it was answered", () => {
  const made = begun();
  const block_id = "block-20260101T000000Z-000001";
  const [options, content] = [{ A: "try again" }, "start:1"];
  made.write({
    event: "block_opened",
    block_id,
    project_id: "proj-shop",
    task_id: id,
    question: "It could not be started: no such agent. Try again?",
    expected_action: "fix it, then answer A",
    impact: "it waits",
    options,
    content,
    asked_by: null,
  });

  const [notice, ...more] = told(made);
  expect(more).toEqual([]);
  expect(notice).toMatchObject({
    id: `portfolio:${block_id}`,
    kind: "needs_you",
    title: "Shop: a question waits for you",
  });

  expect(notice?.text.split("\n")).toEqual([
    "Shop: a question waits for you",
    `sell figs  (${id})`,
    "It could not be started: no such agent. Try again?",
    expect.stringContaining("A"),
    `autopilot -C /pf portfolio answer --block ${block_id} A`,
  ]);

  made.write({ event: "block_resolved", block_id, content, answer: "A" });
  const isOver = made.entries.slice(-1).map((entry) => findAnsweredNotices(entry, made.state))[0];
  expect(notice !== undefined && isOver?.(notice)).toBe(true);
});

test("a task that waits for a person is told with what to do, and not after it goes on; one that landed is done", () => {
  const made = begun();
  made.write({
    event: "worker_result_ingested",
    task_id: id,
    run_id: "run-2026-01-01-000001",
    event_nonce: "n1",
    to_status: "needs_adjustment",
    commit: null,
    proof: { criteria: 1, proved: 1, checks_attempted: [], checks_passed: [], checks_failed: [] },
    claim: null,
    summary: "verified; it handed in no result.",
    evidence: [],
    usage: { tokens: 1, usd: 0 },
  });

  const [notice, ...more] = told(made);
  expect(more).toEqual([]);
  expect(notice).toMatchObject({
    kind: "needs_you",
    next: `autopilot -C /pf portfolio retry ${id}`,
  });

  expect(notice?.text).toContain("it handed in no result");
  made.write({ event: "task_status_changed", task_id: id, to_status: "ready", because: "retry" });
  const isOver = made.entries.slice(-1).map((entry) => findAnsweredNotices(entry, made.state))[0];
  expect(notice !== undefined && isOver?.(notice)).toBe(true);
  expect(told(made)).toEqual([]);
  made.write(dispatched(id, 2), {
    event: "merge_queued",
    task_id: id,
    run_id: "run-2026-01-01-000002",
    commit: "0".repeat(40),
  });

  made.write({ event: "merge_landed", task_id: id, commit: "0".repeat(40), target: "main" });
  expect(told(made)).toMatchObject([{ kind: "ended", title: "Shop: a task is done" }]);
});

test("a landing that waits is told with what to do, and not after it went on", () => {
  const made = begun();
  made.write({
    event: "merge_queued",
    task_id: id,
    run_id: "run-2026-01-01-000001",
    commit: "0".repeat(40),
  });

  const held = {
    event: "landing_held",
    repository: "repo",
    target: "main",
    command: "git -C repo status",
  } as const;

  made.write({ ...held, because: "repo: Uncommitted changes: a.txt" });
  const [notice, ...more] = told(made);
  expect(more).toEqual([]);
  expect(notice).toMatchObject({
    kind: "needs_you",
    title: "Shop: a landing waits for you",
    next: "git -C repo status",
  });

  expect(notice?.text).toContain("Uncommitted changes: a.txt");
  made.write({ ...held, because: null });
  const isOver = made.entries.slice(-1).map((entry) => findAnsweredNotices(entry, made.state))[0];
  expect([told(made), notice !== undefined && isOver?.(notice)]).toEqual([[], true]);
});

test("a run that rests at its budget is told with the command that raises it, each time it rests, and not after it goes on", () => {
  const made = begun();
  const rest = {
    event: "worker_rested",
    task_id: id,
    run_id: "run-2026-01-01-000001",
    because: "its run has used 10 tokens",
    until: null,
    usage: { tokens: 10, usd: 0 },
    short: [{ scope: "run", dimension: "minutes", limit: 30, to: 35 }],
  } as const;

  made.write({ ...rest, short: [...rest.short] });
  const [first] = told(made);
  expect(first).toMatchObject({
    kind: "needs_you",
    title: "Shop: a budget is used up",
    next: `autopilot -C /pf budget raise minutes=+5 --run ${id}`,
  });

  made.write(dispatched(id, 1));
  const isOver = made.entries.slice(-1).map((entry) => findAnsweredNotices(entry, made.state))[0];
  expect(first !== undefined && isOver?.(first)).toBe(true);
  made.write({ ...rest, short: [...rest.short] });
  expect(told(made)[0]?.id).not.toBe(first?.id);
});
