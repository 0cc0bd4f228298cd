import { expect, test } from "vitest";
import { Config } from "../../contracts/config.ts";
import { findIssues } from "../../kit/located-issues.ts";
import { buildLandMessage } from "./land-step.ts";

const values = {
  goal: "Accept ISO weeks\nand more",
  run: "run-1",
  verdict: "verified",
  proof: "Every check holds.",
};

test("a landing is called by the config's template, else by its goal and proof", () => {
  expect(buildLandMessage({ land_message: "feat: {goal} ({run}, {verdict})" }, values)).toBe(
    "feat: Accept ISO weeks (run-1, verified)",
  );

  expect(
    buildLandMessage({ land_message: "{goal}" }, { ...values, goal: "keep {run} as it is" }),
  ).toBe("keep {run} as it is");

  expect(buildLandMessage(undefined, values)).toBe(
    "Merge autopilot/run-1: Accept ISO weeks\n\nEvery check holds.",
  );

  expect(buildLandMessage({ land_squash: true }, values)).toBe(
    "Accept ISO weeks\n\nEvery check holds.",
  );
});

test.each(["", "  ", "{goals}", "{{goal}}", "a } b"])(
  "%j is no template: nothing unfilled would reach a commit",
  (message) => {
    expect(findIssues(Config, { land: { message } }).issues).toHaveLength(1);
    expect(findIssues(Config, { land: { message: "{proof} ok" } }).issues).toEqual([]);
  },
);
