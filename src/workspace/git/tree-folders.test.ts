// Trees edited folder by folder come out as git itself would write them, and cost only the folders
// on the way.

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { BytePath } from "./byte-path.ts";
import { readTree } from "./read-tree.ts";
import { computeTreeHash, type TreeEntry } from "./tree.ts";
import { openTreeFolders, writeEditedTree, type TreeChange } from "./tree-folders.ts";

let folder = "";
const git = (args: readonly string[], input = ""): string =>
  execFileSync("git", args, { cwd: folder, input, encoding: "utf8" }).trim();
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tree-folders-"));
  git(["init", "-q"]);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const entry = (text: string): TreeEntry => ({
  mode: "100644",
  sha: git(["hash-object", "-w", "--stdin"], text),
});
const path = (text: string): BytePath => text as BytePath;
const call = (): { cwd: string; isOwn: true; env: Record<string, string> } => ({
  cwd: folder,
  isOwn: true,
  env: { GIT_DIR: join(folder, ".git") },
});

async function treeOf(files: Readonly<Record<string, string>>): Promise<string> {
  const nothing = git(["mktree"]);
  return writeEditedTree(
    call(),
    "sha1",
    nothing,
    Object.entries(files).map(([name, text]): TreeChange => [path(name), entry(text)]),
  );
}

const start = { "a/x": "1", "a/b/c": "2", "a-b": "3", "a.b": "4", z: "5" };

test("an edited tree is the tree git would make of the same files", async () => {
  const tree = await treeOf(start);
  expect(git(["ls-tree", "-r", "--name-only", tree]).split("\n").sort()).toEqual(
    Object.keys(start).sort(),
  );

  const cases: readonly (readonly TreeChange[])[] = [
    [[path("a/x"), entry("new")]],
    [[path("a/b/c"), null]],
    [[path("a/b/d/e/f"), entry("deep")]],
    [
      [path("z"), null],
      [path("z/now/a/folder"), entry("f")],
    ],
    [
      [path("a/x"), null],
      [path("a/b/c"), null],
      [path("a"), entry("now a file")],
    ],
    [[path("nowhere/at/all"), null]],
    Object.keys(start).map((name): TreeChange => [path(name), null]),
  ];
  for (const changes of cases) {
    const expected = new Map(await readTree(call(), tree));
    for (const [name, now] of changes) if (now === null) expected.delete(name);
    for (const [name, now] of changes) if (now !== null) expected.set(name, now);
    const edited = await writeEditedTree(call(), "sha1", tree, changes);
    expect(edited).toBe(computeTreeHash("sha1", expected));
    expect(git(["cat-file", "-t", edited])).toBe("tree");
  }
});

test("a path is looked up through the folders on its way, and files below a folder are found", async () => {
  const tree = await treeOf(start);
  const folders = openTreeFolders(call());
  expect((await folders.findEntry(tree, path("a/b/c")))?.sha).toBe(entry("2").sha);
  expect((await folders.findEntry(tree, path("a/b")))?.mode).toBe("40000");
  expect(await folders.findEntry(tree, path("a/x/none"))).toBeUndefined();
  const below: string[] = [];
  for await (const [name] of folders.listFilesBelow(tree, path("a"))) below.push(name);
  expect(below.sort()).toEqual(["a/b/c", "a/x"]);
});

test("a folder that is missing is told, not taken for an empty one", async () => {
  await expect(openTreeFolders(call()).read("1".repeat(40))).rejects.toThrow("missing here");
});
