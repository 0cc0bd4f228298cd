// Where a run of ours enters a phase that another tool's run stood in, and what it takes over.

import { execFileSync } from "node:child_process";
import { afterEach, describe, expect, test } from "vitest";
import * as v from "valibot";
import { Resumed } from "../../../contracts/resumed.ts";
import type { RoadmapState } from "../../../contracts/roadmap-state.ts";
import { seedState } from "../../../contracts/roadmap.test-support.ts";
import { readRoadmapDocuments } from "./roadmap-documents.ts";
import { findEntryStep, buildResumedRun } from "./resumed-run.ts";
import { clearRooms, room } from "./roadmap-room.test-support.ts";

afterEach(clearRooms);

describe("where a phase goes on", () => {
  test.each([
    ["preflight", "sound", null],
    ["triage", "sound", null],
    ["research", "none", "research"],
    ["plan", "none", "plan"],
    ["plan_check", "none", "plan"],
    ["plan_check", "unsound", "plan_check"],
    ["execute", "none", "plan"],
    ["execute", "unsound", "plan_check"],
    ["execute", "sound", "execute"],
    ["verify", "sound", "checks"],
    ["judge", "sound", "checks"],
    ["gate", "none", "checks"],
    ["debug", "sound", "debug"],
    ["dance", "sound", null],
    ["__proto__", "sound", null],
  ] as const)("it stood at %s and its plan is %s: %s", (step, plan, at) =>
    expect(findEntryStep(step, plan)).toBe(at),
  );
});

const roadmap = `- [x] **Phase 1: One**
- [ ] **Phase 2: Two**

### Phase 1: One
**Goal**: a
### Phase 2: Two
**Goal**: b
**Depends on**: Phase 1
**Requirements**: R-2
**Success Criteria**:
1. it is there :: test -f two.txt
`;
const plan = `| Requirement | Task(s) |
|---|---|
| R-2 | 02-01 |

## Success Criteria
1. it is there :: test -f two.txt

## Wave 1
<task id="02-01" type="auto" complexity="simple">
### Task 02-01: Write it
**Files:** two.txt
**Action:** Write it.
**Verify:**
- it says so :: grep -q two two.txt
**Done:** It is there.
</task>
`;

const record = seedState.phases["phase_6.1"] as RoadmapState["phases"][string];
function theirs(phase: object, more: object = {}): RoadmapState {
  return {
    ...seedState,
    _meta: { ...seedState._meta, current_phase: "2", current_step: "execute" },
    phases: { phase_1: record, phase_2: { ...record, status: "in_progress", ...phase } },
    ...more,
  };
}

async function taken(
  state: RoadmapState,
  files: Readonly<Record<string, string>> = {},
): Promise<Resumed> {
  const here = room("run-2026-05-05-101010");
  for (const [path, text] of Object.entries({ ".planning/ROADMAP.md": roadmap, ...files })) {
    here.write(path, text);
  }

  const git = (...args: readonly string[]): string =>
    execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", ...args], {
      cwd: here.root,
      encoding: "utf8",
    }).trim();
  git("init", "-q");
  git("add", "-A");
  git("commit", "-q", "-m", "x");
  const head = git("rev-parse", "HEAD");
  const text = JSON.stringify(state).replaceAll("HEAD-COMMIT", head.slice(0, 10));
  const read = readRoadmapDocuments(here.root, ({ id }) => id === "1");
  if (read === null) throw new Error("there is a roadmap");
  const thresholds = { noProgressMax: 3, sameErrorMax: 5 };

  return buildResumedRun({
    root: here.root,
    head,
    path: "s",
    state: JSON.parse(text) as RoadmapState,
    documents: read,
    phaseIds: ["2"],
    thresholds,
  });
}

test("at execute with a sound plan: its commands are locked, and tasks whose commits are there are not done again", async () => {
  const tasks = {
    "task_02-01": { status: "completed", commit: "HEAD-COMMIT", retries: 0 },
    "task_02-02": { status: "completed", commit: "deadbeef01", retries: 0 },
    "task_02-03": { status: "completed", commit: "--output=x", retries: 0 },
    "task_02-04": { status: "failed", commit: "HEAD-COMMIT", retries: 0 },
  };

  const state = theirs({
    debug_attempts: 2,
    replan_attempts: 1,
    steps: { execute: { status: "in_progress", tasks } },
  });
  const [phase, ...others] = (await taken(state, { ".planning/phases/2/PLAN.md": plan })).phases;
  expect(others).toEqual([]);
  expect(phase).toMatchObject({
    id: "2",
    step: "execute",
    counts: { debug: 2, replan: 1 },
    tokens: 85_000,
    tasks_done: ["02-01"],
  });

  expect(phase?.checks?.map(({ command }) => command)).toEqual([
    "test -f two.txt",
    "grep -q two two.txt",
  ]);

  expect(phase?.facts?.["preflight"]?.["checkpoint"]).toMatch(/^[0-9a-f]{40}$/);
});

test("a failed phase is run from its beginning, one that waits for a person is verified by the runner first", async () => {
  expect((await taken(theirs({ status: "failed", debug_attempts: 3 }))).phases).toEqual([
    { id: "2", counts: {}, tokens: 85_000 },
  ]);

  const [waiting] = (await taken(theirs({ status: "needs_human_verification" }))).phases;
  expect(waiting).toMatchObject({ step: "checks", facts: { execute: { left: 1 } } });
});

test("figures are bounded, and a breaker that is open or should be is open", async () => {
  const breaker = {
    ...seedState.circuit_breaker,
    consecutive_no_progress: 1e300,
    last_error: "e".repeat(5_000),
  };

  const state = theirs({ debug_attempts: 1e300, tokens_used: 1e300 }, { circuit_breaker: breaker });
  const resumed = await taken(state);
  expect(v.safeParse(Resumed, resumed).issues).toBeUndefined();
  expect(resumed.breaker).toMatchObject({ is_open: true, no_progress: 1_000_000 });
  expect(resumed.breaker.last_error).toHaveLength(200);
  expect((await taken(theirs({}))).breaker.is_open).toBe(false);
  expect(
    (
      await taken(
        theirs({}, { circuit_breaker: { ...seedState.circuit_breaker, state: "half_open" } }),
      )
    ).breaker.is_open,
  ).toBe(true);
});
