import { describe, expect, test } from "vitest";
import { openAnswer, type OutputExpectation } from "./answer.ts";

const exactly = (count: number): OutputExpectation => ({ kind: "exactly", count });
const least = (count: number): OutputExpectation => ({ kind: "at_least", count });
const words = (text: string): OutputExpectation => ({ kind: "text", text });

/**
 * Each text in pieces of every size that matters, so that no cut between chunks changes the answer.
 */
function answered(
  wanted: OutputExpectation,
  exitCode: number | null,
  out: string,
  err = "",
): boolean {
  const verdicts = [1, 2, 7, 100_000].map((size) => {
    const answer = openAnswer(wanted);
    const feed = (text: string, into: (chunk: Uint8Array) => void): void => {
      const bytes = new TextEncoder().encode(text);
      for (let index = 0; index < bytes.length; index += size) {
        into(bytes.subarray(index, index + size));
      }
    };
    feed(out, answer.addStdout);
    feed(err, answer.addStderr);

    return answer.judge(exitCode).isMet;
  });
  expect(new Set(verdicts).size).toBe(1);
  return verdicts[0] === true;
}

test.each<[OutputExpectation, number | null, string, boolean]>([
  [exactly(0), 1, "0\n", true], // grep -c that finds nothing exits with 1, and that is what was expected
  [exactly(0), 1, "", true],
  [exactly(2), 0, "2\n", true],
  [exactly(2), 0, " 2 \r\n", true],
  [exactly(2), 0, "a\nb\n", true],
  [exactly(2), 0, "a\n\n  \nb", true],
  [exactly(2), 0, "3\n", false],
  [exactly(2), 0, "2\n2\n2\n", false],
  [exactly(1), 0, "2 3\n", true],
  [exactly(1), 0, "2 files\n", true], // a line that isn't a number is one line
  [exactly(1), 0, `${"9".repeat(80)}\n`, true],
  [least(2), 0, "10\n", true],
  [least(2), 0, "2\n", true],
  [least(2), 0, "1\n", false],
  [least(2), 0, "one line\n", false],
  [least(0), 127, "0\n", false],
  [least(0), 126, "0\n", false],
  [least(0), null, "0\n", false],
  [words("EXIT:0"), 0, "ok\nEXIT:0\n", true],
  [words("EXIT:0"), 3, "ok\nEXIT:0\n", true],
  [words("EXIT:0"), 0, "EXIT:1\n", false],
  [words("EXIT:0"), null, "EXIT:0\n", false],
  [words("grün"), 0, "alles grün\n", true],
  [words("x"), 0, "y", false],
])("%j with exit code %j and output %j: %j", (wanted, exitCode, output, isMet) => {
  expect(answered(wanted, exitCode, output)).toBe(isMet);
});

describe("what a program complains of", () => {
  const complaint = "grep: gone.ts: No such file or directory\n";
  test("is counted as no answer", () => {
    expect(answered(least(1), 2, "", complaint)).toBe(false);
    expect(answered(exactly(0), 0, "", "warning: old file\n")).toBe(true);
  });

  test("with nothing else said and a bad end is no zero", () => {
    expect(answered(exactly(0), 2, "", complaint)).toBe(false);
    expect(answered(exactly(0), 2, "0\n", complaint)).toBe(true);
  });

  test("may hold the words that were expected only where the program ended well", () => {
    expect(answered(words("gone.ts"), 2, "", complaint)).toBe(false);
    expect(answered(words("OK"), 0, "", "Ran 2 tests\nOK\n")).toBe(true);
  });
});

test("what was expected and what came is told", () => {
  const counted = openAnswer(least(3));
  counted.addStdout(new TextEncoder().encode("2\n"));
  expect(counted.judge(0).message).toBe("expected it to return at least 3, and it returned 2");
  expect(openAnswer(words("fine")).judge(0).message).toBe(
    'expected "fine" in what it prints, which is not there',
  );
});
