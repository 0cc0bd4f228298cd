// What a cycle cost, run by run: money and tokens where they are known, time always, failed runs
// too.

import { expect, test } from "vitest";
import { describeCost, listCostPoints } from "./cost-curve.ts";
import { renderCycleFile } from "./cycle-file.ts";
import { foldLine, newCycle, type Cycle } from "./state.ts";

const at = (minute: number): string => `2026-05-15T14:${String(minute).padStart(2, "0")}:00Z`;
const run = (lever_state: string, from: number, to: number, spent?: object): readonly object[] => [
  { event: "benchmark_start", ts: at(from), benchmark: "a", lever_state, repeat: from },
  {
    event: "benchmark_end",
    ts: at(to),
    benchmark: "a",
    lever_state,
    repeat: from,
    recall: 0.5,
    bugs_found: [],
    bugs_missed: [],
    historical_baseline_path: "p",
    ...(spent === undefined ? {} : { spent }),
  },
];
const failed = (from: number, to: number): readonly object[] => [
  { event: "benchmark_start", ts: at(from), benchmark: "b", lever_state: "post-lever", repeat: 1 },
  {
    event: "error",
    ts: at(to),
    message: "it failed",
    recoverable: true,
    benchmark: "b",
    lever_state: "post-lever",
    repeat: 1,
    kind: "given_up",
    spent: { tokens: 500, usd: 0.5 },
  },
];
function folded(...lines: readonly (readonly object[])[]): Cycle {
  const cycle = newCycle();
  for (const line of [
    {
      event: "_index",
      ts: at(0),
      schema_version: "1",
      event_types: [],
      cycle_name: "c",
      lever_under_test: "l",
      benchmarks: ["a", "b"],
      iteration: 1,
    },
    { event: "cycle_start", ts: at(0), hypothesis: "h", noise_floor_threshold: 0.05 },
    ...lines.flat(),
  ]) {
    expect(foldLine(cycle, JSON.stringify(line))).toBeNull();
  }

  return cycle;
}

test("cost over time has every run that is over, before and after apart, and is drawn in the cycle's file", () => {
  const cycle = folded(
    run("pre-lever", 1, 3, { tokens: 1_000, usd: 1 }),
    run("post-lever", 4, 10, { tokens: 3_000, usd: 2 }),
    failed(11, 12),
    [
      {
        event: "benchmark_start",
        ts: at(13),
        benchmark: "b",
        lever_state: "post-lever",
        repeat: 2,
      },
    ],
  );
  expect(listCostPoints(cycle)).toEqual([
    { at: at(3), tokens: 1_000, usd: 1, minutes: 2 },
    { at: at(10), tokens: 4_000, usd: 3, minutes: 8 },
    { at: at(12), tokens: 4_500, usd: 3.5, minutes: 9 },
  ]);

  expect(describeCost(cycle)).toBe(
    "before $1.00, 1.0 k tokens, 2 min; after $2.50, 3.5 k tokens, 7 min",
  );

  const html = renderCycleFile(cycle);
  expect(html).toContain("Cost over time");
  expect(html).toMatch(/aria-label="\$3.50 were spent"/);
  expect(html).toMatch(/aria-label="9 min were spent"/);
  expect(html).not.toMatch(/NaN|undefined/);
});

test("a command that says nothing of money has its time; what is no sum is none", () => {
  const cycle = folded(run("pre-lever", 1, 3, { tokens: -5, usd: "much" }));
  expect(listCostPoints(cycle)).toEqual([{ at: at(3), tokens: 0, usd: 0, minutes: 2 }]);
  expect(renderCycleFile(cycle)).toMatch(/aria-label="2 min were spent"/);
  expect(renderCycleFile(folded())).toContain("No run of a benchmark has ended yet");
});
