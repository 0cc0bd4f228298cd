import { expect, test } from "vitest";
import { Replay } from "./replay.ts";

const reported = (...updates: readonly (readonly [string, string])[]): Replay => {
  const replay = new Replay();
  for (const [sessionUpdate, text] of updates) {
    replay.addUpdate({ sessionUpdate, content: { type: "text", text } });
  }

  return replay;
};
const prompt = "Do the work.\n\nThen say so, at length and in order.";

test("a session that was told nothing holds nothing", () => {
  expect(reported().searchPrompt(prompt)).toBe("no");
});

test("a prompt cut in pieces, with other blanks and words around it, is found", () => {
  const replay = reported(
    ["user_message_chunk", "<context>Do the work. Then "],
    ["user_message_chunk", "say so, at length\nand in order.</context>"],
  );
  expect(replay.searchPrompt(prompt)).toBe("yes");
});

test("another prompt is another prompt", () => {
  expect(
    reported(
      ["user_message_chunk", "Do something else."],
      ["agent_message_chunk", prompt],
    ).searchPrompt(prompt),
  ).toBe("no");
});

test("an agent that tells of its own words only leaves it open", () => {
  expect(reported(["agent_message_chunk", "I did."]).searchPrompt(prompt)).toBe("unknown");
});
