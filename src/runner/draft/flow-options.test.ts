// The format's eleven thresholds and the constants of an estimate, tuned by name: each is heard by
// what it is for.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Flow } from "../../contracts/flow.ts";
import type { Objective } from "../../contracts/objective.ts";
import { circuitBreakerDefaults } from "../../contracts/roadmap-values.ts";
import { isThreshold, thresholdDefaults } from "../../contracts/tunable-limits.ts";
import { breakerLimits } from "../../core/breaker.ts";
import { estimateTokens } from "../../insight/roadmap-cost-formula.ts";
import { limitDirections } from "../../project/config/limit-directions.ts";
import { readCostConstants, costConstantNames } from "../../project/config/cost-constants.ts";
import { computeFlowLimits, listUnusedLimitWarnings } from "./flow-limits.ts";
import { computeFlowOptions } from "./flow-options.ts";
import { Refusal } from "../../project/respond.ts";

const flow = {
  flow: "f",
  version: 1,
  phases: [],
  limits: {
    run: { tokens: 5_000_000, minutes: 1_440, retries: 10 },
    phase: { tokens: 500_000, minutes: 120 },
  },
  options: {
    max_debug_attempts_per_phase: { type: "count", default: 3 },
    max_replan_attempts_per_phase: { type: "count", default: 1 },
    alignment_min: { type: "number", default: 7 },
    phases: { type: "word", default: "next" },
  },
} as unknown as Flow;
const objective = {
  max_budget: { profile: null, soft_ratio: 0.8, limits: { tokens: 5_000_000, minutes: 1_440 } },
} as unknown as Objective;
const limits = (tuned: Record<string, number>, isBudgetGiven = false) =>
  computeFlowLimits(flow, objective, tuned, { isBudgetGiven });
const options = (tuned: Record<string, number>, given: Record<string, string> = {}) =>
  computeFlowOptions(flow, {
    input: { words: [], options: given },
    objective,
    confidenceFloor: 0.6,
    tuned,
  });
const thresholds = (tuned: Record<string, number>) => breakerLimits(limits(tuned).run);

/** What each of the eleven changes, read where it is used. */
const heard: Readonly<Record<string, (tuned: Record<string, number>) => unknown>> = {
  no_progress_threshold: (tuned) => thresholds(tuned).noProgressMax,
  same_error_threshold: (tuned) => thresholds(tuned).sameErrorMax,
  output_degradation_pct: (tuned) => Number(options(tuned)["alignment_min"] ?? 7) * 10,
  max_debug_attempts_per_phase: (tuned) => options(tuned)["max_debug_attempts_per_phase"] ?? 3,
  max_replan_attempts_per_phase: (tuned) => options(tuned)["max_replan_attempts_per_phase"] ?? 1,
  max_total_retries_per_run: (tuned) => limits(tuned).run["retries"],
  cooldown_minutes: (tuned) => thresholds(tuned).cooldownMinutes,
  cost_cap_tokens_per_phase: (tuned) => limits(tuned).phase["tokens"],
  cost_cap_tokens_total: (tuned) => limits(tuned).run["tokens"],
  wall_clock_timeout_minutes_per_phase: (tuned) => limits(tuned).phase["minutes"],
  wall_clock_timeout_minutes_total: (tuned) => limits(tuned).run["minutes"],
};

describe("the eleven", () => {
  test("are the published format's, each with its default and with the way that loosens it", () => {
    expect(Object.keys(heard).toSorted()).toEqual(Object.keys(circuitBreakerDefaults).toSorted());
    expect(thresholdDefaults).toEqual(circuitBreakerDefaults);
    expect(Object.keys(limitDirections).toSorted()).toEqual(Object.keys(heard).toSorted());
  });

  test.each(Object.keys(heard))("%s holds at its default, lower and higher", (name) => {
    const standard = isThreshold(name) ? thresholdDefaults[name] : 0;
    expect(heard[name]?.({})).toBe(standard);

    for (const value of [Math.floor(standard / 2), standard + 1]) {
      expect(heard[name]?.({ [name]: value })).toBe(value);
    }
  });
});

test("a budget that was given by hand is only ever lowered by a cap", () => {
  expect(limits({ cost_cap_tokens_total: 9_000_000 }, true).run["tokens"]).toBe(5_000_000);
  expect(limits({ cost_cap_tokens_total: 1_000_000 }, true).run["tokens"]).toBe(1_000_000);
});

test("what the command line says goes before a tuned limit", () =>
  expect(
    options({ max_debug_attempts_per_phase: 1 }, { max_debug_attempts_per_phase: "2" }),
  ).toMatchObject({
    max_debug_attempts_per_phase: 2,
  }));

test("documents go before tuned limits, and facts of theirs before everything", () => {
  const prepared = { options: { phases: "3", alignment_min: 8 }, facts: { spec_hash: "sha256:x" } };
  expect(
    computeFlowOptions(flow, {
      input: { words: [], options: { phases: "4" } },
      objective,
      confidenceFloor: 0.6,
      tuned: { output_degradation_pct: 60 },
      prepared,
    }),
  ).toEqual({
    phases: "4",
    alignment_min: 8,
    spec_hash: "sha256:x",
  });
});

test("a count that is no whole number is refused, by its name", () => {
  const refused = () => options({ max_debug_attempts_per_phase: 1.5 });
  expect(refused).toThrow(Refusal);
  expect(refused).toThrow(/limits\.max_debug_attempts_per_phase: found 1\.5/);
});

test("a name that nothing listens to is told, with what may have been meant", () => {
  expect(
    listUnusedLimitWarnings(flow, {
      no_progres_threshold: 3,
      buffer_multiplier: 2,
      alignment_min: 8,
    }),
  ).toEqual([
    "limits.no_progres_threshold in the config is not a known limit and has no effect. Did you mean no_progress_threshold?",
  ]);
});

test("each constant of the estimate is tuned by its name, and limits nothing", () => {
  const phase = { phaseType: "mixed", tasks: null } as const;
  const tasks = [{ files: ["a"] }, { files: ["a", "b"] }, { files: ["a", "b", "c", "d"] }];
  expect(
    estimateTokens(
      phase,
      readCostConstants({ default_estimates_mixed: 1_000, buffer_multiplier: 2 }),
    ),
  ).toBe(2_000);

  const tuned = {
    pipeline_overhead: 1,
    buffer_multiplier: 1,
    task_tokens_simple: 10,
    task_tokens_medium: 100,
    task_tokens_complex: 1_000,
  };

  expect(estimateTokens({ phaseType: "mixed", tasks }, readCostConstants(tuned))).toBe(1_111);
  for (const [name, value] of [
    ["default_estimates_ui", 5],
    ["default_estimates_data", 6],
    ["default_estimates_protocol", 7],
  ] as const) {
    expect(Object.values(readCostConstants({ [name]: value }).default_estimates)).toContain(value);
  }

  expect(readCostConstants({ warning_threshold_pct: 50 }).warning_threshold_pct).toBe(50);
  expect(limits(Object.fromEntries(costConstantNames.map((name) => [name, 1])))).toEqual(
    limits({}),
  );
});

test("every name that can be tuned stands in the documentation, with its default", () => {
  const text = readFileSync(join(import.meta.dirname, "../../../docs/FLOWS.md"), "utf8");
  for (const name of [...Object.keys(thresholdDefaults), ...costConstantNames]) {
    expect(text).toContain(`\`${name}\``);
  }

  for (const [name, value] of Object.entries(thresholdDefaults)) {
    expect(text).toMatch(new RegExp(`^\\| \`${name}\` \\| ${value.toLocaleString("en")} \\|`, "m"));
  }
});
