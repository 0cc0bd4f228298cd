// What a roadmap's run comes to: only what somebody asked for can be wholly proved.

import { expect, test } from "vitest";
import { findPlanPath } from "./phase-plan.ts";
import type { StepInput, RoadmapParts } from "./roadmap-parts.ts";
import { createPhasesHoldProof } from "./phases-hold.ts";

const plan =
  '# Plan\n\n<task id="1-01" type="auto" complexity="simple">\n### Task 1-01: Write it\n**Files:** a.txt\n**Action:** Write it.\n**Verify:**\n- it is there :: test -f a.txt\n**Done:** It is there.\n</task>\n';
const path = ".planning/phases/1/PLAN.md";

/** `isUsers`: the plan lay there before the run began. */
function proved(criteria: string, isUsers = false, ownCommands: readonly string[] = []) {
  const roadmap = `- [ ] **Phase 1: A**\n\n### Phase 1: A\n**Goal**: g\n${criteria}`;
  const check = {
    id: "criterion:1.1-01.1",
    kind: "criterion",
    title: "it is there",
    command: "test -f a.txt",
    source: path,
  };

  const parts = {
    readBlob: () => Buffer.from(roadmap),
    workspace: {
      pathsAt: () => Promise.resolve([path]),
      textAt: (commit: string) => Promise.resolve(commit === "base" && !isUsers ? null : plan),
      differences: () => Promise.resolve([{ path: "a.txt" }]),
    },
    verifier: {
      inspectProtected: () => Promise.resolve({ changes: [] }),
      check: () =>
        Promise.resolve([{ check, status: "passed", exit_code: 0, duration_ms: 1, evidence: "e" }]),
    },
  } as unknown as RoadmapParts;

  const drafted = {
    base: { commit: "base" },
    objective: { scope: ["**"] },
    checks: ownCommands.map((command) => ({ command })),
    options: {},
    documents: [{ path: ".planning/ROADMAP.md", hash: "h" }],
  };

  const state = {
    drafted,
    checks: {},
    approved: [],
    phases: [{ id: "1", name: "A", group: "phases", status: "completed" }],
    cursors: { "1": { checks: [check] } },
  };

  return createPhasesHoldProof(parts).prove({
    state,
    commit: "tip",
    attempt: "x",
  } as unknown as StepInput);
}

test("a phase without success criteria is not wholly proved by the commands that its planner chose", async () => {
  expect(findPlanPath([path], "1")).toBe(path);
  expect(await proved("")).toMatchObject({
    ok: true,
    facts: {
      verdict: "verified_with_gaps",
      gaps: expect.stringContaining("phase 1: the roadmap has no success criteria") as string,
    },
  });
});

test("by a plan that the user wrote, or by criteria of the roadmap, it is", async () => {
  expect((await proved("", true)).facts).toMatchObject({ verdict: "verified", gaps: "" });
  expect(
    (await proved("**Success Criteria**:\n1. it is there :: test -f a.txt\n")).facts,
  ).toMatchObject({ verdict: "verified", gaps: "" });
});

test("nor is a criterion in prose by the command that its planner wrote for it, unless that is one of the project's own", async () => {
  const prose = "**Success Criteria**:\n1. it is there\n";
  expect((await proved(prose)).facts).toMatchObject({
    verdict: "verified_with_gaps",
    gaps: "phase 1: only its planner's own command decides that it is there (test -f a.txt)",
  });

  expect((await proved(prose, true)).facts).toMatchObject({ verdict: "verified", gaps: "" });
  expect((await proved(prose, false, ["test -f a.txt"])).facts).toMatchObject({
    verdict: "verified",
    gaps: "",
  });
});
