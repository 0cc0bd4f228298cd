import { expect, test } from "vitest";
import type { OutsideEvidence } from "../contracts/forge/pull-request.ts";
import {
  whyPushBlocked,
  decidePullRequestStep,
  type PullRequestSnapshot,
  type PullRequestView,
  findFollowUpRefusal,
} from "./pull-request.ts";
import type { RunView } from "./state.ts";

const commit = "c".repeat(40);
const request: PullRequestView = {
  place: {
    tool: "gh",
    host: "github.com",
    project: "acme/shop",
    remote: "origin",
    branch: "autopilot/run",
    into: "main",
  },
  commit,
  opened: { number: 7, url: "https://github.com/acme/shop/pull/7", draft: false },
  taken: [],
  tries: 0,
  under_way: null,
  ended: null,
};
const check: OutsideEvidence = { key: "check:1", kind: "check", by: "ci", text: "red" };
const comment: OutsideEvidence = { key: "line:2", kind: "comment", by: "maya", text: "cap this" };
const look: PullRequestSnapshot = { state: "open", head: commit, pending: 0, evidence: [] };
const next = (view: Partial<PullRequestView>, seen: Partial<PullRequestSnapshot>, tries = 3) =>
  decidePullRequestStep({ ...request, ...view }, { ...look, ...seen }, tries);

test("nothing found: wait; what was worked on already is nothing", () => {
  expect(next({}, {})).toEqual({ do: "wait" });
  expect(next({ taken: ["check:1"] }, { evidence: [check] })).toEqual({ do: "wait" });
});

test("a red check waits for the others; a comment does not", () => {
  expect(next({}, { evidence: [check, comment], pending: 1 })).toEqual({
    do: "take_up",
    evidence: [comment],
  });

  expect(next({}, { evidence: [check], pending: 1 })).toEqual({ do: "wait" });
  expect(next({}, { evidence: [check, comment] })).toEqual({
    do: "take_up",
    evidence: [check, comment],
  });
});

test("a merge or a close ends it, whatever is under way", () => {
  expect(next({ under_way: "run" }, { state: "merged", evidence: [check] })).toEqual({
    do: "end",
    how: "merged",
  });

  expect(next({}, { state: "closed" })).toEqual({ do: "end", how: "closed" });
});

test("what is under way comes before anything new; somebody else's push and used-up tries stop it", () => {
  expect(next({ under_way: "run-1" }, { evidence: [check] })).toEqual({
    do: "follow",
    run: "run-1",
  });

  expect(next({}, { head: "d".repeat(40), evidence: [check] })).toEqual({
    do: "stop",
    because: "pull_request_moved",
  });

  expect(next({ tries: 3 }, { evidence: [check] })).toEqual({
    do: "stop",
    because: "pull_request_tries_spent",
  });

  expect(next({ tries: 3 }, {})).toEqual({ do: "wait" });
});

test("a push waits for nobody's work: only an open pull request, and only over what was pushed before", () => {
  const tip = "e".repeat(40);
  const hinders = (seen: Partial<PullRequestSnapshot>) =>
    whyPushBlocked(request, { ...look, ...seen }, tip);
  expect([hinders({}), hinders({ head: tip })]).toEqual([null, null]);
  expect([hinders({ head: "d".repeat(40) }), hinders({ head: null })]).toEqual(["moved", "moved"]);
  expect([hinders({ state: "merged" }), hinders({ state: "closed", head: tip })]).toEqual([
    "merged",
    "closed",
  ]);
});

test("what a person keeps on its branch is not pushed; that a follow-up lands nothing itself hinders nobody", () => {
  const base = { commit };
  const run = (because: string | null) =>
    ({
      status: "completed",
      verdict: "verified",
      checks: {},
      tip: { commit: "e".repeat(40) },
      drafted: { base },
      phases: [{ because: null }, { because }],
    }) as unknown as RunView;
  expect(findFollowUpRefusal(run(null), run(null))).toBeNull();
  expect(findFollowUpRefusal(run(null), run("branch_kept"))).toMatchObject({ code: "branch_kept" });
});
