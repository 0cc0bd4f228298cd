// Which tasks wait for a person without asking anything.

import { expect, test } from "vitest";
import { tasksForPeople } from "./for-people.ts";
import { dispatched, project, task, written } from "./portfolio.test-support.ts";

test("what nothing moves on by itself waits for a person, and says what to do", () => {
  const fields = task();
  const { state, write } = written(
    { event: "project_created", project_id: "proj-shop", fields: project() },
    ...["a", "b", "c", "d"].map((name) => ({
      event: "task_created" as const,
      task_id: `task-${name}-000001`,
      project_id: "proj-shop",
      status: "ready" as const,
      fields: name === "d" ? task({ dependencies: ["task-c-000001"] }) : fields,
    })),
  );
  expect(tasksForPeople(state)).toEqual([]);
  write(dispatched("task-a-000001", 1), {
    event: "worker_result_ingested",
    task_id: "task-a-000001",
    run_id: "run-2026-01-01-000001",
    event_nonce: "n1",
    to_status: "needs_adjustment",
    commit: null,
    proof: { criteria: 1, proved: 1, checks_attempted: [], checks_passed: [], checks_failed: [] },
    claim: null,
    summary: "its checks pass, and it handed in no result.",
    evidence: [],
    usage: { tokens: 1, usd: 0 },
  });
  write({ event: "task_status_changed", task_id: "task-c-000001", to_status: "canceled", because: "not wanted" });
  expect(tasksForPeople(state).map(({ task: { task_id }, why, commands }) => [task_id, why, commands[0]])).toEqual([
    ["task-a-000001", "it needs an adjustment: its checks pass, and it handed in no result", "autopilot portfolio retry task-a-000001"],
    ["task-d-000001", "it depends on task-c-000001, which is canceled", "autopilot portfolio edit task-d-000001 --after TASK"],
  ]);
  write({ event: "task_status_changed", task_id: "task-a-000001", to_status: "ready", because: "retry" });
  expect(tasksForPeople(state).map(({ task: { task_id } }) => task_id)).toEqual(["task-d-000001"]);
});
