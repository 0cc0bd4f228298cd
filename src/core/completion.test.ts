import { describe, expect, test } from "vitest";
import type { Check, CheckStatus } from "../contracts/evidence.ts";
import { check, result } from "../../test/simulation/support/tape.ts";
import { type CompletionInput, judgeChecks, judgeCompletion } from "./completion.ts";

describe("checks against what they came to before the run", () => {
  const cases: readonly [
    Check["kind"],
    CheckStatus | null,
    CheckStatus,
    "passed" | "failing" | "regressed" | "redBefore",
  ][] = [
    ["criterion", "failed", "passed", "passed"],
    ["criterion", "failed", "failed", "failing"],
    ["criterion", "passed", "failed", "failing"],
    ["criterion", null, "not_runnable", "failing"],
    ["project", "passed", "passed", "passed"],
    ["project", "passed", "failed", "regressed"],
    ["project", "passed", "timed_out", "regressed"],
    ["project", "failed", "failed", "redBefore"],
    ["project", "not_found", "not_found", "redBefore"],
    ["project", "failed", "passed", "passed"],
    ["project", null, "failed", "failing"],
    ["red_green", "failed", "passed", "passed"],
    ["red_green", "passed", "passed", "failing"],
    ["red_green", null, "passed", "failing"],
    ["red_green", "failed", "failed", "failing"],
    ["holdout", null, "passed", "passed"],
    ["holdout", "failed", "failed", "failing"],
    ["criterion", "failed", "flaky", "failing"],
    ["project", "passed", "flaky", "regressed"],
    ["project", "flaky", "failed", "redBefore"],
    ["red_green", "flaky", "passed", "failing"],
  ];
  for (const [kind, before, now, standing] of cases) {
    test(`${kind}: ${before ?? "unknown"} before, ${now} now: ${standing}`, () => {
      const one = check("x", kind);
      const judged = judgeChecks(
        [result(one, now)],
        before === null ? {} : { x: { baseline: { status: before } } },
      );
      expect(judged.passed).toBe(standing === "passed" || standing === "redBefore");

      for (const list of ["failing", "regressed", "redBefore"] as const) {
        expect(judged[list].length).toBe(standing === list ? 1 : 0);
      }
    });
  }
});

test("what nobody looked at before something was changed was not red before it", () => {
  const known = { x: { baseline: { status: "failed" as const }, isLate: true as const } };
  expect(judgeChecks([result(check("x", "project"), "failed")], known)).toMatchObject({
    passed: false,
    redBefore: [],
  });
});

test("what was red before the run may stay so and may not get worse", () => {
  const tests = (ran: number, failed: number) => ({ ran, failed, skipped: 0 });
  const known = { x: { baseline: { status: "failed" as const, tests: tests(10, 2) } } };

  const now = (status: CheckStatus, reported?: ReturnType<typeof tests>) =>
    judgeChecks(
      [
        {
          ...result(check("x", "project"), status),
          ...(reported === undefined ? {} : { tests: reported }),
        },
      ],
      known,
    );
  for (const same of [
    now("failed", tests(10, 2)),
    now("failed", tests(12, 1)),
    now("flaky", tests(10, 2)),
    now("passed"),
  ]) {
    expect(same).toMatchObject({ passed: true, regressed: [] });
  }

  for (const worse of [
    now("failed"),
    now("failed", tests(10, 3)),
    now("failed", tests(1, 1)),
    now("not_found"),
    now("timed_out"),
  ]) {
    expect(worse).toMatchObject({
      passed: false,
      redBefore: [],
      regressed: [{ check: { id: "x" } }],
    });
  }

  const swapped = { ...result(check("x", "project"), "failed"), tests: tests(10, 2), broke: 1 };
  expect(judgeChecks([swapped], known)).toMatchObject({
    passed: false,
    redBefore: [],
    regressed: [{ check: { id: "x" } }],
  });

  const blind = {
    ...result(check("x", "project"), "failed"),
    tests: tests(10, 0),
    canary: { outcome: "missed" as const, detail: "a.js:1" },
  };
  expect(judgeChecks([blind], known)).toMatchObject({
    passed: false,
    redBefore: [],
    regressed: [{ check: { id: "x" } }],
  });
});

test("a check in quarantine is neither held against the run nor counted, and only flaky trouble is called flaky", () => {
  const known = { x: { baseline: { status: "passed" as const } } };
  const held = { ...result(check("x", "project"), "failed"), quarantined: "2030-01-01" };
  expect(judgeChecks([held], known)).toMatchObject({
    passed: true,
    regressed: [],
    quarantined: [held],
    isOnlyFlaky: false,
  });

  expect(judgeChecks([result(check("x", "project"), "flaky")], known)).toMatchObject({
    passed: false,
    isOnlyFlaky: true,
  });

  const both = [result(check("x", "project"), "flaky"), result(check("y", "criterion"), "failed")];
  expect(judgeChecks(both, known)).toMatchObject({ passed: false, isOnlyFlaky: false });
});

describe("completion", () => {
  const proved = {
    id: "c1",
    text: "it works",
    check: "npm test",
    baseline: "failed",
    latest: "passed",
    cycleDone: true,
  } as const;

  const red = { ...proved, latest: "failed", cycleDone: false } as const;
  const unrunnable = {
    id: "c2",
    text: "it is nice",
    check: null,
    baseline: null,
    latest: null,
    cycleDone: true,
  } as const;

  const held = { ...proved, baseline: "passed" } as const;
  const regressed = {
    check: check("lint", "project"),
    baseline: "passed",
    latest: "failed",
  } as const;

  const redBefore = { ...regressed, baseline: "failed" } as const;
  const asked: CompletionInput = {
    mode: "promise",
    promised: true,
    announcedMore: false,
    criteria: [proved],
    others: [],
    treeChanged: true,
  };

  const cases: readonly [string, Partial<CompletionInput>, boolean, string, string][] = [
    ["promised and proved", {}, true, "verified", "completion_verified"],
    [
      "proved and not promised",
      { promised: false },
      false,
      "unverified",
      "completion_promise_missing",
    ],
    [
      "promised with more announced",
      { announcedMore: true },
      false,
      "unverified",
      "continuation_pending",
    ],
    [
      "promised, and a criterion red",
      { criteria: [red] },
      false,
      "refuted",
      "completion_gates_blocked",
    ],
    [
      "promised, and a project check regressed",
      { others: [regressed] },
      false,
      "refuted",
      "completion_gates_blocked",
    ],
    [
      "promised, and a project check as red as before",
      { others: [redBefore] },
      true,
      "verified",
      "completion_verified",
    ],
    [
      "promised, and a criterion flaky",
      { criteria: [{ ...red, latest: "flaky" }] },
      false,
      "refuted",
      "check_flaky",
    ],
    [
      "one flaky and one red",
      { criteria: [{ ...red, latest: "flaky" }, red] },
      false,
      "refuted",
      "completion_gates_blocked",
    ],
    [
      "a criterion in quarantine",
      { criteria: [proved, { ...red, quarantined: "2030-01-01", cycleDone: true }] },
      true,
      "verified_with_gaps",
      "completion_with_gaps",
    ],
    [
      "nothing but quarantine",
      { criteria: [{ ...proved, quarantined: "2030-01-01" }] },
      true,
      "unverified",
      "completion_unverified",
    ],
    [
      "another check in quarantine",
      { others: [{ ...regressed, quarantined: "2030-01-01" }] },
      true,
      "verified_with_gaps",
      "completion_with_gaps",
    ],
    [
      "one criterion has no command",
      { criteria: [proved, unrunnable] },
      true,
      "verified_with_gaps",
      "completion_with_gaps",
    ],
    [
      "nothing runnable, something changed",
      { criteria: [unrunnable] },
      true,
      "unverified",
      "completion_unverified",
    ],
    [
      "nothing runnable, nothing changed",
      { criteria: [unrunnable], treeChanged: false },
      false,
      "unverified",
      "nothing_changed",
    ],
    [
      "it held before and nothing was changed",
      { criteria: [held], treeChanged: false },
      true,
      "verified_with_gaps",
      "completion_with_gaps",
    ],
    [
      "it passes by itself and nothing was changed",
      { treeChanged: false },
      true,
      "verified_with_gaps",
      "completion_with_gaps",
    ],
    [
      "it held before and something was changed",
      { criteria: [held] },
      true,
      "verified_with_gaps",
      "completion_with_gaps",
    ],
    [
      "it held before, and fails without the work",
      { criteria: [{ ...held, failsWithoutWork: true }] },
      true,
      "verified",
      "completion_verified",
    ],
    [
      "a check of the project cannot be run here",
      { others: [{ check: check("p", "project"), baseline: "not_found", latest: "not_found" }] },
      true,
      "verified_with_gaps",
      "completion_with_gaps",
    ],
    [
      "one held before, another turned green",
      { criteria: [held, proved] },
      true,
      "verified",
      "completion_verified",
    ],
    [
      "objective mode asks for no promise",
      { mode: "objective", promised: false },
      true,
      "verified",
      "completion_verified",
    ],
    [
      "objective mode, a criterion red",
      { mode: "objective", criteria: [red] },
      false,
      "refuted",
      "criterion_failed",
    ],
    [
      "objective mode, a check regressed",
      { mode: "objective", others: [regressed] },
      false,
      "refuted",
      "check_regressed",
    ],
    [
      "objective mode, a cycle not done",
      { mode: "objective", criteria: [proved, { ...unrunnable, cycleDone: false }] },
      false,
      "unverified",
      "cycle_progressed",
    ],
  ];
  for (const [name, more, complete, verdict, reason_code] of cases) {
    test(name, () =>
      expect(judgeCompletion({ ...asked, ...more })).toMatchObject({
        complete,
        verdict,
        reason_code,
      }),
    );
  }

  test("an agent that changes nothing never comes to verified, whatever else is true", () => {
    for (const mode of ["promise", "objective"] as const) {
      for (const criteria of [[proved], [held], [unrunnable], [proved, unrunnable], [red]]) {
        expect(judgeCompletion({ ...asked, mode, criteria, treeChanged: false }).verdict).not.toBe(
          "verified",
        );
      }
    }
  });

  test("a check that first ran after a change shows no difference that the work made", () => {
    const lateCheck = {
      check: check("lint", "project"),
      baseline: null,
      latest: "passed",
    } as const;

    expect(judgeCompletion({ ...asked, criteria: [held], others: [lateCheck] }).verdict).toBe(
      "verified_with_gaps",
    );

    const lateCriterion = judgeCompletion({ ...asked, criteria: [{ ...proved, baseline: null }] });
    expect(lateCriterion.gaps).toEqual([
      "c1 (it works): was not run before the work began, so it does not show what the work did",
    ]);

    const failing = judgeCompletion({ ...asked, others: [{ ...lateCheck, latest: "failed" }] });
    expect(failing).toMatchObject({ complete: false, gaps: ["lint: does not pass"] });
  });

  test("a check that was red and passes only because it can't fail any more blocks", () => {
    const blind = { ...redBefore, canary: { outcome: "missed", detail: "a.js:1" } } as const;
    expect(judgeCompletion({ ...asked, others: [blind] })).toMatchObject({
      complete: false,
      reason_code: "completion_gates_blocked",
    });
  });

  test("a check that could not run here is never told as one that fails", () => {
    const unable = {
      check: check("lint", "project"),
      baseline: "not_found",
      latest: "not_found",
    } as const;

    for (const criteria of [[unrunnable], [proved]]) {
      const { gaps } = judgeCompletion({ ...asked, criteria, others: [unable] });
      expect(gaps.join("; ")).toContain("lint: it could not be run here");
      expect(gaps.join("; ")).not.toContain("fails");
    }
  });
});
