import { expect, test } from "vitest";
import { findPromise } from "./find-promise.ts";

test("no text, however it is made, takes long to read", () => {
  const hostile = [
    "<code>",
    "`",
    '"',
    "„",
    "'a ",
    "> ",
    "I will ",
    "remaining ",
    "<promise>",
    "\n    ",
  ].map((part) => part.repeat(Math.ceil(200_000 / part.length)));
  for (const text of hostile) {
    expect(
      findPromise(`${text}\n<promise>DONE</promise> ${text}`, "DONE", [text.slice(0, 20_000)]),
    ).toBeDefined();
  }
});
