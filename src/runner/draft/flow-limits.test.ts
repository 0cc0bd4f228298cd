import { expect, test } from "vitest";
import type { Flow } from "../../contracts/flow.ts";
import type { Objective } from "../../contracts/objective.ts";
import { computeFlowLimits } from "./flow-limits.ts";

const flow = {
  flow: "f",
  version: 1,
  phases: [],
  limits: { phase: { tokens: 500_000 } },
} as unknown as Flow;
const objective = {
  max_budget: { profile: null, soft_ratio: 0.8, limits: { tokens: 100_000, minutes: 30 } },
} as unknown as Objective;

test("a run has ten retries unless somebody says otherwise", () => {
  expect(computeFlowLimits(flow, objective, {}).run["retries"]).toBe(10);
  expect(computeFlowLimits(flow, objective, { max_total_retries_per_run: 3 }).run["retries"]).toBe(
    3,
  );
});

test("a cap of the config lowers what the objective allows, and never raises it", () => {
  expect(computeFlowLimits(flow, objective, { cost_cap_tokens_total: 50_000 }).run["tokens"]).toBe(
    50_000,
  );

  expect(
    computeFlowLimits(flow, objective, { cost_cap_tokens_total: 5_000_000 }).run["tokens"],
  ).toBe(100_000);

  expect(
    computeFlowLimits(flow, objective, { wall_clock_timeout_minutes_total: 5 }).run["minutes"],
  ).toBe(5);

  const phase = computeFlowLimits(flow, objective, {
    cost_cap_tokens_per_phase: 1_000,
    wall_clock_timeout_minutes_per_phase: 7,
  }).phase;
  expect(phase).toEqual({ tokens: 1_000, minutes: 7 });
});

test("the breaker's thresholds keep their names", () => {
  expect(
    computeFlowLimits(flow, objective, {
      no_progress_threshold: 2,
      same_error_threshold: 4,
      cooldown_minutes: 1,
    }).run,
  ).toMatchObject({
    no_progress_threshold: 2,
    same_error_threshold: 4,
    cooldown_minutes: 1,
  });
});
