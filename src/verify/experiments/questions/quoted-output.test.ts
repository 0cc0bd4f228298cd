import { describe, expect, test } from "vitest";
import { findOutputGoals } from "./quoted-output.ts";

describe("a goal that asks for an output in a document", () => {
  test.each([
    ["docs/BENCH.md contains the output of `node bench.mjs`, as run", false],
    [
      "Run `node bench.mjs` and write docs/BENCH.md with its complete output in a fenced block",
      true,
    ],
    ["Fix the loop. Then run `node bench.mjs` and paste the output into docs/BENCH.md", false],
    ["Measure it: run `node bench.mjs`, and record its whole output in docs/BENCH.md", true],
  ])("names its command: %s", (goal, isWhole) =>
    expect(findOutputGoals(goal)).toEqual([{ command: "node bench.mjs", isWhole }]),
  );

  test.each([
    "When one runs `cli --json`, write the output as JSON; say so in README.md",
    "Users can run `cli --json` and save its output to a file; describe it in README.md",
    "Run `npm test`, fix what fails and update README.md",
    "Run `make list` and check that its output has all commands",
    "Write README.md with how to run `cli` and what its output means",
  ])("or does not: %s", (goal) => expect(findOutputGoals(goal)).toEqual([]));
});
