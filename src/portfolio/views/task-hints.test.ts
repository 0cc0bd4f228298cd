// In a portfolio's folder every hint about a task's run is a command that works there.

import { expect, test } from "vitest";
import type { CommandResponse } from "../../contracts/command-response.ts";
import { dispatched, project, task, written } from "../planner/portfolio.test-support.ts";
import { toTaskResponse, listNextCommands } from "./task-hints.ts";

const id = "task-a-000001";
const reads = (text: string): string | null =>
  /^(verify|diff|transcript)\b/.exec(text)?.[1] ?? null;
const response: CommandResponse = {
  result: "PASS",
  reason_code: "ok",
  run_id: null,
  state: null,
  message: "",
  warnings: [],
  remediation: [],
};

test("reading commands name the task; what only works in the run's own copy is left out", () => {
  const page = [
    "✓ done: verified",
    "→ git merge autopilot/run-2026-01-01-000001",
    "→ autopilot verify",
    "→ autopilot diff, autopilot transcript",
    "→ after 2026-01-01T00:00:00Z: autopilot resume",
    '→ autopilot answer "…" && autopilot resume',
    "→ autopilot stop",
    "→ add a check next time: --done-criteria 'text :: command'",
    "→ see under Proof what x printed; it ran on the run's branch: git diff 123 autopilot/run-1",
    "→ autopilot transcript run-2026-01-01-000001",
  ];
  const hints = page.flatMap((line) => (line.startsWith("→ ") ? line.slice(2) : []));

  const kept = [
    `autopilot verify --run ${id}`,
    `autopilot diff --run ${id}, autopilot transcript --run ${id}`,
    "autopilot transcript run-2026-01-01-000001",
    "autopilot inbox",
  ];

  const shown = toTaskResponse(
    { ...response, page, remediation: hints, data: { next_actions: hints, files: ["→ a"] } },
    id,
    ["autopilot inbox"],
    reads,
  );
  expect(shown.page).toEqual(["✓ done: verified", ...kept.map((hint) => `→ ${hint}`)]);
  expect([shown.remediation, shown.data]).toEqual([kept, { next_actions: kept, files: ["→ a"] }]);
  expect(
    toTaskResponse({ ...response, page: ["diff --git a b"] }, id, ["autopilot inbox"], reads),
  ).toEqual({
    ...response,
    page: ["diff --git a b"],
  });
});

test("what to do about it follows from the task's state", () => {
  const { state, write } = written(
    { event: "project_created", project_id: "proj-shop", fields: project({ repository: "/shop" }) },
    {
      event: "task_created",
      task_id: id,
      project_id: "proj-shop",
      status: "ready",
      fields: task(),
    },
    dispatched(id, 1),
  );
  const ways = () => listNextCommands(state, state.tasks[id] ?? expect.unreachable("it is there"));
  expect(ways()).toEqual(["autopilot portfolio watch"]);
  write({
    event: "task_status_changed",
    task_id: id,
    to_status: "needs_adjustment",
    because: "no",
  });

  expect(ways()[0]).toBe(`autopilot portfolio retry ${id}`);
  write({ event: "task_status_changed", task_id: id, to_status: "ready", because: "again" });
  expect(ways()).toEqual(["autopilot portfolio status"]);
  write(dispatched(id, 2), {
    event: "merge_landed",
    task_id: id,
    commit: "1".repeat(40),
    target: "main",
  });

  expect(ways()).toEqual(["git -C /shop show 111111111111"]);
});
