import { expect, test } from "vitest";
import { renderNowLines } from "./now-lines.ts";
import { phases, runView } from "./run-view.test-support.ts";

const attempt = "1@1/execute#1";
const open = {
  attempt,
  cursor: "1",
  step: "execute",
  kind: "agent",
  stage: "started",
  role: "executor",
  need: null,
};
const place = {
  attempt,
  phase: "1",
  step: "execute",
  role: "executor",
  task: null,
  ordinal: 1,
  asks: 0,
  isOver: false,
};
const working = (stage: "started" | "applied") =>
  runView({
    status: "running",
    phases: phases("completed", "open"),
    open: { [attempt]: { ...open, stage } as never },
    turns: [place],
  });
const now = { latestLineOf: () => null, ageMs: () => 31_000 };

test("a turn under way: for how long, the last thing seen of it, and what is spent", () => {
  expect(
    renderNowLines(working("started"), { ...now, latestLineOf: () => "  · editing src/a.ts" }),
  ).toEqual([
    "● Turn 1        31s  · editing src/a.ts",
    "  0 of 180k tokens (0 %), 0.5 of 30 min, 0 of 180 calls   Ctrl-C pauses",
  ]);

  expect(renderNowLines(working("started"), now)[0]).toContain("at work");
});

test("what follows a turn is checks; where nothing is under way there is nothing to show", () => {
  expect(renderNowLines(working("applied"), now)[0]).toMatch(/^● Checks .* looking at the result$/);
  expect(renderNowLines(runView({ status: "running" }), now)).toEqual([]);
  expect(renderNowLines(runView({ ...working("started"), status: "paused" }), now)).toEqual([]);
});
