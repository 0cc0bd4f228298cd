import { expect, test } from "vitest";
import type { Check } from "../../../contracts/evidence.ts";
import type { Lab } from "../lab.ts";
import { findJudges } from "./find-judges.ts";

const paths = ["Main.java", "Shop.java", "test/text/WordsTest.java", "src/text/Words.java"];

test.each([
  ["javac *.java && java -ea Main", ["Main.java"]],
  ["javac -d out *.java && java -ea -cp out Main quick", ["Main.java"]],
  ["sh build.sh && java -cp out:lib -ea text.WordsTest", ["test/text/WordsTest.java"]],
])("the class that a command starts judges: %s", async (command, expected) => {
  const check: Check = { id: "c1", kind: "criterion", title: "c1", command, source: "objective" };
  const lab = {
    pathsAt: async () => paths,
    commands: [command],
    changedPaths: ["Shop.java"],
    now: { passed: true, failed: new Set() },
  } as unknown as Lab;
  const isJudge = await findJudges(check, lab);
  expect(paths.filter(isJudge)).toEqual(expected);
});

test.each([
  [["make test", "./t", "cc -Wall -o t t.c max.c"], ["t.c"]],
  [["make test", "@./t"], ["t.c"]],
  [["make test", "./t 1 2 3 | grep -q 3"], []],
])(
  "a C program that is started as it is judges, if the work left it alone: %j",
  async (commands, expected) => {
    const [command = ""] = commands;
    const check: Check = { id: "c1", kind: "criterion", title: "c1", command, source: "objective" };
    const sources = ["t.c", "max.c", "main.c", "max.h"];
    const lab = {
      pathsAt: async () => sources,
      textAt: async (_side: string, path: string) =>
        path.startsWith("max") ? "int max(void);" : "int main(void) {}",
      commands,
      changedPaths: ["max.c"],
      now: { passed: true, failed: new Set() },
    } as unknown as Lab;
    const isJudge = await findJudges(check, lab);
    expect(sources.filter(isJudge)).toEqual(expected);
  },
);
