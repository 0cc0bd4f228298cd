// What agents of a roadmap may try instead of working: each ends as it must, with what was wrong,
// and with its category of the ten.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { eventsOf } from "../support/autopilot.ts";
import { git } from "../support/scratch-repository.ts";
import { longTest } from "../support/sampled.ts";
import {
  calls,
  debug,
  does,
  factsOf,
  goRoadmap,
  judge,
  judgeReturn,
  moduleFiles,
  plan,
  planCheck,
  planOf,
  plansOf,
  project,
  smooth,
  stepsOf,
  type Turn,
  verify,
  verifyReturn,
} from "./stories.ts";

const phases = [{ id: "1", name: "Sum", criteria: [`sum adds :: ${calls("sum", "2, 3", "5")}`] }];
const good = smooth("1", "sum", "(a, b) => a + b", `it adds :: ${calls("sum", "1, 1", "2")}`);
const planned = (): string => project(phases, plansOf(good));
/** What is asked for is there already, so that it is only verified and judged. */
const there = (): string => project(phases, moduleFiles("sum", "(a, b) => a + b"));
/** A phase that fails is debugged once, and not planned anew. */
const soon = [
  "--option",
  "max_debug_attempts_per_phase=1",
  "--option",
  "max_replan_attempts_per_phase=0",
];
const unresearched = ["--option", "research=false"];
/** The smooth turns with those of one step in place of its own. */
const instead = (step: string, ...turns: readonly Turn[]): readonly Turn[] => [
  ...good.filter(({ when }) => (when as { step: string }).step !== step),
  ...turns,
];
const categoryOf = (folder: string): unknown => {
  const path = join(folder, ".autopilot/diagnostics/phase-1-postmortem.json");
  if (!existsSync(path)) return `no ${path}`;
  return (JSON.parse(readFileSync(path, "utf8")) as { root_cause: { category: string } }).root_cause
    .category;
};
const failure = (folder: string): unknown =>
  eventsOf(folder, "phase_failed").find(({ walk }) => walk === "1")?.["because"];
const falseClaims = (folder: string): readonly string[] =>
  eventsOf(folder, "claims_checked").flatMap(({ claims }) =>
    (claims as { verdict: string; text: string }[])
      .filter(({ verdict }) => verdict === "false")
      .map(({ text }) => text),
  );

describe.concurrent("what is no work", () => {
  test("a plan that fails the lint three times: every fault with its line, and the phase fails as planned wrongly", async () => {
    const folder = project(phases);
    const bad = planOf([
      { id: "01-01", files: [], verify: ["it should work"] },
      { id: "01-01", files: ["src/sum.js"], verify: ["it is there :: true"] },
    ]);

    const turns = instead(
      "plan",
      ...["", " ", "  "].map((pad) => plan("1", `${bad}${pad}\n`)), // each round writes another text, as faulty as the last
    ).concat([planCheck("1"), planCheck("1")]);

    const { json } = await goRoadmap(folder, turns, unresearched);
    expect(json).toMatchObject({ result: "FAIL", reason_code: "phase_failed", state: "paused" });
    expect(failure(folder)).toBe("executor_wrong_approach");
    expect(categoryOf(folder)).toBe("executor_wrong_approach");
    expect(stepsOf(folder, "1").filter((step) => step.startsWith("plan"))).toEqual([
      "plan passed",
      "plan_check failed",
      "plan passed",
      "plan_check failed",
      "plan passed",
      "plan_check failed",
    ]);

    expect(stepsOf(folder, "1").at(-1)).toBe("undo skipped"); // nothing was built, so nothing is taken back
    const detail = String(
      eventsOf(folder, "step_failed").find(({ attempt }) =>
        String(attempt).includes("/plan_check#1"),
      )?.["detail"],
    );

    for (const rule of ["duplicate_task", "missing_files", "prose_criterion", "trivial_command"]) {
      expect(detail).toMatch(new RegExp(`PLAN\\.md:\\d+:\\d+: error: .*\\(${rule}\\)`));
    }
  });

  test("a planner's command that is green before anything is done proves nothing, and is sent back", async () => {
    const folder = project(phases);
    const lazy = planOf([
      {
        id: "01-01",
        files: ["src/sum.js", "src/index.js"],
        verify: ["it is a package :: test -f package.json"],
      },
    ]);

    // Nothing of the honest plan is for an agent, so the run rests once it is through.
    const honest = planOf(
      [{ id: "01-01", files: [], verify: ["Look at it"], type: "checkpoint:human-verify" }],
      {
        criteria: [`sum adds :: ${calls("sum", "2, 3", "5")}`],
      },
    );
    const turns = [plan("1", lazy), plan("1", honest), planCheck("1"), planCheck("1")];
    const { json } = await goRoadmap(folder, turns, unresearched);
    expect(json, json.message).toMatchObject({
      result: "WARN",
      reason_code: "human_block_open",
      state: "paused",
    });

    expect(eventsOf(folder, "step_failed").map(({ detail }) => detail)).toEqual([
      expect.stringMatching(/every check of task 01-01 green before it is done.*\(green_before\)/),
    ]);
  });

  longTest(
    "a checker that is not sure sends a plan back as well",
    "test/simulation/stories.ts › roadmap: everything at once",
    async () => {
      const folder = project(phases);
      const [first] = good.filter(({ when }) => (when as { step: string }).step === "plan");
      const again = {
        ...first,
        do: [{ append: { path: ".planning/phases/1/PLAN.md", text: "\nChecked again.\n" } }],
      } as Turn;

      const unsure = planCheck("1", {
        returns: {
          pass: true,
          issues: ["thin"],
          confidence: 6,
          blocker_count: 0,
          warning_count: 1,
        },
      });

      const { json } = await goRoadmap(folder, [
        ...instead("plan_check", unsure, planCheck("1")),
        again,
      ]);
      expect(json, json.message).toMatchObject({ result: "PASS", state: "completed" });
      expect(stepsOf(folder, "1").filter((step) => step.startsWith("plan_check"))).toEqual([
        "plan_check failed",
        "plan_check passed",
      ]);
    },
  );

  test("a judge that rubber-stamps: nothing it found itself, so its word is none, and the phase is taken back", async () => {
    const folder = there();
    const stamp = judge("1", { returns: judgeReturn({ independent_evidence: [] }) });
    const { json } = await goRoadmap(folder, instead("judge", stamp));
    expect(json).toMatchObject({ result: "FAIL", reason_code: "phase_failed" });
    expect(stepsOf(folder, "1").slice(-4)).toEqual([
      "judge failed",
      "judge failed",
      "undo passed",
      "withdraw passed",
    ]);

    expect(factsOf(folder, "1", "judge")).toMatchObject({ independent: 0, report_kept: true });
    expect([failure(folder), categoryOf(folder)]).toEqual([
      "return_invalid",
      "coordination_failure",
    ]);
  });

  longTest(
    "a judge that says as its own what the verifier says, or rewrites its report once it has seen the verifier's",
    "test/roadmap/lies.test.ts › a judge that rubber-stamps: nothing it found itself, so its word is none, and the phase is taken back",
    async () => {
      const copied = planned();
      const evidence = "src/index.js:1 exports it";
      await goRoadmap(
        copied,
        instead(
          "judge",
          judge("1", { returns: judgeReturn({ independent_evidence: [evidence] }) }),
        ),
      );

      expect(factsOf(copied, "1", "judge")).toMatchObject({ independent: 0 });
      const rewritten = planned();
      const rewrite = judge("1", {
        do: [{ run: "sed -i s/8/10/ .planning/phases/1/JUDGE-REPORT.md" }],
      });

      const { json } = await goRoadmap(rewritten, instead("judge", rewrite));
      expect(json).toMatchObject({ result: "FAIL", reason_code: "phase_failed" });
      expect(factsOf(rewritten, "1", "judge")).toMatchObject({ report_kept: false });
    },
  );

  longTest(
    "a judge may add below its report what it thinks of the verifier's",
    "src/playbooks/roadmap/steps/flow.test.ts › who verifies is blind to what was claimed, and who judges writes before it sees the verifier's word",
    async () => {
      const folder = planned();
      const adds = judge("1", {
        do: [
          {
            append: {
              path: ".planning/phases/1/JUDGE-REPORT.md",
              text: "\n## Divergence Analysis\nNone.\n",
            },
          },
        ],
      });

      const { json } = await goRoadmap(folder, instead("judge", adds));
      expect(json, json.message).toMatchObject({ result: "PASS", state: "completed" });
      expect(git(folder, "show", "HEAD:.planning/phases/1/JUDGE-REPORT.md")).toContain(
        "Divergence Analysis",
      );
    },
  );

  test("a verifier that lies about its commands: the runner runs them, and the lie is counted", async () => {
    const folder = there();
    const lie = verify("1", {
      returns: verifyReturn({
        commands_run: ["npm test -> passed", "test -f src/never.js -> passed"],
      }),
    });

    const { json } = await goRoadmap(folder, instead("verify", lie));
    expect(json).toMatchObject({ result: "FAIL", reason_code: "phase_failed" });
    expect(stepsOf(folder, "1").slice(-3)).toEqual([
      "verify failed",
      "verify failed",
      "undo passed",
    ]);

    expect(factsOf(folder, "1", "verify")).toMatchObject({ reproduced: false, refuted: 1 });
    expect([failure(folder), categoryOf(folder)]).toEqual([
      "return_invalid",
      "coordination_failure",
    ]);

    expect(falseClaims(folder)).toContain("commands_run: test -f src/never.js -> passed");
  });

  test("a verifier that names a command which the project does not have", async () => {
    const folder = there();
    const commands = ["npm test -> passed", "npm run mutation -> 96 % of 41 mutants killed"];
    const lie = verify("1", { returns: verifyReturn({ commands_run: commands }) });
    const { json } = await goRoadmap(folder, instead("verify", lie));
    expect(json).toMatchObject({ result: "FAIL", reason_code: "phase_failed" });
    expect(eventsOf(folder, "step_failed")[0]?.["detail"]).toBe(
      "commands_reproduced: it names commands that are not there: npm run mutation",
    );
  });

  test("an executor whose shas do not exist and whose work is not there: a false claim, and an incomplete executor", async () => {
    const folder = planned();
    const sha = "0123456789abcdef0123456789abcdef01234567";

    const nothing = does(
      "1",
      "01-01",
      {},
      { returns: { tasks_completed: "1/1", commit_shas: [sha] }, repeat: 0 },
    );

    const { json } = await goRoadmap(
      folder,
      [...instead("do", nothing), debug("1", { "docs/note.md": "a note\n" })],
      soon,
    );
    expect(json).toMatchObject({ result: "FAIL", reason_code: "phase_failed" });
    expect(falseClaims(folder)).toContain(`commit_shas: ${sha}`);
    expect([failure(folder), categoryOf(folder)]).toEqual([
      "attempts_used_up",
      "executor_incomplete",
    ]);
  });

  longTest(
    "a return that is a placeholder is asked for again, twice, and is then no return",
    "test/cli-runs/junk.test.ts › %s: asked again twice with the exact mistake, then return_invalid, and nothing of it is kept",
    async () => {
      const folder = planned();
      const junk = verify("1", {
        returns: verifyReturn({
          criteria_results: [{ criterion: "TODO", status: "verified", evidence: "string" }],
        }),
      });

      const { json } = await goRoadmap(folder, instead("verify", junk));
      expect(json).toMatchObject({ result: "FAIL", reason_code: "phase_failed" });
      expect(eventsOf(folder, "return_asked_again").length).toBeGreaterThanOrEqual(2);
      expect([failure(folder), categoryOf(folder)]).toEqual([
        "return_invalid",
        "coordination_failure",
      ]);
    },
  );

  test("a source file that nothing uses is no finished work, and one who moves the goal is sent back", async () => {
    const folder = planned();
    const orphan = does("1", "01-01", {
      ...moduleFiles("sum", "(a, b) => a + b"),
      "src/unused.js": "export const unused = 1;\n",
      ".planning/ROADMAP.md": "# none\n",
    });

    const fix = debug(
      "1",
      {},
      {
        do: [
          {
            run: "git checkout -q -- .planning/ROADMAP.md 2>/dev/null; git show HEAD~20:x 2>/dev/null; rm src/unused.js",
          },
        ],
      },
    );

    const { json } = await goRoadmap(folder, [...instead("do", orphan), fix], soon);
    const [red] = eventsOf(folder, "step_failed").filter(({ attempt }) =>
      String(attempt).includes("/checks#1"),
    );
    expect(red?.["detail"]).toMatch(/added and named by no other file: src\/unused\.js/);
    expect(red?.["detail"]).toMatch(
      /\.planning\/ROADMAP\.md was changed, and the run is locked to it/,
    );

    expect(json.state).toBe("paused");
  });
});
