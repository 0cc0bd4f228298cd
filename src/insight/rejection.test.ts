// What a judge, a verifier or a person decided is reported as why a phase failed: who, in which
// step, when, and in which words.

import { describe, expect, test } from "vitest";
import type { Draft, Entry } from "../contracts/event.ts";
import {
  answered,
  ended,
  failed,
  handed,
  journal,
  passed,
  result,
  sent,
  started,
} from "./entries.test-support.ts";
import { createFailureLearning } from "../playbooks/roadmap/insight/learnings.ts";
import { buildPostMortem } from "./post-mortem.ts";

const hash = (n: number): string => String(n).repeat(64);
const claims: Readonly<Record<string, unknown>> = {
  [hash(1)]: {
    concerns: ["it sorts by name, the goal says by date"],
    missing_requirements: ["SORT-02"],
    failure_categories: [],
  },
  [hash(2)]: { concerns: ["it is still by name"], missing_requirements: [] },
  [hash(3)]: {
    failures: ["nothing calls sort()"],
    failure_categories: [{ failure: "nothing calls it", category: "executor_incomplete" }],
  },
};
const green = passed("checks", 1, [result("criterion", "node test.js", "passed")]);
const judged = (
  n: number,
  claim: number,
  recommendation: string,
  score: number,
): readonly Draft[] => [
  handed("judge", { recommendation, alignment_score: score }, hash(claim), n),
  passed("judge", n),
];
const reported = (...drafts: readonly Draft[]) => {
  const entries = journal(started, ...drafts);
  const post = buildPostMortem(entries, {
    phase: "1",
    name: "Sorting",
    at: "2026-03-01T10:00:00.000Z",
    claimOf: (one) => claims[one],
  });
  if (post === null) throw new Error("no post-mortem");
  const at = (find: (entry: Entry) => boolean): string => entries.find(find)?.ts ?? "";

  return { post, at, rule: createFailureLearning(post, { run_id: "run-1" }).prevention_rule };
};
const step = (attempt: string) => (entry: Entry) =>
  entry.event === "step_completed" && entry.attempt === attempt;

describe("a phase that the judge rejected", () => {
  const { post, at, rule } = reported(
    green,
    ...judged(1, 1, "rollback", 4),
    sent("judge", "undo", "judge_rejected"),
    passed("undo"),
    ended("judge_rejected"),
  );
  const when = at(step("1@1/judge#1"));

  test("names the decision, its step, its time and its words", () => {
    expect(post.root_cause).toEqual({
      category: "executor_wrong_approach",
      step: "judge",
      first_observed_at: when,
      description: `The work was rejected in the step judge at ${when}: the judge gave it 4 of 10 and recommended rollback: “it sorts by name, the goal says by date; missing: SORT-02”.`,
    });
  });

  test("says so in its timeline, where no rejecting step is told as passed", () => {
    expect(post.timeline.filter((moment) => moment.step === "judge")).toEqual([
      {
        timestamp: when,
        step: "judge",
        event: expect.stringMatching(/^Rejected: the judge gave it 4 of 10/) as string,
        status: "failure",
      },
    ]);
  });

  test("teaches it, and not that a command was red", () => {
    expect(rule).toContain(`rejected in the step judge at ${when}: the judge gave it 4 of 10`);
    expect(rule).not.toContain("red");
  });
});

test("a judge who sends the work back until nothing is left is why, first seen when first said, in the words of the last time", () => {
  const { post, at } = reported(
    green,
    ...judged(1, 1, "debug", 5),
    sent("judge", "debug"),
    passed("debug"),
    passed("checks", 2, [result("criterion", "node test.js", "passed")]),
    ...judged(2, 2, "debug", 6),
    sent("judge", "undo", "acceptance_criteria_unmet"),
    ended("acceptance_criteria_unmet"),
  );
  expect(post.root_cause).toMatchObject({
    category: "executor_wrong_approach",
    step: "judge",
    first_observed_at: at(step("1@1/judge#1")),
  });

  expect(post.root_cause.description).toContain(
    `at ${at(step("1@1/judge#2"))}: the judge gave it 6 of 10 and recommended debug: “it is still by name”`,
  );
});

test("a judge who came round is not why; the person who did not is", () => {
  const { post, at } = reported(
    green,
    ...judged(1, 1, "debug", 5),
    sent("judge", "debug"),
    passed("debug"),
    ...judged(2, 2, "proceed", 8),
    answered("fail", ["the page is empty"]),
    sent("human_check", "undo", "human_rejected"),
    ended("human_rejected"),
  );
  const when = at(({ event }) => event === "block_answered");
  expect(post.root_cause).toEqual({
    category: "executor_wrong_approach",
    step: "human_check",
    first_observed_at: when,
    description: `The work was rejected in the step human_check at ${when}: a person (operator:ann) answered fail: “the page is empty”.`,
  });
});

test("a person who names nothing is told so", () => {
  const { post } = reported(
    green,
    answered("fail"),
    sent("human_check", "undo", "human_rejected"),
    ended("human_rejected"),
  );
  expect(post.root_cause.description).toMatch(/answered fail: without naming an issue\.$/);
});

test("a verifier who does not pass it is named with its own category", () => {
  const { post } = reported(
    green,
    handed("verify", { pass: false }, hash(3)),
    passed("verify"),
    sent("verify", "undo", "acceptance_criteria_unmet"),
    ended("acceptance_criteria_unmet"),
  );
  expect(post.root_cause).toMatchObject({ category: "executor_incomplete", step: "verify" });
  expect(post.root_cause.description).toContain(
    "the verifier did not pass it: “nothing calls sort()”",
  );
});

test("a check that was red before anybody judged, and stays red, comes first", () => {
  const { post } = reported(
    failed("checks", "criterion_failed", [result("criterion", "node test.js")]),
    sent("checks", "debug"),
    ...judged(1, 1, "debug", 5),
    sent("judge", "undo", "acceptance_criteria_unmet"),
    ended("acceptance_criteria_unmet"),
  );
  expect(post.root_cause).toMatchObject({ category: "acceptance_criteria_unmet", step: "checks" });
});

test("of a step that failed for two checks, the one that was put right is not why; the other was first seen when it was first red", () => {
  const lint = (status: "passed" | "failed") => result("project", "npm run lint", status);
  const unit = (status: "passed" | "failed") => result("criterion", "node test.js", status);

  const { post, at } = reported(
    failed("checks", "x", [lint("failed"), unit("passed")]),
    failed("checks", "x", [lint("passed"), unit("failed")], 2),
    failed("checks", "x", [lint("passed"), unit("failed")], 3),
    ended("acceptance_criteria_unmet"),
  );
  expect(post.root_cause).toMatchObject({
    category: "acceptance_criteria_unmet",
    description: "The step checks failed: node test.js -> failed.",
    first_observed_at: at(
      (entry) => entry.event === "step_failed" && entry.attempt === "1@1/checks#2",
    ),
  });
});
