// What test runners say of themselves, and what it means when they say less than before.

import { test } from "vitest";
import { openTestOutput } from "./read-test-output.ts";

const tallyIn = (output: string, isOfTests: (path: string) => boolean = () => false) => {
  const testOutput = openTestOutput("", ["/nowhere"]);
  testOutput.readStdout(Buffer.from(output));
  return testOutput.take(isOfTests).tests;
};

test("output made to be slow to read is read in good time", () => {
  for (const bad of [
    "Tests: ",
    "1 passed, ",
    "ok 1 - ",
    "(1,1): error TS",
    "OK (a=1, ",
    "# pass ",
    "\u001b[",
    " ",
  ]) {
    tallyIn(`${bad.repeat(12_000)}\n`.repeat(2) + `${bad}\n`.repeat(12_000), () => false);
  }
});
