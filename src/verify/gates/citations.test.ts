import { expect, test } from "vitest";
import { findCitations, findCommitNames, missingCitations, findMissingLogs } from "./citations.ts";

const tree = {
  paths: new Set(["src/sum.js", "README.md"]),
  lineCount: (path: string) => ({ "src/sum.js": 3, "README.md": 1, "src/old.js": 9 })[path] ?? null,
};
const missing = (text: string): readonly string[] => missingCitations(findCitations(text), tree);

test("a place that is not there is found: a line behind the end, a file that never was", () => {
  expect(missing("The sum is wrong (src/sum.js:2), see `src/sum.js:99` and src/total.js:1.")).toEqual(["src/sum.js:99", "src/total.js:1"]);
  expect(missing("On src/sum.js line 4 it ends.")).toEqual(["src/sum.js:4"]);
});

test("what lies elsewhere, was there before, is quoted or is said to be gone is nobody's fault", () => {
  expect(missing("node_modules/left/index.js:400 and http://localhost.dev:80 and loader.js:12")).toEqual([]);
  expect(missing("It was in src/old.js:4.")).toEqual([]);
  expect(missing("```\nat run (src/total.js:9:1)\n```\n")).toEqual([]);
  expect(missing("I removed src/total.js:9.")).toEqual([]);
});

test("commits count where they are named as such, not every hexadecimal word", () => {
  expect(findCommitNames("Since commit `abc1234` and Commit: 0123456789abcdef0123456789abcdef01234567 it fails.")).toEqual([
    "abc1234",
    "0123456789abcdef0123456789abcdef01234567",
  ]);
  expect(
    findCommitNames("Commit 1234567 times, commit deadbeef-ish, colour abc1234, commits defaced.\n```\ncommit abc1234\n```\n"),
  ).toEqual([]);
});

test("a log in the document's own folder has to be there; others may be ignored by git", () => {
  const paths = new Set(["quality/results/BUG-1.red.log"]);
  const text = "See `quality/results/BUG-1.red.log`, `quality/results/BUG-2.red.log` and `logs/server.log`.";
  expect(findMissingLogs("quality/writeups/BUG-1.md", text, paths)).toEqual(["quality/results/BUG-2.red.log"]);
});
