import { expect, test } from "vitest";
import { buildCommitSubject } from "./attempt-commit-subject.ts";

const order = {
  phase: "2",
  name: "Parser",
  isOnly: false,
  step: "execute",
  paths: ["src/a.ts"],
  goal: "accept weeks\nand more",
};

test("a run of one phase names its commits by the goal, in one line that git log shows whole", () => {
  expect(buildCommitSubject({ ...order, isOnly: true })).toBe("accept weeks");
  const long = buildCommitSubject({
    ...order,
    isOnly: true,
    goal: `accept ${"ISO weeks and ".repeat(9)}more`,
  });
  expect(long).toMatch(/^accept ISO weeks .* (ISO|weeks|and)…$/);
  expect(long.length).toBeLessThanOrEqual(72);
});

test("in a run of several phases a commit's subject names the phase and step, and what was changed", () => {
  expect(buildCommitSubject(order)).toBe("2 Parser/execute: change src/a.ts");
  expect(buildCommitSubject({ ...order, paths: ["a", "b", "c", "d"] })).toBe(
    "2 Parser/execute: change a, b and 2 more",
  );

  expect(buildCommitSubject({ ...order, name: "2", paths: [] })).toBe("2/execute: accept weeks");
  expect(buildCommitSubject({ ...order, paths: ["x".repeat(300)] })).toHaveLength(72);
});
