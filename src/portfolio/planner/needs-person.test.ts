// Which tasks wait for a person without asking anything.

import { expect, test } from "vitest";
import { listTasksNeedingPerson } from "./needs-person.ts";
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
  expect(listTasksNeedingPerson(state)).toEqual([]);
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

  write({
    event: "task_status_changed",
    task_id: "task-c-000001",
    to_status: "canceled",
    because: "not wanted",
  });

  expect(
    listTasksNeedingPerson(state).map(({ task: { task_id }, why, commands }) => [
      task_id,
      why,
      commands[0],
    ]),
  ).toEqual([
    [
      "task-a-000001",
      "it needs an adjustment: its checks pass, and it handed in no result",
      "autopilot portfolio retry task-a-000001",
    ],
    [
      "task-d-000001",
      "it depends on task-c-000001, which is canceled",
      "autopilot portfolio edit task-d-000001 --after TASK",
    ],
  ]);

  write({
    event: "task_status_changed",
    task_id: "task-a-000001",
    to_status: "ready",
    because: "retry",
  });

  expect(listTasksNeedingPerson(state).map(({ task: { task_id } }) => task_id)).toEqual([
    "task-d-000001",
  ]);
});

test("a budget that is used up waits for a person once, whosever it is, and no more once it was raised", () => {
  const ids = ["a", "b"].map((name) => `task-${name}-000001`);
  const [now, tomorrow] = ["2026-01-01T12:00:00.000Z", "2026-01-02T00:00:01.000Z"];

  const begun = (): ReturnType<typeof written> =>
    written(
      { event: "project_created", project_id: "proj-shop", fields: project() },
      ...ids.map((task_id) => ({
        event: "task_created" as const,
        task_id,
        project_id: "proj-shop",
        status: "ready" as const,
        fields: task(),
      })),
      dispatched(ids[0] ?? "", 1),
      {
        event: "lease_lost",
        task_id: ids[0] ?? "",
        run_id: "run-2026-01-01-000001",
        because: "gone",
        usage: { tokens: 100, usd: 1 },
      },
    );

  const limit = { tokens: 100 };
  const cases = [
    [
      "portfolio",
      "--budget",
      { event: "portfolio_updated", budget: limit },
      { event: "portfolio_updated", budget: {} },
    ],
    [
      "portfolio",
      "--day-budget",
      { event: "portfolio_updated", day_budget: limit },
      { event: "portfolio_updated", day_budget: {} },
    ],
    [
      "proj-shop",
      "--budget",
      { event: "project_updated", project_id: "proj-shop", changes: { budget: limit } },
      { event: "project_updated", project_id: "proj-shop", changes: { budget: { tokens: 300 } } },
    ],
    [
      ids[0] ?? "",
      "--budget",
      { event: "task_updated", task_id: ids[0] ?? "", changes: { budget: limit } },
      { event: "task_updated", task_id: ids[0] ?? "", changes: { budget: { usd: 2 } } },
    ],
  ] as const;
  for (const [id, flag, spends, raises] of cases) {
    const { state, write } = begun();
    const day = state.tasks[ids[0] ?? ""]?.changed_at ?? "";
    const shown = (at: string) =>
      listTasksNeedingPerson(state, `${day.slice(0, 10)}${at.slice(10)}`);
    expect(shown(now)).toEqual([]);
    write(spends);
    const [first, ...more] = shown(now);
    const amount = id === ids[0] ? "16k" : "31k"; // enough for all that wait
    expect([first?.commands, more]).toEqual([
      [`autopilot portfolio edit ${id} ${flag} tokens=${amount}`],
      [],
    ]);

    expect(first?.why).toMatch(/0 of 100 tokens left|budget of 100 tokens is used up/);
    expect(first?.why.includes("1 more waits behind it")).toBe(id !== ids[0]);

    if (flag === "--day-budget") {
      expect(listTasksNeedingPerson(state, tomorrow.replace("2026-01-02", "2099-01-02"))).toEqual(
        [],
      );
    }

    write(raises);
    expect(shown(now)).toEqual([]);
  }
});
