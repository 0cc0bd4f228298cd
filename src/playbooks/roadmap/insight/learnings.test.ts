import { describe, expect, test } from "vitest";
import { seedPostMortem } from "../../../contracts/roadmap.test-support.ts";
import {
  createFailureLearning,
  createVerdictLearning,
  selectLearnings,
  listRechecks,
} from "./learnings.ts";

const at = "2026-02-09T16:45:52Z";

describe("learnings", () => {
  const failure = createFailureLearning(seedPostMortem, {
    run_id: "run-1",
    recheck: "grep -q trace a.md",
  });

  const verdict = createVerdictLearning(
    {
      phase_id: "6",
      phase_name: "Page",
      verdict: "issues_found",
      issues: ["wrong colour"],
      timestamp: at,
    },
    { run_id: "run-1" },
  );

  test("a failure's learning keeps the rule, its category and where it comes from", () =>
    expect(failure).toMatchObject({
      kind: "failure",
      phase_id: "5",
      category: "acceptance_criteria_unmet",
      prevention_rule: seedPostMortem.prevention_rule,
      provenance: {
        run_id: "run-1",
        recorded_at: seedPostMortem.timestamp,
        source: "phase-5-postmortem.json",
      },
    }));

  test.each([
    ["planner", 2],
    ["executor", 2],
    ["verifier", 0],
    ["judge", 0],
  ])("the role %s is told %d of two", (role, count) =>
    expect(selectLearnings(role, [failure, verdict], new Map())).toHaveLength(count),
  );

  test("a learning whose re-check no longer holds is left out", () => {
    expect(listRechecks([failure, verdict])).toEqual(["grep -q trace a.md"]);
    expect(
      selectLearnings("planner", [failure, verdict], new Map([["grep -q trace a.md", false]])),
    ).toEqual([verdict]);

    expect(
      selectLearnings("planner", [failure, verdict], new Map([["grep -q trace a.md", true]])),
    ).toEqual([verdict, failure]);
  });

  test("a prompt is no archive: the newest few, each once", () => {
    const many = Array.from({ length: 50 }, (_, n) => ({
      ...failure,
      prevention_rule: `rule ${n % 30}`,
    }));
    expect(selectLearnings("executor", many, new Map())).toHaveLength(12);
  });
});
