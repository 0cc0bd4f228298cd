import { describe, expect, test } from "vitest";
import {
  computeComplexity,
  costConstantsDefault,
  describeCostWarning,
  estimateTokens,
} from "./roadmap-cost-formula.ts";

describe("cost", () => {
  test.each([
    ["task_tokens.simple", costConstantsDefault.task_tokens.simple, 15_000],
    ["task_tokens.medium", costConstantsDefault.task_tokens.medium, 30_000],
    ["task_tokens.complex", costConstantsDefault.task_tokens.complex, 60_000],
    ["pipeline_overhead", costConstantsDefault.pipeline_overhead, 50_000],
    ["buffer_multiplier", costConstantsDefault.buffer_multiplier, 1.2],
    ["warning_threshold_pct", costConstantsDefault.warning_threshold_pct, 80],
    ["default_estimates.protocol", costConstantsDefault.default_estimates.protocol, 150_000],
    ["default_estimates.ui", costConstantsDefault.default_estimates.ui, 250_000],
    ["default_estimates.data", costConstantsDefault.default_estimates.data, 100_000],
    ["default_estimates.mixed", costConstantsDefault.default_estimates.mixed, 200_000],
  ])("%s is the published format's", (_, ours, seed) => expect(ours).toBe(seed));

  test("with a plan: overhead and tasks, times the buffer", () =>
    expect(
      estimateTokens({
        phaseType: "ui",
        tasks: [
          { files: [], complexity: "simple" },
          { files: [], complexity: "complex" },
        ],
      }),
    ).toBe(150_000));

  test("without one: the default of its type, times the buffer", () =>
    expect(estimateTokens({ phaseType: "ui", tasks: null })).toBe(300_000));
  test.each([
    [1, "simple"],
    [2, "medium"],
    [3, "medium"],
    [4, "complex"],
  ])("a task of %d files is %s where the plan does not say", (count, word) =>
    expect(computeComplexity({ files: Array.from({ length: count }, () => "a") })).toBe(word),
  );

  test("above 80 % of the cap is warned of in the published format's words, 80 % itself is not", () => {
    expect(describeCostWarning("7", 400_000, 500_000)).toBeNull();
    expect(describeCostWarning("7", 400_001, 500_000)).toBe(
      "Phase 7 estimated at 400001 tokens (80% of budget cap).",
    );
  });
});
