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
