// A roadmap of three phases: one passes, one fails its checks, is debugged and passes, one is there
// already and is only verified.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventsOf, journal } from "../support/autopilot.ts";
import { git } from "../support/scratch-repository.ts";
import { longTest } from "../support/sampled.ts";
import {
  around,
  calls,
  debug,
  does,
  factsOf,
  goRoadmap,
  judge,
  judgeReturn,
  moduleFiles,
  plan,
  planCheck,
  planOf,
  plansOf,
  project,
  smooth,
  stepsOf,
} from "./stories.ts";

const phases = [
  { id: "1", name: "Sum", criteria: [`sum adds :: ${calls("sum", "2, 3", "5")}`] },
  {
    id: "2",
    name: "Mean",
    after: "Phase 1",
    criteria: [`mean halves :: ${calls("mean", "2, 4", "3")}`],
  },
  {
    id: "3",
    name: "Greeting",
    criteria: [`it greets :: ${calls("greet", "'Bob'", "Hello, Bob")}`],
  },
];

test("the three of them end completed, each on its own way, and land", async () => {
  const plan2 = plan(
    "2",
    planOf([
      {
        id: "02-01",
        files: ["src/mean.js", "src/index.js"],
        verify: ["it is exported :: grep -q mean src/index.js"],
      },
    ]),
  );
  const folder = project(phases, plansOf([plan2]));

  const turns = [
    ...smooth("1", "sum", "(a, b) => a + b", `it adds :: ${calls("sum", "1, 1", "2")}`),
    planCheck("2"),
    does("2", "02-01", moduleFiles("mean", "(a, b) => a + b / 2", ["sum"])),
    debug("2", { "src/mean.js": "export const mean = (a, b) => (a + b) / 2;\n" }),
    ...around("2"),
    ...around("3"),
  ];

  const { json, err } = await goRoadmap(folder, turns);
  expect(json, JSON.stringify(journal(folder).slice(-6), null, 1) + err).toMatchObject({
    result: "PASS",
    state: "completed",
    verdict: "verified",
  });

  expect(stepsOf(folder, "1")).toEqual([
    "preflight passed",
    "triage passed",
    "research passed",
    "plan passed",
    "plan_check passed",
    "execute passed",
    "checks passed",
    "verify passed",
    "judge_blind passed",
    "judge passed",
  ]);

  expect(stepsOf(folder, "2").slice(5)).toEqual([
    "execute passed",
    "checks failed",
    "debug passed",
    "checks passed",
    "verify passed",
    "judge_blind passed",
    "judge passed",
  ]);

  expect(stepsOf(folder, "3")).toEqual([
    "preflight passed",
    "triage passed",
    "checks passed",
    "verify passed",
    "judge_blind passed",
    "judge passed",
  ]);

  expect(factsOf(folder, "3", "triage")).toMatchObject({
    route: "verify_only",
    pass_ratio: 1,
    total_criteria: 1,
    criteria_source: "roadmap",
  });

  expect(factsOf(folder, "1", "triage")).toMatchObject({
    route: "full_pipeline",
    plan_exists: false,
    phase_type: "mixed",
  });

  expect(factsOf(folder, "1", "plan")["output_hash"]).toMatch(/^[0-9a-f]{64}$/);
  expect(eventsOf(folder, "phase_completed").map(({ walk }) => walk)).toEqual(
    expect.arrayContaining(["1", "2", "3"]),
  );

  expect(git(folder, "show", "HEAD:src/mean.js")).toContain("(a + b) / 2");
  expect(git(folder, "show", "HEAD:.planning/phases/1/JUDGE-REPORT.md")).toContain(
    "Independent Evidence",
  );
});

longTest(
  "the whole roadmap over a graph in which one phase fails: its dependents are skipped, the others are done, and the report adds up",
  "test/cli-roadmap/walking.test.ts › one phase passes, one fails, what depends on it is skipped: status, report and trace tell it",
  async () => {
    const graph = [
      { id: "1", name: "Greeting", isChecked: true, criteria: ["it greets"] },
      {
        id: "2",
        name: "Sum",
        after: "Phase 1",
        criteria: [`sum adds :: ${calls("sum", "2, 3", "5")}`],
      },
      {
        id: "3",
        name: "Mean",
        after: "Phase 2",
        criteria: [`mean halves :: ${calls("mean", "2, 4", "3")}`],
      },
      {
        id: "4",
        name: "Median",
        after: "Phase 3",
        criteria: [`median :: ${calls("median", "2, 4", "3")}`],
      },
      {
        id: "5",
        name: "Twice",
        after: "Phase 1",
        criteria: [`twice doubles :: ${calls("twice", "4", "8")}`],
      },
    ];
    const folder = project(graph);

    const turns = [
      ...smooth("2", "sum", "(a, b) => a + b", `it adds :: ${calls("sum", "1, 1", "2")}`).filter(
        ({ when }) => (when as { step: string }).step !== "judge",
      ),
      judge("2", { returns: judgeReturn({ recommendation: "halt", alignment_score: 2 }) }),
      ...smooth("5", "twice", "(n) => 2 * n", `it doubles :: ${calls("twice", "1", "2")}`),
    ];

    const { json } = await goRoadmap(folder, turns, ["--option", "complete=true"]);
    expect(json).toMatchObject({ result: "FAIL", reason_code: "phase_failed", state: "paused" });
    const read = eventsOf(folder, "phases_read").flatMap(
      (entry) => entry["phases"] as { id: string; skip?: string }[],
    );
    expect(read.map(({ id, skip }) => [id, skip])).toEqual([
      ["1", "already_completed"],
      ["2", undefined],
      ["3", undefined],
      ["4", undefined],
      ["5", undefined],
    ]);

    expect(eventsOf(folder, "phase_skipped").map(({ walk, because }) => [walk, because])).toEqual([
      ["3", "blocked_by_phase_2"],
      ["4", "blocked_by_phase_2"],
    ]);

    expect(eventsOf(folder, "phase_completed").map(({ walk }) => walk)).toContain("5");
    const report = JSON.parse(
      readFileSync(join(folder, ".autopilot/completion-report.json"), "utf8"),
    ) as object;
    expect(JSON.stringify(report)).toContain('"completion_percentage":40');
  },
);
