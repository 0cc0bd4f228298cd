// What only a person can judge: the phase is deferred, its dependents wait, the others go on; then
// the run waits for the verdict.

import { describe, expect, test } from "vitest";
import { autopilot, eventsOf } from "../support/autopilot.ts";
import { git } from "../support/scratch-repository.ts";
import { longTest } from "../support/sampled.ts";
import {
  around,
  calls,
  debug,
  does,
  factsOf,
  goRoadmap,
  moduleFiles,
  plan,
  planCheck,
  planOf,
  plansOf,
  project,
  research,
  smooth,
  stepsOf,
} from "./stories.ts";

const phases = [
  { id: "1", name: "Sum", criteria: [`sum adds :: ${calls("sum", "2, 3", "5")}`] },
  {
    id: "2",
    name: "Mean",
    after: "Phase 1",
    criteria: [`mean halves :: ${calls("mean", "2, 4", "3")}`],
  },
  { id: "3", name: "Twice", criteria: [`twice doubles :: ${calls("twice", "4", "8")}`] },
];
const looked = [
  {
    id: "01-01",
    files: ["src/sum.js", "src/index.js"],
    verify: [`it adds :: ${calls("sum", "1, 1", "2")}`],
  },
  {
    id: "01-02",
    files: [],
    verify: ["Open the page and see the sum"],
    type: "checkpoint:human-verify",
  },
];
const turns = [
  research("1"),
  plan("1", planOf(looked)),
  planCheck("1"),
  does("1", "01-01", moduleFiles("sum", "(a, b) => a + b")),
  ...around("1"),
  ...smooth("3", "twice", "(n) => 2 * n", `it doubles :: ${calls("twice", "1", "2")}`).filter(
    ({ when }) => (when as { step: string }).step !== "do",
  ),
  does("3", "03-01", {
    "src/twice.js": "export const twice = (n) => 2 * n;\n",
    "src/main.js": 'export { twice } from "./twice.js";\n',
  }),
  ...smooth("2", "mean", "(a, b) => (a + b) / 2", `it halves :: ${calls("mean", "1, 1", "1")}`, [
    "sum",
  ]),
];

describe.concurrent("people", () => {
  longTest(
    "deferred: the others go on, dependents wait, the run pauses; with the verdict pass all of it is completed",
    "test/cli-roadmap/walking.test.ts › pass completes it, and what waited for it goes on",
    async () => {
      const folder = project(phases);
      const first = await goRoadmap(folder, turns);
      expect(first.json).toMatchObject({
        result: "WARN",
        reason_code: "human_block_open",
        state: "paused",
      });

      expect(eventsOf(folder, "phase_completed").map(({ walk }) => walk)).toEqual([
        "before.baseline",
        "3",
      ]);

      expect(eventsOf(folder, "phase_started").map(({ walk }) => walk)).not.toContain("2");
      expect(eventsOf(folder, "phase_started").map(({ walk }) => walk)).not.toContain(
        "after.integration",
      ); // before the completion steps

      expect(factsOf(folder, "1", "execute")).toMatchObject({ done: 1, left: 1 });

      expect((await autopilot(folder, ["verdict", "1", "pass", "--json"])).json).toMatchObject({
        result: "PASS",
      });

      const { json } = await autopilot(folder, ["resume", "--json"]);
      expect(json, json.message).toMatchObject({ result: "PASS", state: "completed" });
      expect(eventsOf(folder, "phase_completed").map(({ walk }) => walk)).toEqual(
        expect.arrayContaining(["1", "2", "3"]),
      );
    },
  );

  longTest(
    "issues found: they go to the debugger, then the phase is verified, judged and looked at again",
    "test/cli-roadmap/walking.test.ts › issues_found sends the issues to the debugger",
    async () => {
      const folder = project(phases.slice(0, 1));
      const fix = debug("1", { "src/sum.js": "export const sum = (a, b) => b + a;\n" });
      await goRoadmap(folder, [...turns, fix]);
      await autopilot(folder, [
        "verdict",
        "1",
        "issues_found",
        "--issue",
        "texts are joined, not added",
        "--json",
      ]);

      const second = await autopilot(folder, ["resume", "--json"]);
      expect(second.json).toMatchObject({ reason_code: "human_block_open", state: "paused" });
      expect(stepsOf(folder, "1").slice(-5)).toEqual([
        "debug passed",
        "checks passed",
        "verify passed",
        "judge_blind passed",
        "judge passed",
      ]);

      await autopilot(folder, ["verdict", "1", "pass", "--json"]);
      expect((await autopilot(folder, ["resume", "--json"])).json).toMatchObject({
        state: "completed",
      });

      expect(git(folder, "show", "HEAD:src/sum.js")).toContain("b + a");
    },
  );

  longTest(
    "the verdict fail: the phase is taken back and failed, and what depends on it is blocked",
    "test/cli-roadmap/walking.test.ts › fail fails it, and what depends on it is blocked",
    async () => {
      const folder = project(phases);
      await goRoadmap(folder, turns);
      expect(git(folder, "ls-tree", "-r", "--name-only", "HEAD", "src/")).toContain("src/sum.js"); // it landed with what went on meanwhile
      await autopilot(folder, ["verdict", "1", "fail", "--issue", "nobody wants it", "--json"]);
      const { json } = await autopilot(folder, ["resume", "--json"]);
      expect(json).toMatchObject({ result: "FAIL", reason_code: "phase_failed", state: "paused" });
      expect(eventsOf(folder, "phase_failed")).toMatchObject([
        { walk: "1", because: "human_rejected" },
      ]);

      expect(eventsOf(folder, "phase_skipped")).toMatchObject([
        { walk: "2", because: "blocked_by_phase_1" },
      ]);

      expect(factsOf(folder, "1", "undo")).toMatchObject({ rollback_performed: true });
      expect(git(folder, "show", "autopilot-diagnostic-phase-1:src/sum.js")).toContain("a + b");

      for (const branch of [`autopilot/${String(json.run_id)}`, "HEAD"]) {
        const left = git(folder, "ls-tree", "-r", "--name-only", branch, "src/").split("\n");
        expect(left).toEqual(["src/greet.js", "src/index.js", "src/main.js", "src/twice.js"]); // what phase 3 did meanwhile stays
      }
    },
  );

  test("a phase that only a person can judge is not executed; a person's pass does not stand in for its criteria, which are run then", async () => {
    const onlyLooked = planOf(
      [{ id: "01-01", files: [], verify: ["Look at it"], type: "checkpoint:human-verify" }],
      {
        criteria: [`sum adds :: ${calls("sum", "2, 3", "5")}`],
      },
    );
    const folder = project(phases.slice(0, 1), plansOf([plan("1", onlyLooked)]));
    const fix = debug("1", moduleFiles("sum", "(a, b) => a + b"));
    const { json } = await goRoadmap(folder, [planCheck("1"), fix, ...around("1")]);
    expect(json).toMatchObject({ reason_code: "human_block_open" });
    expect(json["questions"]).toMatchObject([
      { phase: "Phase 1 (Sum)", show: { left_to_people: "01-01 01-01: Write it." } },
    ]);

    expect(stepsOf(folder, "1").slice(-2)).toEqual(["plan_check passed", "execute passed"]);

    await autopilot(folder, ["verdict", "1", "pass", "--json"]); // and nothing of it is there
    expect((await autopilot(folder, ["resume", "--json"])).json).toMatchObject({
      reason_code: "human_block_open",
      state: "paused",
    });

    expect(stepsOf(folder, "1").slice(-6, -3)).toEqual([
      "confirm failed",
      "debug passed",
      "checks passed",
    ]);

    await autopilot(folder, ["verdict", "1", "pass", "--json"]);
    expect((await autopilot(folder, ["resume", "--json"])).json).toMatchObject({
      result: "PASS",
      state: "completed",
    });

    expect(stepsOf(folder, "1").at(-1)).toBe("confirm passed");
  });

  test("where a person must agree before the merge, a finished phase waits for it, and only then lands", async () => {
    const planned = smooth(
      "1",
      "sum",
      "(a, b) => a + b",
      `it adds :: ${calls("sum", "1, 1", "2")}`,
    );
    const folder = project(phases.slice(0, 1), plansOf(planned));
    const first = await goRoadmap(folder, planned, ["--approval-policy", "required-before-merge"]);
    expect(first.json).toMatchObject({
      result: "WARN",
      reason_code: "approval_required",
      state: "paused",
    });

    expect(git(folder, "ls-tree", "-r", "--name-only", "HEAD")).not.toContain("src/sum.js");
    expect((await autopilot(folder, ["approve", "--json"])).json).toMatchObject({ result: "PASS" });
    const { json } = await autopilot(folder, ["resume", "--json"]);
    expect(json, json.message).toMatchObject({ result: "PASS", state: "completed" });
    expect(git(folder, "ls-tree", "-r", "--name-only", "HEAD")).toContain("src/sum.js");
  });
});
