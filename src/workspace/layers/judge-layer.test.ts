import { expect, test } from "vitest";
import { bytePathFromText as path, type BytePath } from "../git/byte-path.ts";
import { findConflicts } from "../landing/apply.ts";
import { judgeLayer, type LayerChange } from "./judge-layer.ts";
import type { ScannedEntry } from "./scan-layer.ts";
import { computeObjectHash, computeTreeHash, type TreeEntry } from "../git/tree.ts";

const sha = (text: string): string => computeObjectHash("sha1", "blob", Buffer.from(text));
const tree = (files: Record<string, string>): Map<BytePath, TreeEntry> =>
  new Map(
    Object.entries(files).map(([name, text]) => [path(name), { mode: "100644", sha: sha(text) }]),
  );
const file = (
  text: string,
  more: Partial<Extract<ScannedEntry, { kind: "file" }>> = {},
): ScannedEntry => ({
  kind: "file",
  mode: "100644",
  sha: sha(text),
  bytes: text.length,
  links: 1,
  ...more,
});
const judged = (base: Record<string, string>, found: Record<string, ScannedEntry>) =>
  judgeLayer({
    base: tree(base),
    scanned: new Map(Object.entries(found).map(([name, what]) => [path(name), what])),
    inScope: (name) => !name.startsWith("out/"),
    isOwned: (name) => name.startsWith("own/"),
    isMasked: (name) => name.startsWith("mask/"),
    isLeftOut: (name) => name.startsWith("left/"),
    fileBytesMax: 100,
  });
const kinds = (base: Record<string, string>, found: Record<string, ScannedEntry>): string[] =>
  judged(base, found).violations.map(({ path: name, kind }) => `${name} ${kind}`);

test("what is the same is no change; a rename is a deletion and a creation", () => {
  const { changes, violations } = judged({ a: "1", b: "2" }, { a: file("1"), c: file("2") });
  expect(changes.map(({ path: name, after }) => [name, after?.sha ?? null])).toEqual([
    ["b", null],
    ["c", sha("2")],
  ]);

  expect(violations).toEqual([]);
});

test("owned and masked files are no deletions, may come back as they were, and may not differ", () => {
  const base = { "own/a": "1", "mask/a": "1" };
  expect(judged(base, {}).changes).toEqual([]);
  expect(judged(base, { "own/a": file("1"), "mask/a": file("1") }).changes).toEqual([]);
  expect(kinds(base, { "own/a": file("2"), "mask/a": file("2") })).toEqual([
    "mask/a outside_scope",
    "own/a runner_owned",
  ]);
});

test("what is left out is neither a change nor held against anybody, whatever it is, and is told apart", () => {
  const pipe: ScannedEntry = { kind: "unstorable", violation: "special_file", detail: "a pipe" };
  const link: ScannedEntry = { kind: "link", sha: sha("x") };
  const { changes, violations, leftOut } = judged(
    { "left/gone": "1", kept: "1" },
    { kept: file("2"), "left/link": link, "left/pipe": pipe },
  );
  expect(changes.map(({ path: name }) => name)).toEqual(["kept"]);
  expect(violations).toEqual([]);
  expect(leftOut.map(({ path: name }) => name)).toEqual(["left/gone", "left/link"]);
});

test("place and kind are judged apart, so that both are told", () => {
  expect(kinds({}, { "out/a": { kind: "link", sha: sha("x") } })).toEqual([
    "out/a outside_scope",
    "out/a symlink",
  ]);

  expect(kinds({}, { a: file("x", { links: 2 }) })).toEqual(["a hard_link"]);
  expect(kinds({}, { a: file("x", { bytes: 101 }) })).toEqual(["a too_large"]);
  expect(kinds({ a: "x" }, { a: file("x", { links: 2 }) })).toEqual([]);
});

test("a file renamed only by case is no collision", () => {
  expect(kinds({ "README.md": "1" }, { "readme.md": file("1") })).toEqual([]);
  expect(kinds({ "README.md": "1" }, { "README.md": file("1"), "readme.md": file("1") })).toEqual([
    "readme.md case_collision",
  ]);
});

test("trees are named as git names them", () => {
  expect(computeTreeHash("sha1", [])).toBe("4b825dc642cb6eb9a060e54bf8d69288fbee4904");
  // Made with git: files a-b, a/x, a.b, whose order is that of bytes with folders as if they ended
  // in a slash.
  expect(computeTreeHash("sha1", tree({ "a/x": "x\n", "a-b": "x\n", "a.b": "x\n" }))).toBe(
    "0ba862405f72334894c3a2b29aba2fa1a7c0a114",
  );
});

const change = (name: string, before: string | null, after: string | null): LayerChange => ({
  path: path(name),
  before: before === null ? null : { mode: "100644", sha: sha(before) },
  after: after === null ? null : { kind: "file", mode: "100644", sha: sha(after) },
});

test.each([
  {
    name: "another edit of the same file",
    base: { a: "1" },
    changes: [change("a", "1", "2")],
    tip: { a: "3" },
    conflict: ["a"],
  },
  {
    name: "the same edit",
    base: { a: "1" },
    changes: [change("a", "1", "2")],
    tip: { a: "2" },
    conflict: [],
  },
  {
    name: "an edit of a file deleted meanwhile",
    base: { a: "1" },
    changes: [change("a", "1", "2")],
    tip: {},
    conflict: ["a"],
  },
  {
    name: "a deletion of a file edited meanwhile",
    base: { a: "1" },
    changes: [change("a", "1", null)],
    tip: { a: "3" },
    conflict: ["a"],
  },
  {
    name: "a file below what became a file",
    base: {},
    changes: [change("a/b", null, "1")],
    tip: { a: "1" },
    conflict: ["a/b"],
  },
  {
    name: "a file where a folder came to be",
    base: {},
    changes: [change("a", null, "1")],
    tip: { "a/b": "1" },
    conflict: ["a"],
  },
  {
    name: "a name that now differs only by case",
    base: {},
    changes: [change("a", null, "1")],
    tip: { A: "1" },
    conflict: ["a"],
  },
  {
    name: "another file",
    base: { a: "1" },
    changes: [change("a", "1", "2")],
    tip: { a: "1", b: "1" },
    conflict: [],
  },
  {
    name: "a folder of ours in place of a file of ours",
    base: { a: "1" },
    changes: [change("a", "1", null), change("a/b", null, "1")],
    tip: { a: "1", c: "1" },
    conflict: [],
  },
])("against a branch that moved on, $name gives $conflict", ({ base, changes, tip, conflict }) => {
  expect(findConflicts({ base: tree(base), changes }, tree(tip))).toEqual(conflict);
});
