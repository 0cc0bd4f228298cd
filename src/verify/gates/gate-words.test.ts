// Every word of a gate, from both sides: a tree on which it holds, and one on which it does not,
// with what is said then.

import { describe, expect, test } from "vitest";
import type { Gate } from "../../contracts/flow.ts";
import type { GateFacts } from "./gate-facts.ts";
import { facts } from "./gate-facts.test-support.ts";
import { judgeGates } from "./gates.ts";

const lines = (count: number): string => "x\n".repeat(count);
type Tree = Readonly<Record<string, string>>;
type Row = {
  readonly gate: Gate;
  readonly holds: Tree | GateFacts;
  readonly not: Tree | GateFacts;
  /** `rule file: found → expected`, each failure a line. */
  readonly says: string;
};
const given = (tree: Tree | GateFacts): GateFacts =>
  "isWhole" in tree ? (tree as GateFacts) : facts(tree);
const changed = (tree: Tree, ...paths: readonly string[]): GateFacts =>
  facts(tree, { changed: new Set(paths) });
const later = (tree: Tree, is: boolean | null): GateFacts => facts(tree, { isNewer: () => is });
const ran = (passed: boolean): GateFacts =>
  facts(
    {},
    {
      commandResult: () => ({
        hasPassed: passed,
        ending: passed ? "passed (exit 0)" : "failed (exit 3)",
      }),
    },
  );

const there = "a regular file, reached without a link";
const table: Readonly<Record<string, Row>> = {
  file: {
    gate: { file: "a" },
    holds: { a: "" },
    not: { b: "" },
    says: `exists a: nothing there → ${there}`,
  },
  "file, a folder": {
    gate: { file: "a" },
    holds: { a: "" },
    not: { a: "<folder>" },
    says: `exists a: a folder → ${there}`,
  },
  "file, a link": {
    gate: { file: "a" },
    holds: { a: "" },
    not: { a: "<link>" },
    says: `exists a: a symbolic link → ${there}`,
  },
  "file, a pipe": {
    gate: { file: "a" },
    holds: { a: "" },
    not: { a: "<pipe>" },
    says: `exists a: a special file → ${there}`,
  },
  "file, behind a link": {
    gate: { file: "d/e/a" },
    holds: { d: "<folder>", "d/e": "<folder>", "d/e/a": "" },
    not: { d: "<link>" },
    says: `exists d/e/a: nothing there: d is a symbolic link → ${there}`,
  },
  "file, below a file": {
    gate: { file: "d/a" },
    holds: { "d/a": "" },
    not: { d: "text" },
    says: `exists d/a: nothing there: d is a regular file → ${there}`,
  },
  files: {
    gate: { files: ["a", "b"] },
    holds: { a: "", b: "" },
    not: { a: "" },
    says: `exists b: nothing there → ${there}`,
  },
  "exists: false": {
    gate: { file: "a", exists: false },
    holds: {},
    not: { a: "x" },
    says: "exists a: a regular file → nothing there",
  },
  "exists: false, a link": {
    gate: { file: "a", exists: false },
    holds: {},
    not: { a: "<link>" },
    says: "exists a: a symbolic link → nothing there",
  },
  "files + exists: false": {
    gate: { files: ["a", "b"], exists: false },
    holds: {},
    not: { a: "x", b: "x" },
    says: "exists a: a regular file → nothing there\nexists b: a regular file → nothing there",
  },
  "file + non_empty": {
    gate: { file: "a", non_empty: true },
    holds: { a: " " },
    not: { a: "" },
    says: "non_empty a: 0 bytes → at least 1 byte",
  },
  "files + non_empty": {
    gate: { files: ["a", "b"], non_empty: true },
    holds: { a: "x", b: "x" },
    not: { a: "x", b: "" },
    says: "non_empty b: 0 bytes → at least 1 byte",
  },
  "file + min_lines": {
    gate: { file: "a", min_lines: 120 },
    holds: { a: lines(120) },
    not: { a: lines(119) },
    says: "min_lines a: 119 lines → at least 120",
  },
  "file + min_lines, the last line without its break": {
    gate: { file: "a", min_lines: 120 },
    holds: { a: `${lines(119)}x` },
    not: { a: `${lines(118)}x` },
    says: "min_lines a: 119 lines → at least 120",
  },
  "file + min_lines, no text": {
    gate: { file: "a", min_lines: 2 },
    holds: { a: "é\nü" },
    not: { a: "<bytes>" },
    says: "min_lines a: no text: bytes that are not UTF-8 → at least 2",
  },
  "file + min_lines, huge": {
    gate: { file: "a", min_lines: 2 },
    holds: { a: lines(2) },
    not: { a: "<huge>" },
    says: "min_lines a: 1 line in the first 1 MiB → at least 2",
  },
  "file + matches": {
    gate: { file: "a", matches: "^## " },
    holds: { a: "x\n## y" },
    not: { a: "x ## y" },
    says: "matches a: no match → a match of /^## /m",
  },
  "file + matches, no text": {
    gate: { file: "a", matches: "x" },
    holds: { a: "x" },
    not: { a: "<nul>" },
    says: "matches a: no text: a NUL at byte 3 → a match of /x/m",
  },
  "file + matches, growing": {
    gate: { file: "a", matches: "x" },
    holds: { a: "x" },
    not: { a: "<grows>" },
    says: "matches a: a file that changed while it was read → a match of /x/m",
  },
  "file + matches, huge": {
    gate: { file: "a", matches: "end" },
    holds: { a: "end" },
    not: { a: "<huge>" },
    says: "matches a: no match in the first 1 MiB → a match of /end/m",
  },
  "files + all words": {
    gate: { files: ["a", "b"], non_empty: true, min_lines: 2, matches: "^x" },
    holds: { a: lines(2), b: lines(3) },
    not: { a: lines(2), b: "y" },
    says: "min_lines b: 1 line → at least 2\nmatches b: no match → a match of /^x/m",
  },
  fresh: {
    gate: { file: "a", fresh: true },
    holds: changed({ a: "x" }, "a"),
    not: changed({ a: "x" }, "b"),
    says: "fresh a: not changed by this visit → changed by this visit",
  },
  "files + fresh": {
    gate: { files: ["a", "b"], fresh: true },
    holds: changed({ a: "x", b: "x" }, "a", "b"),
    not: changed({ a: "x", b: "x" }, "a"),
    says: "fresh b: not changed by this visit → changed by this visit",
  },
  after: {
    gate: { file: "a", after: "old" },
    holds: later({ a: "x", old: "x" }, true),
    not: later({ a: "x", old: "x" }, false),
    says: "after a: not changed since → changed in a later commit than old",
  },
  "after, no history": {
    gate: { file: "a", after: "old" },
    holds: changed({ a: "x", old: "x" }, "a"),
    not: later({ a: "x", old: "x" }, null),
    says: "after a: an order the history cannot tell → changed in a later commit than old",
  },
  any: {
    gate: { any: "d/*.md" },
    holds: { "d/a.md": "" },
    not: { "d/a.txt": "" },
    says: "any d/*.md: 0 of 0 matching regular files → at least 1",
  },
  "any, a link": {
    gate: { any: "d/*.md" },
    holds: { "d/a.md": "" },
    not: { "d/a.md": "<link>" },
    says: "any d/*.md: 0 of 0 matching regular files (d/a.md is a symbolic link) → at least 1",
  },
  "any, a folder": {
    gate: { any: "docs" },
    holds: { docs: "" },
    not: { docs: "<folder>" },
    says: "any docs: 0 of 0 matching regular files (docs is a folder) → at least 1",
  },
  "any + at_least": {
    gate: { any: "*.md", at_least: 2 },
    holds: { "a.md": "", "b.md": "" },
    not: { "a.md": "" },
    says: "any *.md: 1 of 1 matching regular files → at least 2",
  },
  "any + except": {
    gate: { any: "*.md", except: ["draft-*"] },
    holds: { "draft-a.md": "", "a.md": "" },
    not: { "draft-a.md": "" },
    says: "any *.md: 0 of 0 matching regular files → at least 1",
  },
  "any + at_least + except": {
    gate: { any: "*.md", at_least: 2, except: ["draft-*"] },
    holds: { "a.md": "", "b.md": "" },
    not: { "draft-a.md": "", "a.md": "" },
    says: "any *.md: 1 of 1 matching regular files → at least 2",
  },
  "any + non_empty": {
    gate: { any: "*.md", non_empty: true },
    holds: { "a.md": "", "b.md": "x" },
    not: { "a.md": "" },
    says: "any *.md: 0 of 1 matching regular files (a.md: non_empty, found 0 bytes) → at least 1",
  },
  "any + min_lines": {
    gate: { any: "*.md", min_lines: 2 },
    holds: { "a.md": lines(2) },
    not: { "a.md": lines(1) },
    says: "any *.md: 0 of 1 matching regular files (a.md: min_lines, found 1 line) → at least 1",
  },
  "any + matches": {
    gate: { any: "*.md", matches: "^# " },
    holds: { "a.md": "x", "b.md": "# y" },
    not: { "a.md": "x" },
    says: "any *.md: 0 of 1 matching regular files (a.md: matches, found no match) → at least 1",
  },
  "any + fresh": {
    gate: { any: "*.md", fresh: true },
    holds: changed({ "a.md": "", "b.md": "" }, "b.md"),
    not: changed({ "a.md": "" }),
    says: "any *.md: 0 of 1 matching regular files (a.md: fresh, found not changed by this visit) → at least 1",
  },
  "any + after": {
    gate: { any: "*.md", after: "old" },
    holds: later({ "a.md": "", old: "" }, true),
    not: later({ "a.md": "", old: "" }, false),
    says: "any *.md: 0 of 1 matching regular files (a.md: after, found not changed since) → at least 1",
  },
  none: {
    gate: { none: ["*.rej", "*.orig"] },
    holds: { a: "" },
    not: { "a.rej": "" },
    says: "none a.rej: a regular file → no regular file that matches",
  },
  "none + except": {
    gate: { none: ["*.log"], except: ["keep.log"] },
    holds: { "keep.log": "" },
    not: { "keep.log": "", "a.log": "" },
    says: "none a.log: a regular file → no regular file that matches",
  },
  "none, a tree too large": {
    gate: { none: ["*.log"] },
    holds: {},
    not: facts({}, { isWhole: false }),
    says: "none *.log: a tree too large to list → no regular file that matches",
  },
  "for_each + files": {
    gate: { for_each: { file: "B", matches: "^### (BUG-\\d+)" }, files: ["w/{1}.md"] },
    holds: { B: "### BUG-1\n### BUG-2", "w/BUG-1.md": "x", "w/BUG-2.md": "x" },
    not: { B: "### BUG-1\n### BUG-2", "w/BUG-1.md": "" },
    says: `non_empty w/BUG-1.md: 0 bytes → at least 1 byte\nexists w/BUG-2.md: nothing there → ${there}`,
  },
  "for_each, two groups": {
    gate: { for_each: { file: "B", matches: "^(\\w+) (\\w+)$" }, files: ["{2}/{1}.md"] },
    holds: { B: "a d", "d/a.md": "x" },
    not: { B: "a d", "a/d.md": "x" },
    says: `exists d/a.md: nothing there → ${there}`,
  },
  "for_each + min_lines": {
    gate: { for_each: { file: "B", matches: "^(\\w+)$" }, files: ["{1}.md"], min_lines: 2 },
    holds: { B: "a", "a.md": lines(2) },
    not: { B: "a", "a.md": "x" },
    says: "min_lines a.md: 1 line → at least 2",
  },
  "for_each, no file": {
    gate: { for_each: { file: "B", matches: "(x)" }, files: ["{1}"] },
    holds: { B: "no such letter" },
    not: {},
    says: "for_each B: no such regular file → a file to read names from",
  },
  "for_each, a folder": {
    gate: { for_each: { file: "B", matches: "(x)" }, files: ["{1}"] },
    holds: { B: "" },
    not: { B: "<folder>" },
    says: "for_each B: no regular file: a folder → a file to read names from",
  },
  "for_each, no text": {
    gate: { for_each: { file: "B", matches: "(x)" }, files: ["{1}"] },
    holds: { B: "" },
    not: { B: "<bytes>" },
    says: "for_each B: no text: bytes that are not UTF-8 → a file to read names from",
  },
  "if + all, the condition holds": {
    gate: { if: { file: "B" }, all: [{ file: "p" }] },
    holds: { B: "", p: "" },
    not: { B: "" },
    says: `exists p: nothing there → ${there}`,
  },
  "if + else, the condition does not hold": {
    gate: { if: { file: "B" }, else: [{ file: "q" }] },
    holds: { q: "" },
    not: {},
    says: `exists q: nothing there → ${there}`,
  },
  "if + all, the condition does not hold: nothing is asked": {
    gate: { if: { file: "B" }, all: [{ file: "p" }] },
    holds: {},
    not: { B: "" },
    says: `exists p: nothing there → ${there}`,
  },
  "if in all": {
    gate: {
      if: { file: "B" },
      all: [{ if: { file: "C" }, all: [{ file: "p" }], else: [{ file: "q" }] }],
    },
    holds: { B: "", q: "" },
    not: { B: "", C: "", q: "" },
    says: `exists p: nothing there → ${there}`,
  },
  "if: none": {
    gate: {
      if: { none: ["*-triage.md"] },
      all: [{ any: "*.md", at_least: 2 }],
      else: [{ any: "*-triage.md" }],
    },
    holds: { "a.md": "", "b.md": "" },
    not: { "a.md": "" },
    says: "any *.md: 1 of 1 matching regular files → at least 2",
  },
  "if, a condition that cannot be judged": {
    gate: { if: { file: "B", matches: "^end" }, all: [{ file: "p" }] },
    holds: { B: "x" },
    not: { B: "<huge>" },
    says: "if matches B: no match in the first 1 MiB → a match of /^end/m",
  },
  command: {
    gate: { command: "make check" },
    holds: ran(true),
    not: ran(false),
    says: "command -: failed (exit 3): make check → exit 0",
  },
};

describe.each(Object.entries(table))("%s", (_, { gate, holds, not, says }) => {
  test("holds", () => {
    const judged = judgeGates([gate], given(holds));
    expect(judged.failures).toEqual([]);
    expect(judged.holds).toBe(true);
  });

  test("does not hold, and says why", () => {
    const judged = judgeGates([gate], given(not));
    expect(judged.holds).toBe(false);
    expect(
      judged.failures
        .map(({ rule, file, found, expected }) => `${rule} ${file ?? "-"}: ${found} → ${expected}`)
        .join("\n"),
    ).toBe(says);
  });
});

test("every word of the language is in the table", () => {
  const words = new Set(Object.values(table).flatMap(({ gate }) => Object.keys(gate)));
  const all =
    "file files any none exists non_empty min_lines matches at_least except fresh after for_each if all else command".split(
      " ",
    );
  expect([...words].toSorted()).toEqual(all.toSorted());
});

test("a bare name is looked up by whoever holds the registry; here it never holds", () => {
  expect(judgeGates(["plan_lint"], facts({}))).toMatchObject({
    holds: false,
    failures: [{ rule: "plan_lint", found: "a name nobody has looked up" }],
  });
});

test("files that are held are told with what was asked of them, those of a condition and those that must not be there are not", () => {
  const gates: Gate[] = [
    { file: "a", min_lines: 1 },
    { file: "a", min_lines: 2 },
    { file: "b" },
    { file: "gone", exists: false },
    { any: "d/*", non_empty: true },
    { if: { file: "c" }, all: [{ file: "e", matches: "x" }] },
  ];

  const { satisfied: held } = judgeGates(
    gates,
    facts({ a: lines(2), b: "", c: "", "d/1": "x", "d/2": "", e: "x" }),
  );
  expect(Object.fromEntries(held)).toEqual({
    a: { asksContent: true, minLines: 2 },
    b: { asksContent: false, minLines: 0 },
    "d/1": { asksContent: true, minLines: 0 },
    e: { asksContent: true, minLines: 0 },
  });
});
