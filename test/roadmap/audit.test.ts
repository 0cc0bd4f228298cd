// After the phases: what was completed is held against the specification once more; gaps are
// closed, looked at again, and land.

import { describe, expect, test } from "vitest";
import { eventsOf } from "../support/autopilot.ts";
import { git } from "../support/scratch-repository.ts";
import { longTest } from "../support/sampled.ts";
import {
  calls,
  factsOf,
  goRoadmap,
  moduleFiles,
  planOf,
  plan,
  plansOf,
  project,
  smooth,
  stepsOf,
  type Turn,
} from "./stories.ts";

const phases = [
  {
    id: "1",
    name: "Sum",
    requirements: "CALC-01, CALC-02",
    criteria: [`sum adds :: ${calls("sum", "2, 3", "5")}`],
  },
];
const [first, , ...rest] = smooth(
  "1",
  "sum",
  "(a, b) => a + b",
  `it adds :: ${calls("sum", "1, 1", "2")}`,
);
const traced = `| Requirement | Task(s) |\n|---|---|\n| CALC-01 | 01-01 |\n| CALC-02 | 01-01 |\n\n${planOf(
  [
    {
      id: "01-01",
      files: ["src/sum.js", "src/index.js"],
      verify: [`it adds :: ${calls("sum", "1, 1", "2")}`],
    },
  ],
)}`;
const worked: readonly Turn[] = [first as Turn, plan("1", traced), ...rest];
/** The phase is planned and its work is there: it is only verified and judged before the audit. */
const there = (): string =>
  project(phases, { ...plansOf(worked), ...moduleFiles("sum", "(a, b) => a + b") });

const checked = (id: string, evidence: string | null): object => ({
  requirement_id: id,
  expected: `what ${id} says`,
  actual_found: evidence === null ? "nothing of it" : "it is there",
  file_line_evidence: evidence ?? "README.md does not speak of it",
  status: evidence === null ? "gap" : "pass",
  gap_description: evidence === null ? "the README does not say how to use sum" : null,
  fix_complexity: evidence === null ? "small" : null,
});
const audit = (second: string | null, more: Partial<Turn> = {}): Turn => ({
  when: { phase: "after.self_audit", step: "audit" },
  do: [],
  returns: {
    audit_results: [
      {
        phase_id: "1",
        requirements_checked: [
          checked("CALC-01", "src/sum.js:1 -- the function"),
          checked("CALC-02", second),
        ],
      },
    ],
    aggregate: {
      total_requirements_checked: 2,
      passed_on_first_check: second === null ? 1 : 2,
      gaps_found: second === null ? 1 : 0,
      gap_details:
        second === null
          ? [
              {
                requirement_id: "CALC-02",
                phase_id: "1",
                gap_description: "no word on sum",
                fix_complexity: "small",
                suggested_fix: "write README.md",
              },
            ]
          : [],
    },
  },
  ...more,
});
const fix = (files: Readonly<Record<string, string>>): Turn => ({
  when: { phase: "after.self_audit", task: "CALC-02" },
  do: Object.entries(files).map(([path, text]) => ({ write: { path, text } })),
  returns: {
    tasks_completed: "1/1",
    evidence: [
      { task_id: "CALC-02", criteria_met: ["README.md:1 -- it is there"], commands_run: [] },
    ],
  },
});

describe.concurrent("self-audit", () => {
  test("a gap is closed under its requirement's id, seen closed by another audit, and lands", async () => {
    const folder = there();
    const { json } = await goRoadmap(folder, [
      ...worked,
      audit(null),
      fix({ "README.md": "# sum(a, b)\n" }),
      audit("README.md:1 -- how to use it"),
    ]);
    expect(json, json.message).toMatchObject({
      result: "PASS",
      state: "completed",
      verdict: "verified",
    });

    expect(stepsOf(folder, "after.self_audit")).toEqual([
      "scope passed",
      "audit passed",
      "fix passed",
      "recheck passed",
      "audit passed",
      "approve skipped",
      "land passed",
    ]);

    expect(
      eventsOf(folder, "task_completed").map(({ walk }) => String(walk).split("/").at(-1)),
    ).toContain("CALC-02");

    expect(git(folder, "show", "HEAD:README.md")).toContain("sum(a, b)");
  });

  longTest(
    "a place that is not there is no evidence, and a requirement passed over no audit: both are sent back",
    "test/roadmap/audit.test.ts › a gap is closed under its requirement's id, seen closed by another audit, and lands",
    async () => {
      const folder = there();
      const { json } = await goRoadmap(folder, [
        ...worked,
        audit("src/sum.js:99 -- nobody knows"),
        audit("src/index.js:2 -- it is exported"),
      ]);
      expect(json, json.message).toMatchObject({ state: "completed" });
      const [refused] = eventsOf(folder, "step_failed").filter(({ attempt }) =>
        String(attempt).startsWith("after.self_audit@"),
      );
      expect(refused).toMatchObject({
        detail: expect.stringMatching(
          /CALC-02 is said to be met, and src\/sum\.js:99 is not there/,
        ) as string,
      });

      expect(factsOf(folder, "after.self_audit", "audit")).toMatchObject({ gaps: 0, checked: 2 });
    },
  );

  test("a fix that breaks what was proved is taken back, and the gap remains", async () => {
    const folder = there();
    const { json } = await goRoadmap(folder, [
      ...worked,
      audit(null),
      fix({ "src/sum.js": "export const sum = () => 0;\n" }),
    ]);
    expect(json).toMatchObject({
      result: "WARN",
      state: "completed",
      verdict: "verified_with_gaps",
      gaps: expect.arrayContaining([
        "CALC-02: the README does not say how to use sum (self-audit)",
      ]) as string[],
    });

    expect(stepsOf(folder, "after.self_audit").slice(-3)).toEqual([
      "recheck failed",
      "take_back passed",
      "confirm passed",
    ]);

    expect(eventsOf(folder, "phase_completed")).toContainEqual(
      expect.objectContaining({ walk: "after.self_audit", because: "gaps_remaining" }),
    );

    expect(git(folder, "show", "HEAD:src/sum.js")).toContain("a + b");
  });
});
