import { expect, test } from "vitest";
import { findProtectionRow } from "../../protected/kinds.ts";
import { findLookAtCode, findPlannedLook } from "./looks-only.ts";
import type { QuestionContext } from "./question-context.ts";

const added = (path: string) => ({ path, kind: "added" as const });
const context = (command: string, paths: readonly string[], source = "--done-criteria") =>
  ({
    check: { id: "c1", kind: "criterion", title: "it is there", command, source },
    differences: paths.map(added),
    rules: { rowOf: findProtectionRow },
    lab: { textAt: async (side: string) => (side === "base" ? null : "export const a = 1;\n") },
  }) as unknown as QuestionContext;
const paths = ["src/format.js", "LICENSE", "plan.md"];
const ask = (command: string, source?: string) => findLookAtCode(context(command, paths, source));

test("criteria that only look at code the work changed leave something open", async () => {
  expect(await ask("test -f src/format.js")).toContain("only looks at src/format.js");
  expect(await ask("grep -q 'RangeError' ./src/format.js")).toContain("runs none of it");
});

test("also in a folder that they name", async () => {
  expect(await ask("grep -rq RangeError src")).toContain("only looks at src/format.js");
  expect(await ask("grep -rq RangeError sr")).toBeNull();
});

test("not one that runs something, nor one about a document", async () => {
  expect(await ask("test -f LICENSE")).toBeNull();
  expect(await ask("node --test && test -f src/format.js")).toBeNull();
});

test("nor one that looks for code that is only taken away", async () => {
  const removed = (is: string, goal = "Remove sum()") =>
    findLookAtCode({
      ...context("! grep -rn sum src", []),
      goal,
      differences: [{ path: "src/sum.js", kind: "changed" }],
      lab: { textAt: async (side: string) => (side === "base" ? "sum();\nother();\n" : is) },
    } as unknown as QuestionContext);
  expect(await removed("other();\n")).toBeNull();
  expect(await removed("other(1);\n")).toContain("only looks at src/sum.js");
  expect(await removed("other();\n", "Implement what is TODO")).toContain("only looks at");
});

test("what the run's own plan asks for leaves a gap anyway", async () => {
  expect(await findPlannedLook(context("test -f LICENSE", paths, "plan.md:3"))).toContain(
    "was written in this run",
  );

  expect(await ask("test -f src/format.js", "plan.md:3")).toBeNull();
  expect(await findPlannedLook(context("test -f LICENSE", paths))).toBeNull();
});

test("if the work brought nothing but tests, what they show held before", async () => {
  const path = "test/page.test.js";
  expect(await findLookAtCode(context(`test -f ${path}`, [path]))).toContain(
    "nothing but tests, so what they show held before",
  );

  expect(await findLookAtCode(context(`test -f ${path}`, [path, "src/page.js"]))).not.toContain(
    "held before",
  );
});
