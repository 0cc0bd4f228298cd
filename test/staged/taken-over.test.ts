// A staged project that another tool began, or that an earlier run left: recognised by status, gone
// on with by resume and go.

import { describe, expect, test } from "vitest";
import { autopilot, eventsOf, scripted } from "../support/autopilot.ts";
import { git, scratch, write } from "../support/scratch-repository.ts";
import { once } from "../support/rewind.ts";
import { longTest } from "../support/sampled.ts";
import {
  codeBase,
  commit,
  documented,
  draft,
  existingCode,
  goStaged,
  greenfield,
  oneRow,
  specified,
  newRow,
  plan,
  problem,
  reportOf,
  rows,
  stateOf,
  tasksOf,
  taskTurn,
  testRows,
  turn,
} from "./project.ts";

const state = (step: number, name: string): Record<string, string> => ({
  "_docs/_autopilot_state.md": `# Autopilot State\n\n## Current Step\nflow: greenfield\nstep: ${step}\nname: ${name}\nstatus: not_started\nsub_step:\nretry_count: 0\n\n## Completed Steps\n\n| Step | Name | Completed | Key Outcome |\n|------|------|-----------|-------------|\n| 5 | Decompose | 2026-01-05 | three tasks |\n\n## Key Decisions\n- UI Design: skipped\n\n## Last Session\ndate: 2026-01-05\nended_at: Step 5 Decompose\nreason: session boundary\nnotes: Decompose complete, implementation ready\n\n## Retry Log\n\n## Blockers\n- none\n`,
});

/** As our own runs leave it at the end. */
const doneState = {
  "_docs/_autopilot_state.md": `# Autopilot State\n\n## Current Step\nflow: existing-code\nstep: done\nname: Deploy\nstatus: completed\nsub_step:\nretry_count: 0\n\n## Completed Steps\n\n| Step | Name | Completed | Key Outcome |\n|------|------|-----------|-------------|\n${["Document", "Test Spec", "Decompose Tests", "Implement Tests", "Run Tests", "Refactor", "New Task", "Implement", "Run Tests", "Security Audit", "Performance Test", "Deploy"].map((name, at) => `| ${at + 1} | ${name} | 2026-01-05 | done |\n`).join("")}\n## Key Decisions\n- Refactor: skipped\n\n## Last Session\ndate: 2026-01-05\nended_at: Step 12 Deploy\nreason: completed step\nnotes: Published by hand.\n\n## Retry Log\n\n## Blockers\n- none\n`,
};

describe.concurrent("a staged project of another tool", () => {
  test("is shown by status and gone on with by resume: at the boundary it was left at, a new conversation has begun", async () => {
    const folder = scratch();
    commit(folder, { ...problem, ...draft, ...plan, ...tasksOf(oneRow), ...state(6, "Implement") });
    const shown = await autopilot(folder, ["status"]);
    expect(shown.out).toMatch(/Found a staged project, greenfield at step 6 Implement/);

    const { json, err } = await autopilot(folder, [
      "resume",
      "--yes",
      "--json",
      "--isolation",
      "clone",
      ...scripted(folder, greenfield),
    ]);
    expect(json).toMatchObject({
      result: "WARN",
      state: "completed",
      verdict: "verified_with_gaps",
    }); // nobody is asked again whether to begin

    for (const gap of json["gaps"] as readonly string[]) {
      expect(gap).toMatch(/^phase .* was skipped$|^its gates hold,/);
    }

    expect(err).toContain("Decompose complete, implementation ready");
    expect(eventsOf(folder, "document_differed")).toEqual([]);
    expect(stateOf(folder).decisions.slice(0, 2)).toEqual([
      "UI Design: skipped",
      expect.stringMatching(/^Flow: greenfield, taken up from _docs\/ at step 6/) as string,
    ]);
  });

  longTest(
    "that was stopped in the middle is taken up by go, with no words",
    "test/staged/taken-over.test.ts › is shown by status and gone on with by resume: at the boundary it was left at, a new conversation has begun",
    async () => {
      const folder = scratch();
      await goStaged(folder, "greenfield", greenfield);
      await autopilot(folder, ["stop", "--json"]);
      expect(stateOf(folder)).toMatchObject({
        current: { step: 2, status: "in_progress" },
        last_session: { reason: "user paused" },
      });

      git(
        folder,
        "merge",
        "-q",
        `autopilot/${String(eventsOf(folder, "run_drafted")[0]?.["run_id"])}`,
      ); // the draft had not landed yet

      const { json } = await autopilot(folder, [
        "go",
        "--yes",
        "--json",
        "--isolation",
        "clone",
        ...scripted(folder, greenfield),
      ]);
      expect(json).toMatchObject({ reason_code: "human_block_open" });
      expect(JSON.stringify(json["questions"])).toContain("go on to planning");
      expect(stateOf(folder).completed.map(({ step }) => step)).toEqual([1]);
    },
  );

  test("that is done says so; existing-code begins with a new task instead", async () => {
    const done = {
      ...problem,
      ...draft,
      ...plan,
      ...tasksOf(rows),
      "_docs/03_implementation/FINAL_implementation_report.md": "x\n",
      "_docs/03_implementation/test_run.md": "x\n",
      "_docs/04_deploy/deploy_report.md": "x\n",
    };

    const folder = scratch();
    commit(folder, done);
    expect((await goStaged(folder, "greenfield", [])).json).toMatchObject({
      result: "PASS",
      message: expect.stringContaining("Every step of greenfield is done") as string,
    });

    const code = scratch({ files: codeBase });
    commit(code, {
      ...documented,
      ...specified,
      ...tasksOf([...testRows, newRow]),
      "test/price-more.test.js": "// more\n",
      "_docs/03_implementation/tests_report.md": reportOf(["01_price_tests"]),
      "_docs/03_implementation/test_run.md": "x\n",
      "src/discount.js": "export const discount = (price) => price * 0.9;\n",
      "_docs/03_implementation/FINAL_implementation_report.md": reportOf([
        "01_price_tests",
        "02_discount",
      ]),
      "_docs/03_implementation/test_run_2.md": "x\n",
      "_docs/04_deploy/deploy_report.md": "x\n",
      ...doneState,
    });

    const bare = await autopilot(code, []);
    expect(bare.out).toContain("Every step of existing-code is done; nothing was begun.");
    expect(bare.out).toMatch(
      /Flow existing-code: done\.\n\s+Completed: 1 Document,[\s\S]*Decisions:[\s\S]*Last session: .* ended at Step 12 Deploy/,
    );

    const row = { id: "03_coupon", points: 1, files: "src/coupon.js" };
    const turns = [
      turn("7", tasksOf([...testRows, newRow, row])),
      taskTurn("8", "03_coupon", { "src/coupon.js": "export const coupon = 5;\n" }),
      turn(
        "8",
        {
          "_docs/03_implementation/FINAL_implementation_report.md": reportOf([
            "01_price_tests",
            "02_discount",
            "03_coupon",
          ]),
        },
        { summary: "Coupons are built." },
        "report",
      ),
      turn("9", {
        "_docs/03_implementation/test_run_2.md":
          "# Third run\n\nFour tests pass on the first try.\n",
      }),
      turn("12", {
        "_docs/04_deploy/deploy_report.md":
          "# Deployment\n\nPublished by hand once more, with the same command.\n",
      }),
    ];

    const second = await goStaged(
      code,
      "existing-code",
      [...turns, ...existingCode],
      ["--continue", "--goal", "coupons"],
    );
    expect(second.json).toMatchObject({ state: "completed" });
    expect(eventsOf(code, "phase_started").map(({ walk }) => walk)).toEqual([
      "before.survey",
      "7",
      "8",
      "9",
      "10",
      "11",
      "12",
    ]);

    expect(stateOf(code).completed.map(({ step }) => step)).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 7, 8, 9, 10, 11, 12,
    ]);
  });

  test("whose documents the user changed meanwhile on their own branch is told about, and that the run does not see them", async () => {
    const folder = scratch();
    commit(folder, { ...problem, ...draft });
    await goStaged(folder, "greenfield", greenfield);
    commit(
      folder,
      { "_docs/00_problem/problem.md": "# Problem\n\nIt is another one after all.\n" },
      "second thoughts",
    );

    const { json } = await autopilot(folder, ["go", "--json"]);
    expect(json.warnings.join("\n")).toMatch(
      /Changed on main since, and not seen by this run.*_docs\/00_problem\/problem\.md/,
    );
  });

  /** A project with settings of its own, from its first step to the first boundary. */
  const withSettings = once(async () => {
    const folder = scratch({ files: codeBase });
    write(folder, {
      ".autopilot/config.yaml": "with: [refactor]\nlimits:\n  no_progress_threshold: 2\n",
    });

    const { json } = await goStaged(folder, "existing-code", existingCode);
    expect(json).toMatchObject({ reason_code: "session_boundary" });
    expect(stateOf(folder).completed.map(({ step }) => step)).toEqual([1, 2, 3]);

    return folder;
  });

  test("does optional steps that the config asks for", async () => {
    const folder = await withSettings();
    const { json } = await autopilot(folder, ["config", "--json"]);
    expect(JSON.stringify(json)).toContain("refactor");
    expect(eventsOf(folder, "run_drafted")[0]?.["options"]).toMatchObject({ refactor: "do" });
  });

  test("keeps to the thresholds of the config, and has the flow's own for the others", async () => {
    const folder = await withSettings();
    expect(eventsOf(folder, "run_drafted")[0]?.["limits"]).toMatchObject({
      run: { no_progress_threshold: 2, same_error_threshold: 20 },
    });
  });
});
