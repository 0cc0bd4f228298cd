// Why a phase failed: one story for each of the ten categories and each cause, and what the
// post-mortem keeps of it.

import * as v from "valibot";
import { describe, expect, test } from "vitest";
import type { Draft } from "../contracts/event.ts";
import { PostMortem } from "../contracts/roadmap-reports.ts";
import { failureCategories } from "../contracts/roadmap-values.ts";
import {
  answered,
  applied,
  ended,
  failed,
  journal,
  passed,
  result,
  route,
  sent,
  started,
  turned,
} from "./entries.test-support.ts";
import { buildPostMortem } from "./post-mortem.ts";
import { categoryOfCause } from "./failure-cause.ts";
import { findRootCause } from "./root-cause.ts";

type Story = readonly [string, string, string, readonly Draft[]];
const scope: Draft = {
  event: "step_interrupted",
  attempt: "1@1/execute#1/01@1/do#1",
  by: "scope",
  paths: ["/etc/passwd"],
  reason_code: "scope_violation_blocked",
};
const stories: readonly Story[] = [
  [
    "the compiler is red",
    "compile",
    "compilation_failure",
    [failed("checks", "check_regressed", [result("project", "npx tsc --noEmit")])],
  ],
  [
    "the linter is red",
    "lint",
    "lint_failure",
    [failed("checks", "check_regressed", [result("project", "npm run lint")])],
  ],
  [
    "the build is red",
    "build",
    "build_failure",
    [failed("checks", "check_regressed", [result("project", "npm run build")])],
  ],
  [
    "the tests are red",
    "tests",
    "acceptance_criteria_unmet",
    [failed("checks", "check_regressed", [result("project", "npm test")])],
  ],
  [
    "a criterion does not hold",
    "criterion",
    "acceptance_criteria_unmet",
    [failed("checks", "criterion_failed", [result("criterion", "grep -c x a.md")])],
  ],
  [
    "a person says no",
    "human_rejected",
    "executor_wrong_approach",
    [passed("judge"), ended("human_rejected")],
  ],
  [
    "the verifier does not pass it, and planning anew is used up",
    "verifier_rejected",
    "acceptance_criteria_unmet",
    [
      passed("checks"),
      turned("verify", "end_turn"),
      passed("verify"),
      sent("verify", "undo", "acceptance_criteria_unmet"),
      ended("acceptance_criteria_unmet"),
    ],
  ],
  [
    "a task is claimed and not proved",
    "task_unproved",
    "executor_incomplete",
    [failed("execute#1/01@1/do", "proof_missing", [result("proof", "test -f a")])],
  ],
  [
    "the plan is rejected",
    "plan_rejected",
    "executor_wrong_approach",
    [failed("plan_check", "proof_missing")],
  ],
  [
    "the plan is rejected in words",
    "plan_rejected",
    "executor_wrong_approach",
    [passed("plan_check"), route("plan", "plan"), ended("executor_wrong_approach")],
  ],
  [
    "the replan is used up",
    "replan_used_up",
    "executor_wrong_approach",
    [route("replan", "research"), passed("judge"), ended("acceptance_criteria_unmet")],
  ],
  [
    "the judge rejects it",
    "judge_rejected",
    "executor_wrong_approach",
    [passed("judge"), ended("judge_rejected")],
  ],
  ["the scope was left", "scope", "scope_creep", [scope, ended("scope_violation_blocked")]],
  [
    "the context ran out",
    "context_limit",
    "context_exhaustion",
    [turned("research", "max_tokens"), failed("research", "proof_missing")],
  ],
  [
    "the agent says that its model took no more",
    "context_limit",
    "context_exhaustion",
    [
      {
        ...failed("plan", "agent_failed"),
        detail: "The agent ran into its model's token limit (max_tokens).",
      } as Draft,
    ],
  ],
  [
    "a locked document was changed within the phase",
    "scope",
    "scope_creep",
    [failed("checks", "spec_hash_mismatch")],
  ],
  [
    "a locked document was changed before the phase",
    "preflight",
    "coordination_failure",
    [failed("preflight", "spec_hash_mismatch")],
  ],
  [
    "something was built and never wired in",
    "criterion",
    "acceptance_criteria_unmet",
    [failed("checks", "acceptance_criteria_unmet")],
  ],
  [
    "what the verifier says it ran cannot be reproduced",
    "return_invalid",
    "coordination_failure",
    [failed("verify", "proof_missing", [result("proof", "npm test")])],
  ],
  [
    "the judge found nothing of its own",
    "return_invalid",
    "coordination_failure",
    [failed("judge", "proof_missing")],
  ],
  [
    "the agent cannot be started",
    "spawn",
    "tool_failure",
    [failed("research", "agent_unavailable")],
  ],
  [
    "a check's program is missing",
    "spawn",
    "tool_failure",
    [failed("checks", "check_regressed", [result("project", "npm test", "not_found")])],
  ],
  [
    "packages cannot be restored",
    "package_manager",
    "tool_failure",
    [failed("checks", "check_regressed", [result("restore", "npm ci")])],
  ],
  ["git refuses", "git", "tool_failure", [failed("preflight", "checkout_dirty")]],
  [
    "preflight is not clear",
    "preflight",
    "coordination_failure",
    [failed("preflight", "preflight_failed")],
  ],
  [
    "a return is invalid",
    "return_invalid",
    "coordination_failure",
    [failed("verify", "return_invalid")],
  ],
  [
    "the tasks cannot be read",
    "return_lost",
    "coordination_failure",
    [failed("execute", "tasks_invalid")],
  ],
];

describe("the first failing cause decides", () => {
  test.each(stories)("%s", (_, cause, category, drafts) => {
    const all = drafts.some(({ event }) => event === "phase_failed")
      ? drafts
      : [...drafts, ended()];
    expect(findRootCause(journal(started, ...all), "1")).toMatchObject({ cause, category });
  });

  test("each of the ten categories and each cause has its story", () => {
    expect(new Set(stories.map(([, , category]) => category))).toEqual(new Set(failureCategories));
    expect(new Set(stories.map(([, cause]) => cause))).toEqual(
      new Set(Object.keys(categoryOfCause)),
    );
  });

  test("of two that stand, the first", () => {
    const drafts = [
      failed("checks", "x", [result("project", "npm run lint")]),
      failed("verify", "return_invalid"),
      ended(),
    ];
    expect(findRootCause(journal(started, ...drafts), "1")?.category).toBe("lint_failure");
  });

  test("what was put right is not why", () => {
    const fixed = [
      failed("checks", "x", [result("project", "npm run lint")]),
      passed("checks", 2),
      failed("verify", "return_invalid"),
      ended(),
    ];
    expect(findRootCause(journal(started, ...fixed), "1")?.category).toBe("coordination_failure");
  });

  test("a task that the phase's checks proved in the end is not why", () => {
    const fixed = [
      failed("execute", "tasks_failed"),
      passed("checks"),
      failed("verify", "return_invalid"),
      ended(),
    ];
    expect(findRootCause(journal(started, ...fixed), "1")?.category).toBe("coordination_failure");
  });

  test("what fails in taking it back is not why", () => {
    const drafts = [
      passed("judge"),
      answered("fail", ["it is ugly", "and slow"]),
      sent("human_check", "undo", "human_rejected"),
      failed("undo", "merge_conflict"),
      failed("withdraw", "checkout_dirty"),
      ended("human_rejected"),
    ];
    expect(findRootCause(journal(started, ...drafts), "1")).toMatchObject({
      cause: "human_rejected",
      category: "executor_wrong_approach",
      step: "human_check",
      description: expect.stringContaining(
        "a person (operator:ann) answered fail: “it is ugly; and slow”",
      ) as string,
    });
  });

  test("an earlier visit's failure is not why", () => {
    const again: Draft = {
      event: "phase_reopened",
      walk: "1",
      visit: 2,
      because: "operator_retry",
    };
    const drafts = [
      failed("checks", "x", [result("project", "npm run lint")]),
      ended(),
      again,
      failed("verify", "return_invalid"),
      ended(),
    ];
    expect(findRootCause(journal(started, ...drafts), "1")?.category).toBe("coordination_failure");
  });

  test("a phase that has not failed has no cause", () =>
    expect(findRootCause(journal(started, passed("checks")), "1")).toBeNull());
});

describe("the post-mortem", () => {
  const lint = (status: "passed" | "failed") => result("project", "npm run lint", status);
  const criterion = (status: "passed" | "failed") => result("criterion", "grep -c x a.md", status);

  const drafts: readonly Draft[] = [
    started,
    { event: "task_completed", walk: "1@1/execute#1/01" },
    failed("checks", "criterion_failed", [criterion("failed"), lint("failed")]),
    route("debug", "debug"),
    turned("debug", "end_turn", "repaired the  linting"),
    applied("debug", 7),
    passed("debug"),
    failed("checks", "criterion_failed", [criterion("failed"), lint("passed")], 2),
    {
      event: "claims_checked",
      attempt: "1@1/debug#1",
      agent: "a",
      role: "debugger",
      claims: [{ kind: "file_line", text: "a.md:3", verdict: "false", why: "there are two lines" }],
    },
    ended("acceptance_criteria_unmet"),
  ];
  const post = buildPostMortem(journal(...drafts), {
    phase: "1",
    name: "Parser",
    at: "2026-03-01T10:00:00.000Z",
  });

  test("it is valid against the published format's schema", () =>
    expect(v.safeParse(PostMortem, post).issues).toBeUndefined());
  test("it names the phase and when it was made", () =>
    expect(post).toMatchObject({
      phase_id: "1",
      phase_name: "Parser",
      timestamp: "2026-03-01T10:00:00.000Z",
      status: "failed",
    }));

  test("the root cause says what, where and since when", () =>
    expect(post?.root_cause).toEqual({
      category: "acceptance_criteria_unmet",
      description: "The step checks failed: grep -c x a.md -> failed.",
      first_observed_at: journal(...drafts)[2]?.ts,
      step: "checks",
    }));

  test("the timeline tells what happened, in order", () =>
    expect(
      post?.timeline.map(({ step, event, status }) => `${step}: ${event} (${status})`),
    ).toEqual([
      "phase_runner: Phase started (success)",
      "execute: Task 01 completed (success)",
      "checks: checks failed: 2 of 2 checks failed (failure)",
      "judge: back to debug (debug) (partial)",
      "debug: debug passed (success)",
      "checks: checks failed (attempt 2): 1 of 2 checks failed (failure)",
      "phase_runner: Phase failed: acceptance_criteria_unmet (failure)",
    ]));

  test("the evidence is what the runner ran and looked up", () =>
    expect(post?.evidence).toEqual({
      commands_run: [
        "grep -c x a.md -> failed (exit 1) (FAIL)",
        "npm run lint -> failed (exit 1) (FAIL)",
        "npm run lint -> passed (exit 0)",
      ],
      files_checked: ["a.md:3 -- false: there are two lines"],
    }));

  test("each debug attempt says what it turned and what remained", () =>
    expect(post?.attempted_fixes).toEqual([
      {
        attempt: 1,
        description: "repaired the linting",
        commit_sha: "7".padStart(40, "0"),
        resolved: ["npm run lint"],
        remaining: ["grep -c x a.md"],
      },
    ]));

  test("a command that was only measured as still to be done is no lesson of a step that failed for another reason", () => {
    const measured = [
      started,
      passed("triage", 1, [criterion("failed")]),
      failed("research", "return_invalid"),
      ended("return_invalid"),
    ];
    const found = buildPostMortem(journal(...measured), {
      phase: "1",
      name: "Parser",
      at: "2026-03-01T10:00:00.000Z",
    });
    expect(found?.prevention_rule).toMatch(
      /: in “Parser” the step research failed: return invalid\.$/,
    );
  });

  test("what was handed back for programs is told as what was changed, in words", () => {
    const described = (said: string): string | undefined => {
      const reported = drafts.map((draft) =>
        draft.event === "turn_ended" ? turned("debug", "end_turn", said) : draft,
      );
      return buildPostMortem(journal(...reported), {
        phase: "1",
        name: "x",
        at: "2026-03-01T10:00:00.000Z",
      })?.attempted_fixes[0]?.description;
    };

    const handed = '{ "fixed": true, "changes": ["a.md -- a line more", "b.md -- one less"] }';
    expect(described(`\n\`\`\`json\n${handed}\n\`\`\`\n`)).toBe(
      "a.md -- a line more; b.md -- one less",
    );

    expect(described(handed)).toBe("a.md -- a line more; b.md -- one less");
    expect(described('I fixed it.\n```json\n{ "fixed": tr')).toBe("I fixed it.");
    expect(described('{ "fixed": tr')).toMatch(/^Debug attempt 1, which changed /);
    expect(described("Ran `npm test`, and fixed it.")).toBe("Ran `npm test`, and fixed it.");
  });

  test("a task's failure is told with the task, under the step that tasks belong to", () => {
    const task = {
      ...failed("do", "proof_missing", [criterion("failed")]),
      attempt: "1@1/execute#1/01@1/do#1",
    } as Draft;
    expect(findRootCause(journal(started, task, ended()), "1")).toMatchObject({
      category: "executor_incomplete",
      step: "execute",
      description: "Task 01 failed: grep -c x a.md -> failed.",
    });
  });

  test("the prevention rule is one or two sentences about this failure", () => {
    expect(post?.prevention_rule).toContain("Parser");
    expect(post?.prevention_rule).toContain("grep -c x a.md");
  });

  test("a long story is cut to twenty moments, the first and the cause among them", () => {
    const long = [
      started,
      failed("plan_check", "proof_missing"),
      ...Array.from({ length: 60 }, (_, n) => passed("debug", n + 1)),
      ended(),
    ];

    const { timeline = [] } =
      buildPostMortem(journal(...long), {
        phase: "1",
        name: "x",
        at: "2026-03-01T10:00:00.000Z",
      }) ?? {};
    expect(timeline).toHaveLength(20);
    expect(timeline[0]?.event).toBe("Phase started");
    expect(timeline[1]?.event).toContain("plan_check failed");
  });
});
