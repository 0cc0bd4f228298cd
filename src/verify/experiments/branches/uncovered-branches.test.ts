import { expect, test } from "vitest";
import type { Observed } from "../broken-expectations/noticed-flips.ts";
import type { QuestionContext } from "../questions/question-context.ts";
import { findUncoveredBranches } from "./uncovered-branches.ts";
import { prepareMarks } from "./mark-branches.ts";

const code = `function live(now, id) {
  const clock = now ?? Date.now;
  if (clock() > id.end) return null;
  return id;
}
`;
const observe = (passed: boolean, output = ""): Observed => ({
  passed,
  failed: new Set(),
  tests: null,
  readOutput: () => output,
});

/**
 * What is said of the code above if a run that was made anyway left the marks `given` (null: there
 * was none), and all of them those in `marks`.
 */
async function ask(given: readonly string[] | null, marks: readonly string[]) {
  const runs: string[] = [];
  const files = {
    lab: { textAt: async (side: string) => (side === "work" ? code : null), seed: "s" },
    differences: [{ path: "a.js", kind: "added" }],
    rules: { rowOf: () => null },
  };
  const prepared = await prepareMarks(files as unknown as Parameters<typeof prepareMarks>[0]);
  const text = await findUncoveredBranches({
    ...files,
    branches: { marks: prepared, covered: given === null ? null : new Set(given) },
    passingCommands: ["npm test", "npm test", "grep -q a a.js"],
    runWith: async (
      _: unknown,
      { edits, command }: { edits: { text: string }[]; command: string },
    ) => {
      const trapped = /\[([^\]]*)\]\.includes\(mark\)/.exec(edits[0]?.text ?? "")?.[1] ?? "";
      runs.push(trapped === "" ? "marks" : "traps");
      if (trapped !== "") return observe(!marks.some((mark) => trapped.includes(`"${mark}"`)));
      const name = /^(\w+)=/.exec(command)?.[1] ?? "";
      return observe(true, `1 passed\n\n${name} ${marks.join(" ")}  ${name}\n`);
    },
  } as unknown as QuestionContext);
  return { text, runs, outcomes: prepared?.outcomes.map(({ mark }) => mark) };
}

test("a branch that no check covers is told", async () => {
  expect(await ask(["0T", "1T", "1F"], ["0T", "1T", "1F"])).toEqual({
    text: "no check covers these branches: `now` is missing (a.js:2)",
    runs: ["traps"],
    outcomes: ["0F", "1T", "1F"],
  });
});

test("a mark that was lost, or that another check leaves, is found by the error in its place", async () => {
  expect(await ask(["0T"], ["0T", "0F", "1T", "1F"])).toMatchObject({
    text: null,
    runs: ["traps", "marks"],
  });
  expect(await ask(["0T"], ["0T", "0F", "1F"])).toMatchObject({
    text: "no check covers these branches: `clock() > id.end` is true (a.js:3)",
    runs: ["traps", "marks", "traps"],
  });
});

test("all covered: nothing is run; nothing covered at all: nothing is said", async () => {
  expect(await ask(["0T", "0F", "1T", "1F"], [])).toMatchObject({ text: null, runs: [] });
  expect(await ask(null, [])).toMatchObject({ text: null, runs: ["marks"] });
});
