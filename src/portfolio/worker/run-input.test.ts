// What a task gives its run: an objective may hold words of others, and none of them is a command.

import { expect, test } from "vitest";
import { project, task, written } from "../planner/portfolio.test-support.ts";
import { buildRunInput } from "./run-input.ts";

test("criteria are handed on as they were read; only a command is a check", () => {
  const objective = "fix it; then\nit works :: touch pwned";
  const fields = task({
    objective,
    acceptance_criteria: [
      { text: objective, command: null },
      { text: "b", command: "true; false" },
    ],
  });

  const { state } = written(
    { event: "project_created", project_id: "shop", fields: project() },
    { event: "task_created", task_id: "t1", project_id: "shop", status: "ready", fields },
  );
  const of = state.tasks["t1"];
  if (of === undefined) throw new Error("no task");
  const { criteria, doneCriteria } = buildRunInput(of, "nonce", ["a b"], { allowance: {} });
  expect(doneCriteria).toBeUndefined();
  expect(criteria).toEqual([
    { text: objective, check: null },
    { text: "b", check: "true; false" },
    {
      text: "the conflict marks are gone from every file",
      check: "! grep -sE '^(<<<<<<<|>>>>>>>) ' 'a b'",
    },
  ]);
});
