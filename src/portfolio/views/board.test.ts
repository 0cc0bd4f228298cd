// The board of a portfolio, on screens of every height.

import { expect, test } from "vitest";
import { plan } from "../planner/plan.ts";
import { dispatched, project, task, written } from "../planner/portfolio.test-support.ts";
import { renderBoard } from "./board.ts";

const now = "2026-01-01T01:00:00.000Z";

function scene() {
  const { state, write } = written();
  for (const name of ["shop", "site", "till"]) {
    write({
      event: "project_created",
      project_id: `proj-${name}`,
      fields: project({ name, repository: name, slots: 2 }),
    });

    for (let n = 0; n < 10; n++) {
      write({
        event: "task_created",
        task_id: `task-${name}${n}-aaaaaa`,
        project_id: `proj-${name}`,
        status: "ready",
        fields: task({
          objective: `make ${name} ${n} \u001b[31m better\nin two lines`,
          touches: [`${n}`],
        }),
      });
    }
  }

  write(dispatched("task-shop0-aaaaaa", 1), {
    event: "block_opened",
    block_id: "block-20260101T000000Z-aaaaaa",
    project_id: "proj-site",
    task_id: "task-site0-aaaaaa",
    question: "Which?",
    expected_action: "choose",
    impact: "waits",
    options: {},
    content: "c",
    asked_by: null,
  });

  return {
    state,
    planned: plan(state, { now, jobs: 2, withoutWorker: new Set(), perAgent: {}, agent: "codex" }),
  };
}

test("it fits any height, and what a person must do is seen on all but the smallest", () => {
  const { state, planned } = scene();
  for (let rows = 1; rows <= 60; rows++) {
    const lines = renderBoard(state, planned, { now, rows });
    expect(lines.length).toBeLessThanOrEqual(rows);
    for (const line of lines) expect(line).not.toMatch(/[\n\u001b]/);
    if (rows >= 2) expect(lines[1]).toContain("1 question waits for you");
  }
});

test("a ready task that a person must see to comes before those that go on by themselves", () => {
  const { state } = scene();
  const waiting = [
    { task_id: "task-shop0-aaaaaa", code: "working", because: "it works" },
    {
      task_id: "task-till3-aaaaaa",
      code: "no_repository",
      because: "its project names no repository",
    },
  ] as const;

  const lines = renderBoard(
    state,
    { actions: [], waiting: [...waiting], wakeAt: null } as unknown as Parameters<
      typeof renderBoard
    >[1],
    {
      now,
      rows: 11,
    },
  );
  expect(lines.join("\n")).toContain("its project names no repository");
  expect(lines.join("\n")).not.toContain("it works");
});

test("at 24 rows: projects, the blocked task first, what works and starts, and one line for all that wait for a slot", () => {
  const { state, planned } = scene();
  const text = renderBoard(state, planned, { now, rows: 23 }).join("\n");
  expect(text).toContain("proj-till");
  expect(text.indexOf("blocked_human")).toBeGreaterThan(0);
  expect(text.indexOf("blocked_human")).toBeLessThan(text.indexOf("running          make shop 0"));
  expect(text).toContain("starts at the next tick");
  expect(text).toContain(
    "27 tasks wait: the pool works on 2 at a time: 1 at work, 1 to start before it",
  );
});

test("what is running while no pool works is said to rest, with the command that goes on", () => {
  const { state, planned } = scene();
  const sentence = "! Nobody works on what is running: autopilot portfolio run goes on with it";
  expect(renderBoard(state, planned, { now, rows: 40, isIdle: true })).toContain(sentence);
  expect(renderBoard(state, planned, { now, rows: 40, isIdle: false })).not.toContain(sentence);
});

test("tasks that wait for different things are one line that says so, and does not give one's reason for all", () => {
  const { state } = scene();
  const waiting = ["a", "b"].map((id) => ({
    task_id: id,
    code: "dependencies" as const,
    because: `it depends on task-${id}`,
  }));

  const text = renderBoard(state, { actions: [], waiting }, { now, rows: 60 }).join("\n");
  expect(text).toContain(
    "2 tasks wait (autopilot portfolio tick --dry-run says why each does), one because: it depends on task-a",
  );
});
