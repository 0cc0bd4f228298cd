// Which tests passed and failed, as test runners print it, and which of them broke.

import { expect, test } from "vitest";
import { openTestOutput } from "../read-test-output.ts";
import { toTestNames } from "./test-names.ts";

function reported(output: string, command = "") {
  const testOutput = openTestOutput(command, ["/somewhere/check"]);
  testOutput.readStdout(Buffer.from(output));
  return testOutput.take(() => false).names;
}

test("names are bounded, and lines made to be slow to read are read in good time", () => {
  const many = Array.from(
    { length: 20_000 },
    (_, index) => `ok ${index} - ${"n".repeat(400)}${index}\nnot ok ${index} - m${index}\n`,
  ).join("");
  const kept = toTestNames(reported(many));
  expect([kept.passed.length, kept.failed.length, kept.passed[0]?.length]).toEqual([1, 500, 300]);

  for (const bad of [
    " > ",
    "FAIL: (",
    "a.py::",
    "✔ ",
    "  ",
    " ... ",
    "● ",
    "1) ",
    "# Subtest: ",
    "--- FAIL: ",
    "ok 1 - # ",
    "(1 ms) ",
  ]) {
    reported(`${bad.repeat(600)}\n`.repeat(40) + `${bad}\n`.repeat(3_000) + bad.repeat(100_000));
  }
});
