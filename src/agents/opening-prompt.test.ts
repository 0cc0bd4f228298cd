import { expect, test } from "vitest";
import { composeOpeningPrompt } from "./opening-prompt.ts";

const request = { prompt: "Build it.\n\nHand back JSON.", returns: null, isInterrupted: false };
const interrupted = { ...request, isInterrupted: true };

test("a turn begins with its task, word for word", () => {
  for (const isResumed of [true, false]) {
    expect(composeOpeningPrompt(request, { isResumed, holds: "unknown" }, false)).toBe(
      request.prompt,
    );
  }
});

test.each(["yes", "unknown"] as const)(
  "a session that holds the prompt (%s) is told to go on, with the task for reference",
  (holds) => {
    const text = composeOpeningPrompt(interrupted, { isResumed: true, holds }, false);
    expect(text).not.toContain(request.prompt);
    expect(text).toContain("> Build it.\n>\n> Hand back JSON.");
    expect(text).toContain("set back");
  },
);

test.each([
  ["a session that was told not to hold it", { isResumed: true, holds: "no" }],
  ["a new session", { isResumed: false, holds: "no" }],
] as const)("%s gets the whole prompt after a word on what happened", (_, opened) => {
  const text = composeOpeningPrompt(interrupted, opened, false);
  expect(text.endsWith(request.prompt)).toBe(true);
  expect(text).toContain("cut off");
});

test("the runner's tools are named where they are offered, handing in only where something is asked for", () => {
  const opened = { isResumed: false, holds: "no" } as const;
  expect(composeOpeningPrompt(request, opened, true)).toContain("ask_human");
  expect(composeOpeningPrompt(request, opened, true)).not.toContain("submit_result");
  expect(
    composeOpeningPrompt(
      { ...request, returns: { name: "x", schema: {}, isOptional: false } },
      opened,
      true,
    ),
  ).toContain("submit_result");
});
