import { describe, expect, test } from "vitest";
import {
  findCitations,
  findInventedQuotes,
  findMissingCitations,
  findMissingLogs,
} from "./citations.ts";
import { findCommitNames } from "./commit-names.ts";

const sum = "export function sum(a, b) {\n  return a - b;\n}\n";
const texts: Readonly<Record<string, string>> = {
  "src/sum.js": sum,
  "README.md": "# Sum\n",
  "src/old.js": "x\n".repeat(9),
};
const tree = {
  paths: new Set(Object.keys(texts)),
  texts: (path: string) => (texts[path] === undefined ? null : [texts[path]]),
  hadBefore: (path: string) => path === "src/gone.js",
};
const missing = (text: string): readonly string[] =>
  findMissingCitations(findCitations(text), tree);

describe("a place that is not there is found", () => {
  test.each<[string, readonly string[]]>([
    [
      "The sum is wrong (src/sum.js:2), see `src/sum.js:99` and src/total.js:1.",
      ["src/sum.js:99", "src/total.js:1"],
    ],
    ["On src/sum.js line 4 it ends.", ["src/sum.js:4"]],
    ["A range behind the end: src/sum.js:2-40.", ["src/sum.js:2-40"]],
    ["[sum](src/sum.js#L1-L9) and `src/sum.js`:12", ["src/sum.js:1-9", "src/sum.js:12"]],
    [
      "See `src/sum.js` (lines 2–17), and lines 3 to 8 of `src/sum.js`.",
      ["src/sum.js:2-17", "src/sum.js:3-8"],
    ],
    ["A file by its name: sum.js:8", ["sum.js:8"]],
    ["A folder that never was: lib/core/total.js:3", ["lib/core/total.js:3"]],
    ["Said to be removed, and never there: src/never.js:9", ["src/never.js:9"]],
    ["I replaced the old code in src/sum.js:80.", ["src/sum.js:80"]],
    ["- **File**: `src/sum.js`\n- **Line**: 40\n", ["src/sum.js:40"]],
    [
      "| file | line | what |\n|---|---|---|\n| `src/sum.js` | 70 | wrong |\n| src/sum.js | 2 | wrong |\n",
      ["src/sum.js:70"],
    ],
    ['"file": "src/sum.js", "line": 33', ["src/sum.js:33"]],
    [`${"word ".repeat(900)}src/sum.js:77`, ["src/sum.js:77"]],
    ["```\nThis block is never closed: src/sum.js:55\n", ["src/sum.js:55"]],
  ])("%s", (text, found) => expect(missing(text)).toEqual(found));
});

describe("quoted code that says where it is from has to be there", () => {
  test.each([
    "```2:2:src/sum.js\n  return a - b;\n```\n",
    "```js src/sum.js:1-3\nexport function sum(a, b) {\n  // wrong\n  return a - b;\n```\n",
  ])("and is: %j", (text) => expect(missing(text)).toEqual([]));

  test.each([
    "```1:2:src/sum.js\nconst total = a * b;\n```\n",
    "```js\n// src/sum.js:1-2\nreturn prices.at(0);\n```\n",
  ])("and isn't: %j", (text) =>
    expect(missing(text)).toEqual(["src/sum.js:1-2 (the quoted code is not there)"]),
  );
});

describe("code quoted beside positions", () => {
  const line = (code: string): string => `At src/sum.js:2 stands \`${code}\`, which is wrong.`;
  const invented = [
    "while (queue.next != null) step(7);",
    "return alpha / beta;",
    "const total = sum(1);",
    "if (a = b) return;",
  ];

  test("is reported if nearly none of it is in the file", () => {
    expect(findInventedQuotes(invented.map(line).join("\n"), tree)).toHaveLength(4);
    expect(
      findInventedQuotes([...invented, "return a - b;"].map(line).join("\n"), tree),
    ).toHaveLength(4);
  });

  test.each([
    [
      "some of it is there",
      [
        line("return a - b;"),
        "src/sum.js:1 `export function sum(a, b) {` stays.",
        ...invented.slice(0, 2).map(line),
      ],
    ],
    ["a few are proposals", invented.slice(0, 3).map(line)],
    ["the file is elsewhere", invented.map((code) => `At /usr/lib/x.js:3 stands \`${code}\`.`)],
    [
      "they are names, paths and commands",
      ["`sum`", "`src/sum.js:2`", "`npm test`", "`a.b`"].map(
        (word) => `See src/sum.js:2 and ${word}.`,
      ),
    ],
  ])("is not if %s", (_name, lines) =>
    expect(findInventedQuotes(lines.join("\n"), tree)).toEqual([]),
  );
});

describe("what lies elsewhere, was there before or is quoted is nobody's fault", () => {
  test.each([
    "node_modules/left/index.js:400 and http://localhost.dev:80 and ../other/x.js:12 and /usr/lib/x.js:3",
    "`db.prod:5432` and server.go:12 are of no kind that is here.",
    "It was in src/old.js:4.",
    "I removed src/gone.js:9.",
    "In sum.js:2 and sum.js:2:9, src/sum.js:1, 40 tests fail; src/sum.js has 3 lines.",
    "```\nat run (src/total.js:9:1)\n```\n",
    "```js\n// a fix\nreturn a + b;\n```\n",
  ])("%s", (text) => expect(missing(text)).toEqual([]));
});

test("commits count where they are named as such, not every hexadecimal word", () => {
  expect(
    findCommitNames(
      "Since commit `abc1234` and Commit: 0123456789abcdef0123456789abcdef01234567 it fails.",
    ),
  ).toEqual(["abc1234", "0123456789abcdef0123456789abcdef01234567"]);

  expect(
    findCommitNames(
      "Commit 1234567 times, commit deadbeef-ish, colour abc1234, commits defaced.\n```\ncommit abc1234\n```\n",
    ),
  ).toEqual([]);
});

test("a log in the document's own folder has to be there; others may be ignored by git, or still to be made", () => {
  const paths = new Set(["quality/results/BUG-1.red.log"]);
  const missingLogs = (text: string): readonly string[] =>
    findMissingLogs("quality/writeups/BUG-1.md", text, paths);
  expect(
    missingLogs(
      "See `quality/results/BUG-1.red.log`, quality/results/BUG-2.red.log and `logs/server.log`.",
    ),
  ).toEqual(["quality/results/BUG-2.red.log"]);

  expect(missingLogs("[log](results/BUG-3.red.log), results/BUG-1.red.log, npm-debug.log")).toEqual(
    ["results/BUG-3.red.log"],
  );

  expect(
    missingLogs(
      "Keep what was printed in `quality/results/BUG-4.red.log`.\n`quality/results/BUG-NNN.red.log`",
    ),
  ).toEqual([]);
});
