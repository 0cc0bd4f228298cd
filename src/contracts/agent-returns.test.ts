// What the roadmap's agents hand back, field by field: each is required, each word is of its list.

import { toJsonSchema } from "@valibot/to-json-schema";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { roadmapReturns } from "./agent-returns.ts";
import { failureCategories } from "./roadmap-values.ts";

const category = { failure: "2 criteria fail", category: "acceptance_criteria_unmet" };
const examples = {
  preflight: {
    all_clear: true,
    spec_hash_match: true,
    working_tree_clean: true,
    dependencies_met: true,
    unresolved_debug: [],
    issues: [],
  },
  triage: {
    routing: "verify_only",
    pass_ratio: 0.9,
    likely_implemented: true,
    criteria_checked: 10,
    criteria_passed: 9,
    note: "nearly done",
  },
  research: {
    key_findings: ["one"],
    recommended_approach: "so",
    risks: ["none"],
    open_questions: [],
  },
  plan: {
    plans_created: 3,
    waves: 2,
    total_tasks: 6,
    complexity: "medium",
    dependencies: [],
    concerns: [],
  },
  plan_check: {
    pass: false,
    issues: ["plain", { severity: "blocker", description: "no command", fix_hint: "add one" }],
    confidence: 9,
    blocker_count: 1,
    warning_count: 0,
  },
  execute: {
    tasks_completed: "2/2",
    tasks_failed: "0/2",
    commit_shas: ["abc1234"],
    evidence: [
      {
        task_id: "03-01",
        criteria_met: ["c -- a.ts:1 -- there"],
        commands_run: ["npm test -> passed"],
      },
    ],
    deviations: [],
  },
  verify: {
    pass: true,
    automated_checks: { compile: { status: "pass", detail: "" }, lint: true, build: "n/a" },
    criteria_results: [{ criterion: "c", status: "verified", evidence: "a.ts:1" }],
    alignment_score: 8,
    verification_duration_seconds: 140,
    commands_run: ["npm test -> passed"],
    failures: [],
    failure_categories: [category],
    scope_creep: [],
  },
  judge: {
    alignment_score: 8,
    recommendation: "proceed",
    concerns: ["no timeout"],
    independent_evidence: ["a.ts:1 -- there"],
    verifier_agreement: true,
    verifier_missed: [],
    scope_creep: [],
    missing_requirements: [],
    notes: "",
  },
  debug: {
    fixed: false,
    changes: ["a.ts"],
    commits: ["abc1234"],
    remaining_issues: ["one"],
    failure_categories: [category, "lint_failure"],
  },
  self_audit: {
    audit_results: [
      {
        phase_id: "5",
        requirements_checked: [
          {
            requirement_id: "OBSV-02",
            expected: "traces are aggregated",
            actual_found: "they are not",
            file_line_evidence: "a.md:1 -- nothing",
            status: "gap",
            gap_description: "no aggregation",
            fix_complexity: "small",
          },
        ],
      },
    ],
    aggregate: {
      total_requirements_checked: 1,
      passed_on_first_check: 0,
      gaps_found: 1,
      gap_details: [
        {
          requirement_id: "OBSV-02",
          phase_id: "5",
          gap_description: "no aggregation",
          fix_complexity: "small",
          suggested_fix: "add it",
        },
      ],
    },
  },
} as const satisfies Record<keyof typeof roadmapReturns, object>;

const fits = (name: keyof typeof roadmapReturns, value: unknown): boolean =>
  v.safeParse(roadmapReturns[name], value).success;

describe.each(Object.keys(examples) as (keyof typeof examples)[])("the return %s", (name) => {
  const example: Readonly<Record<string, unknown>> = examples[name];
  test(`a whole ${name} return is taken`, () =>
    expect(v.safeParse(roadmapReturns[name], example).issues).toBeUndefined());
  test.each(Object.keys(example))(`${name}.%s must be there, of its kind`, (field) => {
    const { [field]: _gone, ...rest } = example;
    expect(fits(name, rest)).toBe(false);
    expect(fits(name, { ...example, [field]: { of: "another kind" } })).toBe(false);
  });

  test(`${name} says of every field what it is for`, () => {
    const drawn = toJsonSchema(roadmapReturns[name], { errorMode: "throw" }) as {
      properties: Record<string, { description?: string }>;
    };
    const silent = Object.entries(drawn.properties).filter(
      ([field, { description }]) => description === undefined && field !== "aggregate",
    );
    expect(silent.map(([field]) => field)).toEqual([]);
  });
});

const words = [
  ["plan", "complexity", ["simple", "medium", "complex"]],
  ["judge", "recommendation", ["proceed", "debug", "rollback", "halt"]],
  ["triage", "routing", ["full_pipeline", "verify_only"]],
] as const;
test.each(words)("%s.%s takes its own words only", (name, field, all) => {
  for (const word of all) expect(fits(name, { ...examples[name], [field]: word })).toBe(true);
  expect(fits(name, { ...examples[name], [field]: "invented" })).toBe(false);
});
test.each(failureCategories)("%s is a failure category of verifier and debugger", (one) => {
  expect(
    fits("verify", { ...examples.verify, failure_categories: [{ failure: "x", category: one }] }),
  ).toBe(true);

  expect(fits("debug", { ...examples.debug, failure_categories: [one] })).toBe(true);
  expect(
    fits("verify", {
      ...examples.verify,
      failure_categories: [{ failure: "x", category: `${one}_` }],
    }),
  ).toBe(false);
});
test.each([0, 11, "8"])("a score of %j is none", (score) => {
  expect(fits("verify", { ...examples.verify, alignment_score: score })).toBe(false);
  expect(fits("judge", { ...examples.judge, alignment_score: score })).toBe(false);
  expect(fits("plan_check", { ...examples.plan_check, confidence: score })).toBe(false);
});
test("a judge who says proceed needs no concern", () =>
  expect(fits("judge", { ...examples.judge, concerns: [] })).toBe(true));
test("N/M is two numbers", () =>
  expect(fits("execute", { ...examples.execute, tasks_completed: "all" })).toBe(false));
