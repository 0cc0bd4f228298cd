import { expect, test } from "vitest";
import { firstWords } from "./first-words.ts";

const order = { prompt: "Build it.\n\nHand back JSON.", returns: null, isInterrupted: false };
const interrupted = { ...order, isInterrupted: true };

test("a turn begins with its task, word for word", () => {
  for (const isTakenUp of [true, false]) expect(firstWords(order, { isTakenUp, holds: "unknown" }, false)).toBe(order.prompt);
});

test.each(["yes", "unknown"] as const)("a session that holds the prompt (%s) is told to go on, with the task for reference", (holds) => {
  const words = firstWords(interrupted, { isTakenUp: true, holds }, false);
  expect(words).not.toContain(order.prompt);
  expect(words).toContain("> Build it.\n>\n> Hand back JSON.");
  expect(words).toContain("set back");
});

test.each([
  ["a session that was told not to hold it", { isTakenUp: true, holds: "no" }],
  ["a new session", { isTakenUp: false, holds: "no" }],
] as const)("%s gets the whole prompt after a word on what happened", (_, opened) => {
  const words = firstWords(interrupted, opened, false);
  expect(words.endsWith(order.prompt)).toBe(true);
  expect(words).toContain("cut off");
});

test("the runner's tools are named where they are offered, handing in only where something is asked for", () => {
  const opened = { isTakenUp: false, holds: "no" } as const;
  expect(firstWords(order, opened, true)).toContain("ask_human");
  expect(firstWords(order, opened, true)).not.toContain("submit_result");
  expect(firstWords({ ...order, returns: { name: "x", schema: {}, isOptional: false } }, opened, true)).toContain("submit_result");
});
