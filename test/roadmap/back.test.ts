// Ways back: debugged, planned anew, and taken back; and what becomes of the other phases then.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { autopilot, eventsOf } from "../support/autopilot.ts";
import { git, write } from "../support/scratch-repository.ts";
import { longTest } from "../support/sampled.ts";
import {
  around,
  calls,
  debug,
  does,
  factsOf,
  goRoadmap,
  judge,
  judgeBlind,
  judgeReturn,
  moduleFiles,
  plan,
  planCheck,
  planOf,
  plansOf,
  project,
  research,
  researchAgain,
  smooth,
  stepsOf,
  verify,
} from "./stories.ts";

const sum = { id: "1", name: "Sum", criteria: [`sum adds :: ${calls("sum", "2, 3", "5")}`] };
const mean = {
  id: "2",
  name: "Mean",
  after: "Phase 1",
  criteria: [`mean halves :: ${calls("mean", "2, 4", "3")}`],
};
const twice = {
  id: "3",
  name: "Twice",
  criteria: [`twice doubles :: ${calls("twice", "4", "8")}`],
};
const smoothTwice = smooth(
  "3",
  "twice",
  "(n) => 2 * n",
  `it doubles :: ${calls("twice", "1", "2")}`,
);
const smoothSum = smooth("1", "sum", "(a, b) => a + b", `it adds :: ${calls("sum", "1, 1", "2")}`);
const plannedSum = planOf([
  {
    id: "01-01",
    files: ["src/sum.js", "src/index.js"],
    verify: ["it is exported :: grep -q sum src/index.js"],
  },
]);

describe.concurrent("ways back", () => {
  test("the judge orders a rollback: kept under a branch, undone in one commit, dependents blocked, the others done and landed", async () => {
    // The third is there already, and only verified and judged.
    const folder = project([sum, mean, twice], {
      ...plansOf(smoothSum),
      "src/twice.js": "export const twice = (n) => 2 * n;\n",
    });

    const turns = [
      ...smoothSum.filter(({ when }) => (when as { step: string }).step !== "judge"),
      judge("1", { returns: judgeReturn({ recommendation: "rollback", alignment_score: 3 }) }),
      ...smoothTwice,
    ];

    const { json } = await goRoadmap(folder, turns);
    expect(json).toMatchObject({ result: "FAIL", reason_code: "phase_failed", state: "paused" });
    expect(eventsOf(folder, "phase_failed")).toMatchObject([
      { walk: "1", because: "judge_rejected" },
    ]);

    expect(eventsOf(folder, "phase_skipped")).toMatchObject([
      { walk: "2", because: "blocked_by_phase_1" },
    ]);

    expect(eventsOf(folder, "phase_completed").map(({ walk }) => walk)).toContain("3");

    const facts = factsOf(folder, "1", "undo");
    expect(facts).toMatchObject({
      rollback_performed: true,
      diagnostic_branch: "autopilot-diagnostic-phase-1",
    });

    expect(git(folder, "show", "autopilot-diagnostic-phase-1:src/sum.js")).toContain("a + b");
    const [applied] = eventsOf(folder, "changes_applied").filter(({ attempt }) =>
      String(attempt).includes("/undo#"),
    );

    expect(git(folder, "rev-parse", `${String(applied?.["commit"])}^{tree}`)).toBe(
      git(folder, "rev-parse", `${String(facts["rollback_to"])}^{tree}`),
    );

    expect(git(folder, "log", "--format=%s", "HEAD")).toContain("take back what failed");
    expect(git(folder, "show", "HEAD:.planning/phases/3/JUDGE-REPORT.md")).toContain(
      "Judge report of phase 3",
    );

    expect(git(folder, "ls-tree", "-r", "--name-only", "HEAD", "src/").split("\n")).toEqual([
      "src/greet.js",
      "src/index.js",
      "src/twice.js",
    ]);
  });

  longTest(
    "debugged three times, planned anew once, then taken back: one count of debugging for all of it",
    "test/simulation/stories.ts › roadmap: the judge halts one, another is replanned in vain, a person rejects a third",
    async () => {
      const folder = project([sum]);
      const wrong = (n: number) =>
        debug("1", { "src/sum.js": `export const sum = (a, b) => a + b + ${n};\n` });

      const turns = [
        research("1"),
        plan("1", plannedSum),
        planCheck("1", { repeat: 0 }),
        does("1", "01-01", moduleFiles("sum", "(a, b) => a - b")),
        wrong(1),
        wrong(2),
        wrong(3),
        researchAgain("1"),
        plan("1", `${plannedSum}\nAnother way.\n`),
        does("1", "01-01", { "src/sum.js": "export const sum = (a, b) => a * b;\n" }),
      ];

      const { json } = await goRoadmap(folder, turns);
      expect(json).toMatchObject({ result: "FAIL", reason_code: "phase_failed" });
      const steps = stepsOf(folder, "1");
      expect(steps.filter((step) => step.startsWith("debug"))).toHaveLength(3);
      expect(steps.filter((step) => step.startsWith("research"))).toHaveLength(2);
      expect(steps.slice(-5)).toEqual([
        "plan_check passed",
        "execute passed",
        "checks failed",
        "undo passed",
        "withdraw passed",
      ]);

      expect(steps.filter((step) => /^(verify|judge)/.test(step))).toEqual([]); // red checks never come before a judge
      expect(eventsOf(folder, "phase_failed")).toMatchObject([{ because: "attempts_used_up" }]);
      expect(eventsOf(folder, "route_taken").flatMap(({ count }) => count ?? [])).toEqual([
        "debug",
        "debug",
        "debug",
        "replan",
      ]);

      expect(git(folder, "ls-tree", "-r", "--name-only", "HEAD", "src/").split("\n")).toEqual([
        "src/greet.js",
        "src/index.js",
      ]);
    },
  );

  test("a verifier that does not let it pass, and a judge that scores it too low, send it to the debugger", async () => {
    const folder = project([sum], moduleFiles("sum", "(a, b) => a + b")); // it is there already, and only verified and judged
    const turns = [
      ...smoothSum.filter(
        ({ when }) => !["verify", "judge"].includes((when as { step: string }).step),
      ),
      verify("1", {
        repeat: 1,
        returns: {
          ...(verify("1").returns as object),
          pass: false,
          failures: ["negative numbers are not looked at"],
          failure_categories: [{ failure: "negative numbers", category: "executor_incomplete" }],
        },
      }),
      debug("1", {
        "test/sum.test.js":
          'import { test } from "node:test";\nimport "../src/sum.js";\ntest("negative", () => {});\n',
      }),
      verify("1"),
      judge("1", { repeat: 1, returns: judgeReturn({ alignment_score: 6 }) }),
      debug("1", {}, { do: [{ ask: "Is it to be described?" }] }), // what it is asked for the second time ends the story
    ];

    const { json } = await goRoadmap(folder, turns);
    expect(json, json.message).toMatchObject({
      result: "WARN",
      reason_code: "human_block_open",
      state: "paused",
    });

    expect(json["questions"]).toMatchObject([{ question: "Is it to be described?" }]);
    expect(eventsOf(folder, "route_taken").flatMap(({ count }) => count ?? [])).toEqual([
      "debug",
      "debug",
    ]);

    expect(stepsOf(folder, "1").slice(2)).toEqual([
      "checks passed",
      "verify passed",
      "debug passed",
      "checks passed",
      "verify passed",
      "judge_blind passed",
      "judge passed",
      "debug passed",
    ]);
  });

  longTest(
    "a failed phase is run once more when somebody resumes, and what it blocked with it",
    "test/simulation/stories.ts › roadmap: a failed phase pauses, resume runs it again, with checkpoints",
    async () => {
      const folder = project([sum, mean]);
      const turns = [
        ...smoothSum.filter(({ when }) => (when as { step: string }).step !== "judge"),
        judge("1", { repeat: 1, returns: judgeReturn({ recommendation: "halt" }) }),
        ...smoothSum,
        ...smooth(
          "2",
          "mean",
          "(a, b) => (a + b) / 2",
          `it halves :: ${calls("mean", "1, 1", "1")}`,
          ["sum"],
        ),
      ];
      const first = await goRoadmap(folder, turns);
      expect(first.json).toMatchObject({ reason_code: "phase_failed", state: "paused" });
      const { json } = await autopilot(folder, ["resume", "--json"]);
      expect(json, json.message).toMatchObject({ result: "PASS", state: "completed" });
      expect(eventsOf(folder, "phase_reopened").map(({ walk }) => walk)).toContain("1");
      expect(git(folder, "show", "HEAD:src/mean.js")).toContain("/ 2");
    },
  );
});

describe.concurrent("before a phase begins", () => {
  test("a dependency that is neither completed nor asked for stops it at once, with what and why", async () => {
    const folder = project([sum, mean]);
    const { json } = await goRoadmap(folder, around("2"), ["--option", "phases=2"]);
    expect(json).toMatchObject({
      reason_code: "dependencies_unmet",
      message: expect.stringContaining(
        "Phase 2 depends on 1, which is neither completed nor asked for",
      ) as string,
      remediation: expect.arrayContaining(["autopilot roadmap 1,2"]) as string[],
    });

    expect(existsSync(join(folder, ".autopilot/runs"))).toBe(false); // no run is left that could block another
  });

  test("a debug note that is not resolved stops it; a resolved one does not, and a commit that resolves it lets it go on", async () => {
    const open = project([sum], {
      ".planning/debug/login.md": "---\nstatus: investigating\n---\n# Login\n",
      ".planning/debug/old.md": "**Status:** resolved\n",
    });

    const { json } = await goRoadmap(open, []);
    expect(json).toMatchObject({ reason_code: "phase_failed" });
    expect(factsOf(open, "1", "preflight")).toMatchObject({
      unresolved_debug: ".planning/debug/login.md",
    });

    write(open, { ".planning/debug/login.md": "---\nstatus: resolved\n---\n# Login\n" });
    await autopilot(open, ["resume", "--json"]);
    expect(factsOf(open, "1", "preflight")).toMatchObject({
      working_tree_clean: false,
      unresolved_debug: "",
    }); // nothing could land

    git(open, "commit", "-qam", "resolved");
    await autopilot(open, ["resume", "--json"]);
    expect(factsOf(open, "1", "preflight")).toMatchObject({
      all_clear: true,
      unresolved_debug: "",
    });
  });

  longTest(
    "a specification that changed while the run worked stops the next phase, with both hashes",
    "test/cli-roadmap/walking.test.ts › changed between stop and resume is refused with both hashes; accepted, it goes on and says so",
    async () => {
      const folder = project([sum, twice], {
        ".planning/REQUIREMENTS.md": "# What\n",
        ...plansOf([...smoothSum, ...smoothTwice]),
      });

      const changes = {
        run: `node -e "require('fs').writeFileSync('${folder}/.planning/REQUIREMENTS.md', 'else\\n')"`,
      };

      const turns = [
        ...smoothSum.filter(({ when }) => (when as { step: string }).step !== "judge_blind"),
        judgeBlind("1", { do: [...judgeBlind("1").do, changes] }),
        ...smoothTwice,
      ];
      await goRoadmap(folder, turns);
      const [failed] = eventsOf(folder, "step_failed").filter(({ attempt }) =>
        String(attempt).startsWith("3@"),
      );
      expect(failed).toMatchObject({ reason_code: "spec_hash_mismatch" });
      expect(String(failed?.["detail"]).match(/sha256:[0-9a-f]{64}/g)).toHaveLength(2);
    },
  );
});
