import { expect, test } from "vitest";
import { findLookingCommand } from "./further-questions.ts";
import type { QuestionContext } from "./question-context.ts";

const ask = (command: string, isAnythingRun = false, source = "--done-criteria") =>
  findLookingCommand({
    check: { id: "c1", kind: "criterion", title: "it is there", command, source },
    isAnythingRun,
    differences: [
      { path: "src/format.js", kind: "added" },
      { path: "LICENSE", kind: "added" },
      { path: "plan.md", kind: "added" },
    ],
  } as unknown as QuestionContext);

test("criteria that only look at code the work changed leave a gap, if nothing else decides", async () => {
  expect(await ask("test -f src/format.js")).toContain("only looks at src/format.js");
  expect(await ask("grep -q 'RangeError' ./src/format.js")).toContain("runs none of it");
});

test("also in a folder that they name", async () => {
  expect(await ask("grep -rq RangeError src")).toContain("only looks at src/format.js");
  expect(await ask("grep -rq RangeError sr")).toBeNull();
});

test("not beside a criterion that runs something, nor about a document", async () => {
  expect(await ask("test -f src/format.js", true)).toBeNull();
  expect(await ask("test -f LICENSE")).toBeNull();
  expect(await ask("node --test && test -f src/format.js")).toBeNull();
});

test("what the run's own plan asks for leaves a gap anyway", async () => {
  expect(await ask("test -f LICENSE", true, "plan.md:3")).toContain("was written in this run");
});
