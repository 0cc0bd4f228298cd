import { expect, test } from "vitest";
import { pullRequestBody, pullRequestTitle } from "./pull-request-body.ts";
import type { ReportedCheck, ReportView } from "../report.ts";

const check: ReportedCheck = {
  id: "c1",
  kind: "criterion",
  title: "b",
  command: "npm test | tee `log`",
  before: "failed",
  status: "passed",
  exit_code: 0,
  duration_ms: 5,
  evidence: "e",
};
const view = {
  run_id: "run-2026-01-01-120000",
  goal: "fix the parser",
  criteria: [{ id: "c1", text: "it parses", proved: true, check: "npm test" }],
  evidence: [check],
  judgement: { verdict: "verified", gaps: [], rests_on: [] },
  look_at: [],
  changes: { files: 1, insertions: 1, deletions: 0, commits: [{ sha: "c", subject: "s" }] },
  cost: { tokens: 10, usd: 0, minutes: 1, calls: 1, estimated: 0 },
} as unknown as ReportView;
const commit = "c".repeat(40);
/** What a code host would read as markup: everything outside code. */
const outside = (body: string): string =>
  body.replaceAll(/^(`{3,})text\n[\s\S]*?\n\1$/gm, "").replaceAll(/(`+) .*? \1/g, "");

test("the verdict comes first, then what was asked, the proof, and how to check it again", () => {
  const body = pullRequestBody(view, commit);
  expect(body.split("\n")[0]).toContain("**Verified.**");
  expect(body).toContain("| `` npm test \\| tee `log` `` | failed | passed |");
  expect(body).toContain("autopilot verify --run run-2026-01-01-120000");
  expect(body).not.toContain("## Not proved");
});

test("gaps are named; a check the agent was not told about stays untold", () => {
  const gaps = {
    ...view,
    judgement: { verdict: "verified_with_gaps", gaps: ["c2: no check"], rests_on: [] },
    evidence: [{ ...check, kind: "holdout" }],
  };
  const body = pullRequestBody(gaps as unknown as ReportView, commit);
  expect(body).toContain("**Verified with gaps.**");
  expect(body).toContain("## Not proved\n- ` c2: no check `");
  expect(body).not.toContain("npm test");
});

test.each([
  "@acme/admins fixes #1",
  "<img src=x onerror=alert(1)>",
  "``` \n# big",
  "[x](https://evil.example)",
  "a\u202eb\u001b[2J",
  "`".repeat(40),
])("hostile text stays in code: %s", (text) => {
  const hostile = {
    ...view,
    goal: text,
    criteria: [{ id: "c1", text, proved: false, check: null }],
    judgement: { ...view.judgement, gaps: [text] },
    look_at: [{ path: text, what: text }],
    evidence: [{ ...check, command: text }],
  };
  const body = pullRequestBody(hostile, commit);
  expect(outside(body)).not.toMatch(/@acme|fixes #|<img|# big|\]\(https|evil/);
  expect(body).not.toMatch(/\u202e|\u001b/);
  expect(pullRequestTitle({ goal: text })).not.toMatch(/\n|\u202e|\u001b/);
});

test("a body has a limit", () => {
  const long = {
    ...view,
    judgement: { ...view.judgement, gaps: Array.from({ length: 500 }, () => "x".repeat(900)) },
  };
  expect(pullRequestBody(long as unknown as ReportView, commit).length).toBeLessThan(65_000);
});

test.each([
  ["Draft: sell apples", '"Draft:" sell apples'],
  ["[WIP] sell apples", '"[WIP]" sell apples'],
  ["draft a plan", "draft a plan"],
  [
    "fixes #1, acme/shop#2 and GH-3 for @maya, see !4",
    "fixes # 1, acme/shop# 2 and GH- 3 for @ maya, see ! 4",
  ],
  ["closes https://github.com/acme/shop/issues/1", "closes https://github.com/acme/shop/issues/ 1"],
])("a title refers to nothing and calls nobody: %s", (goal, title) => {
  expect(pullRequestTitle({ goal })).toBe(title);
});
