// Greenfield from a folder with nothing in it to the last step, with a person at the decisions
// only.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { autopilot, type Entry, eventsOf, journal } from "../support/autopilot.ts";
import { git, scratch } from "../support/scratch-repository.ts";
import { longTest } from "../support/sampled.ts";
import {
  commit,
  draft,
  goStaged,
  greenfield,
  plan,
  problem,
  rows,
  says,
  stateOf,
  stateText,
  tasksOf,
  turn,
  twoRows,
} from "./project.ts";

const goal = ["--goal", "orders that survive two clerks"];

describe.concurrent("greenfield", () => {
  test("from an empty folder to the last step: two decisions of a person, everything else goes on by itself", async () => {
    const folder = scratch();
    const first = await goStaged(folder, "greenfield", greenfield, goal);
    expect(first.json).toMatchObject({
      result: "WARN",
      reason_code: "human_block_open",
      state: "paused",
    });

    expect(first.json["questions"]).toMatchObject([
      { options: { A: "another research round", B: "go on to planning" }, show: { drafts: 1 } },
    ]);

    expect(stateOf(folder).current).toMatchObject({
      step: 2,
      name: "Research",
      status: "in_progress",
      sub_step: "2 — decision",
    });

    await autopilot(folder, ["answer", "B", "--json"]);

    const second = await autopilot(folder, ["go", "--json"]);
    expect(second.json).toMatchObject({
      result: "WARN",
      reason_code: "session_boundary",
      state: "paused",
    });

    expect(stateOf(folder)).toMatchObject({
      current: { step: 6, name: "Implement", status: "not_started", retry_count: 0 },
      last_session: {
        reason: "session boundary",
        notes: "Decompose complete, implementation ready",
      },
    });

    await autopilot(folder, ["answer", "A", "--json"]);

    const third = await autopilot(folder, ["go", "--json"]);
    expect(third.json).toMatchObject({
      result: "WARN",
      state: "completed",
      verdict: "verified_with_gaps",
    });

    for (const gap of third.json["gaps"] as readonly string[])
      expect(gap).toMatch(/was skipped$|^its gates hold,/); // optional steps nobody asked for
    const state = stateOf(folder);
    expect(state.current).toMatchObject({ flow: "greenfield", step: "done", status: "completed" });
    expect(state.completed.map(({ step, name }) => [step, name])).toEqual([
      [1, "Problem"],
      [2, "Research"],
      [3, "Plan"],
      [4, "UI Design"],
      [5, "Decompose"],
      [6, "Implement"],
      [7, "Run Tests"],
      [8, "Security Audit"],
      [9, "Performance Test"],
      [10, "Deploy"],
    ]);

    expect(
      state.completed
        .filter(({ key_outcome }) => key_outcome === "skipped")
        .map(({ step }) => step),
    ).toEqual([4, 8, 9]);

    expect(state.decisions).toEqual(
      expect.arrayContaining([
        "Flow: greenfield, chosen with --flow",
        "Problem: Users: two clerks in one shop",
        "Research decision: go on to planning",
        "UI Design: skipped, nobody was asked",
      ]),
    );

    expect(existsSync(join(folder, "_docs/04_deploy/deploy_report.md"))).toBe(true); // landed
    expect(git(folder, "ls-tree", "-r", "--name-only", "HEAD").split("\n")).not.toContain(
      "_docs/_autopilot_state.md",
    ); // the runner's own
  });

  longTest(
    "implementing is batches: by dependency, side by side, each reviewed and with a commit of its own",
    "test/staged/boundaries.test.ts › is fixed and looked at again, and then closed",
    async () => {
      const folder = scratch();
      const { json } = await goStaged(folder, "greenfield", greenfield, [
        ...goal,
        "--continue",
        "--option",
        "research=decided",
      ]);
      expect(json).toMatchObject({ state: "completed" });
      const [read] = eventsOf(folder, "tasks_read");
      expect(read?.["waves"]).toMatchObject([
        [{ id: "01_layout" }],
        [{ id: "02_store" }, { id: "03_orders" }],
      ]);

      const marks = journal(folder)
        .filter(
          ({ event }) =>
            event === "task_completed" || event === "wave_completed" || event === "step_completed",
        )
        .map(({ event, walk, attempt }) => String(event === "step_completed" ? attempt : walk))
        .filter(
          (place) =>
            /^6@1\/do#1\/(?:\d|wave:\d(?:@\d\/(?:review|commit)#1)?$)/.test(place) &&
            !/^6@1\/do#1\/\d.*\/do/.test(place),
        );
      expect(marks).toEqual([
        "6@1/do#1/01_layout",
        "6@1/do#1/wave:1@1/review#1",
        "6@1/do#1/wave:1@1/commit#1",
        "6@1/do#1/wave:1",
        "6@1/do#1/02_store",
        "6@1/do#1/03_orders",
        "6@1/do#1/wave:2@1/review#1",
        "6@1/do#1/wave:2@1/commit#1",
        "6@1/do#1/wave:2",
      ]);

      const subjects = git(folder, "log", "--format=%s").split("\n");
      expect(subjects).toEqual(
        expect.arrayContaining([
          "Batch 01 of step 6: 01_layout",
          "Batch 02 of step 6: 02_store, 03_orders",
        ]),
      );

      expect(git(folder, "show", "HEAD:_docs/03_implementation/batch_02_report.md")).toContain(
        "| 03_orders | done |",
      );

      expect(sideBySide(journal(folder))).toBe(2);
    },
  );

  longTest(
    "what is only said is not believed: a task above five points, one without a file, and a report that leaves a task out",
    "test/staged/greenfield.test.ts › the tests are run by the runner: a report of a test run that never passed finishes nothing",
    async () => {
      const folder = scratch();
      const tasks = greenfield.find(
        ({ when }) => JSON.stringify(when) === '{"phase":"5","step":"do"}',
      );

      const large = turn("5", {
        "_docs/02_tasks/_dependencies_table.md":
          "| Task | Complexity | Dependencies | Files |\n|---|---|---|---|\n| 01_all | 8 | None | package.json |\n| 02_ghost | 1 | 01_all | x.js |\n",
        "_docs/02_tasks/01_all.md": "# Everything\n\nOne task that does all there is to do here.\n",
      });

      const fixes = {
        ...tasks,
        do: [{ delete: { path: "_docs/02_tasks/01_all.md" } }, ...(tasks?.do ?? [])],
      } as typeof large;

      const thin = turn(
        "6",
        {
          "_docs/03_implementation/FINAL_implementation_report.md":
            "# Report\n\n| 01_layout | done |\n| 02_store | failed |\n",
        },
        says("All done."),
        "report",
      );

      const turns = [...greenfield.filter((candidate) => candidate !== tasks), large, fixes];
      const { json } = await goStaged(
        folder,
        "greenfield",
        [thin, ...turns],
        [...goal, "--continue", "--option", "research=decided"],
      );
      expect(json).toMatchObject({ state: "completed" });
      const details = eventsOf(folder, "step_failed").map(({ detail }) => String(detail));
      expect(details[0]).toMatch(
        /task 01_all has 8 points, expected at most 5.*02_ghost has no file|02_ghost has no file.*01_all has 8 points/,
      );

      expect(details[1]).toMatch(
        /no report says that task 02_store is done; no report says that task 03_orders is done/,
      );

      expect(rows).toHaveLength(3);
    },
  );

  test("the tests are run by the runner: a report of a test run that never passed finishes nothing", async () => {
    const folder = scratch();
    commit(folder, { ...problem, ...draft, ...plan, ...tasksOf(twoRows) });

    const broken = {
      when: { phase: "6", step: "do", task: "02_store" },
      do: [
        { write: { path: "src/store.js", text: "1\n" } },
        {
          write: {
            path: "test/store.test.js",
            text: 'import test from "node:test";\ntest("no", () => { throw new Error("no"); });\n',
          },
        },
      ],
      returns: { summary: "The store is built and its tests pass." },
    };

    const fix = {
      when: { phase: "7", step: "do", attempt: 2 },
      do: [
        {
          write: {
            path: "test/store.test.js",
            text: 'import test from "node:test";\ntest("yes", () => {});\n',
          },
        },
        { append: { path: "_docs/03_implementation/test_run.md", text: "Mended.\n" } },
      ],
      returns: says("Mended."),
    };
    const turns = [
      broken,
      fix,
      ...greenfield.filter(({ when }) => !JSON.stringify(when).includes("02_store")),
    ];

    const { json } = await goStaged(folder, "greenfield", turns, [
      ...goal,
      "--continue",
      "--option",
      "research=decided",
    ]);
    expect(json).toMatchObject({ state: "completed" });
    expect(eventsOf(folder, "step_failed")).toMatchObject([
      {
        attempt: "7@1/do#1",
        detail: expect.stringMatching(/tests_pass: npm run test: failed, exit 1/) as string,
      },
    ]);

    expect(stateText(folder)).toContain("| 7 | Run Tests |");
  });

  longTest(
    "optional steps that were asked for are done: --with ui,security",
    "test/staged/taken-over.test.ts › does optional steps that the config asks for",
    async () => {
      const folder = scratch();
      const more = [
        turn(
          "4",
          {
            "_docs/02_document/ui/overview.md":
              "# Screens\n\nOne list of orders and one form to add to it.\n",
          },
          says("Two screens."),
        ),
        turn(
          "8",
          {
            "_docs/05_security/security_report.md":
              "# Security\n\nNothing listens on the network, so files are what is left.\n",
          },
          says("Nothing grave."),
        ),
      ];

      const args = [...goal, "--continue", "--option", "research=decided", "--with", "ui,security"];
      const { json } = await goStaged(folder, "greenfield", [...greenfield, ...more], args);
      expect(json).toMatchObject({ state: "completed" });
      expect(
        stateOf(folder)
          .completed.filter(({ key_outcome }) => key_outcome === "skipped")
          .map(({ step }) => step),
      ).toEqual([9]);

      expect(stateOf(folder).decisions).toEqual(
        expect.arrayContaining(["UI Design: wanted", "Security Audit: wanted"]),
      );

      const unknown = await goStaged(scratch(), "greenfield", [], ["--with", "tea"]);
      expect(unknown.json).toMatchObject({
        result: "FAIL",
        reason_code: "objective_schema_invalid",
        message: expect.stringContaining("--with tea") as string,
      });
    },
  );
});

/** The most agents' turns that were open at one moment. */
function sideBySide(entries: readonly Entry[]): number {
  const open = new Set<unknown>();
  let most = 0;

  for (const { event, kind, attempt } of entries) {
    if (event === "step_started" && kind === "agent") open.add(attempt);
    if (event === "turn_ended") open.delete(attempt);
    most = Math.max(most, open.size);
  }

  return most;
}
