// Existing-code over a small code base that is really there and has its own test, to the last step;
// and the loop of new tasks.

import { describe, expect, test } from "vitest";
import { autopilot, eventsOf } from "../support/autopilot.ts";
import { git, scratch } from "../support/scratch-repository.ts";
import { longTest } from "../support/sampled.ts";
import {
  codeBase,
  existingCode,
  goStaged,
  newRow,
  reportOf,
  stateOf,
  tasksOf,
  taskTurn,
  testRows,
  turn,
} from "./project.ts";

describe.concurrent("existing-code", () => {
  longTest(
    "from a real code base to the last step, with a pause at both boundaries",
    "test/staged/greenfield.test.ts › from an empty folder to the last step: two decisions of a person, everything else goes on by itself",
    async () => {
      const folder = scratch({ files: codeBase });
      const first = await goStaged(folder, "existing-code", existingCode);
      expect(first.json).toMatchObject({
        result: "WARN",
        reason_code: "session_boundary",
        state: "paused",
      });

      expect(first.json["questions"]).toMatchObject([
        { show: { tasks: 1, batches: 1, points: 2 }, recommend: "A" },
      ]);

      expect(stateOf(folder).current).toMatchObject({
        flow: "existing-code",
        step: 4,
        name: "Implement Tests",
        status: "not_started",
      });

      await autopilot(folder, ["answer", "A", "--json"]);

      const second = await autopilot(folder, ["go", "--json"]);
      expect(second.json).toMatchObject({ result: "WARN", reason_code: "session_boundary" });
      expect(second.json["questions"]).toMatchObject([
        { show: { tasks: 1, batches: 1, points: 2 } },
      ]); // the one that is new

      expect(stateOf(folder).current).toMatchObject({
        step: 8,
        name: "Implement",
        status: "not_started",
      });

      await autopilot(folder, ["answer", "B", "--json"]);

      const third = await autopilot(folder, ["go", "--json"]);
      expect(third.json).toMatchObject({
        result: "WARN",
        state: "completed",
        verdict: "verified_with_gaps",
      });

      for (const gap of third.json["gaps"] as readonly string[]) {
        expect(gap).toMatch(/was skipped$|^its gates hold,/);
      } // optional steps nobody asked for

      const { current, completed } = stateOf(folder);
      expect(current).toMatchObject({ step: "done", status: "completed" });
      expect(completed.map(({ step }) => step)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
      expect(
        completed.filter(({ key_outcome }) => key_outcome === "skipped").map(({ name }) => name),
      ).toEqual(["Refactor", "Security Audit", "Performance Test"]);

      expect(git(folder, "show", "HEAD:src/discount.js")).toContain("discount");
      expect(eventsOf(folder, "step_failed")).toEqual([]);
    },
  );

  test("--tasks 2: two rounds of New Task and Implement, and Completed Steps keeps each", async () => {
    const folder = scratch({ files: codeBase });
    const third = { id: "03_coupon", points: 1, files: "src/coupon.js" };
    const ids = [...testRows, newRow, third].map(({ id }) => id);

    const again = [
      turn("7", tasksOf([...testRows, newRow, third])),
      taskTurn("8", "03_coupon", { "src/coupon.js": "export const coupon = 5;\n" }),
      turn(
        "8",
        { "_docs/03_implementation/FINAL_implementation_report.md": reportOf(ids) },
        { summary: "Coupons are built too." },
        "report",
      ),
    ];

    const { json } = await goStaged(
      folder,
      "existing-code",
      [...existingCode, ...again],
      ["--continue", "--tasks", "2"],
    );
    expect(json).toMatchObject({ state: "completed" });
    const { completed } = stateOf(folder);
    expect(completed.map(({ step }) => step)).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8, 7, 8, 9, 10, 11, 12,
    ]);

    expect(
      completed.filter(({ step }) => step === 8).map(({ key_outcome }) => key_outcome),
    ).toEqual(["Discounts are built.", "Coupons are built too."]);

    expect(
      eventsOf(folder, "tasks_read").map(({ waves }) =>
        (waves as { id: string }[][]).flat().map(({ id }) => id),
      ),
    ).toEqual([["01_price_tests"], ["02_discount"], ["03_coupon"]]);
  });
});
