// A trend names what changed between two runs, and the spread of all of them.

import { describe, expect, test } from "vitest";
import { describeChanges, type RunPoint, buildRunTrend } from "./run-trend.ts";

const point = (changes: Partial<RunPoint> = {}): RunPoint => ({
  run: "run-2026-01-01-000000",
  at: "2026-01-01T00:00:00.000Z",
  flow: "objective",
  flow_hash: "f1",
  prompts: { "execute.md": "p1", "review.md": "r1" },
  agents: { executor: "claude", reviewer: "claude" },
  models: {},
  verdict: "verified",
  isDone: true,
  tokens: 1000,
  usd: 0.5,
  minutes: 4,
  ...changes,
});

describe("what changed between two runs", () => {
  test.each([
    ["nothing", {}, []],
    [
      "every agent",
      { agents: { executor: "codex", reviewer: "codex" } },
      ["agent codex, was claude"],
    ],
    [
      "one agent",
      { agents: { executor: "codex", reviewer: "claude" } },
      ["agent of executor: codex, was claude"],
    ],
    ["a model", { models: { executor: "opus" } }, ["model opus, was default"]],
    [
      "a prompt, and so the flow's hash",
      { flow_hash: "f2", prompts: { "execute.md": "p2", "review.md": "r1" } },
      ["prompt execute.md"],
    ],
    [
      "a prompt that is new",
      { flow_hash: "f2", prompts: { "execute.md": "p1", "review.md": "r1", "x.md": "x" } },
      ["prompt x.md"],
    ],
    ["the flow alone", { flow_hash: "f2" }, ["flow"]],
  ] as const)("%s", (_, changes, words) => {
    expect(describeChanges(point(), point(changes))).toEqual(words);
  });

  test("there is nothing before the first", () => {
    expect(describeChanges(null, point())).toEqual([]);
  });
});

test("the newest run against the one before, and the spread of all", () => {
  const trend = buildRunTrend([
    point(),
    point({
      tokens: 3000,
      usd: 1.5,
      minutes: 2,
      isDone: false,
      agents: { executor: "codex", reviewer: "codex" },
    }),
  ]);
  expect(trend.latest).toEqual({
    tokens: 2000,
    usd: 1,
    minutes: -2,
    changed: ["agent codex, was claude"],
  });

  expect(trend.historical).toEqual({
    total_runs: 2,
    success_rate: 0.5,
    tokens: { min: 1000, max: 3000, avg: 2000 },
    usd: { min: 0.5, max: 1.5, avg: 1 },
    minutes: { min: 2, max: 4, avg: 3 },
  });

  expect(buildRunTrend([]).historical).toMatchObject({
    total_runs: 0,
    success_rate: null,
    tokens: null,
  });

  expect(buildRunTrend([point()]).latest).toBeNull();
});
