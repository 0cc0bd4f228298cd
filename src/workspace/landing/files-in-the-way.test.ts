import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { git, scratch, write } from "../../../test/support/scratch-repository.ts";
import { readFileDifferences } from "../git/tree-folders.ts";
import { findFilesInTheWay } from "./files-in-the-way.ts";

/**
 * What is in the way of a commit that puts a folder in a file's place and a file in a folder's, in
 * the checkout of its parent.
 */
async function inTheWayWith(own: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const root = scratch({
    files: { a: "file\n", "d/x": "1\n", "d/e/y": "2\n", ".gitignore": "*.log\n" },
  });
  git(root, "checkout", "-q", "-b", "next");
  git(root, "rm", "-q", "-r", "a", "d");
  write(root, { "a/q/n": "new\n", d: "file\n", "new/file": "new\n" });
  git(root, "add", "-A");
  git(root, "commit", "-q", "-m", "turn them round");
  git(root, "checkout", "-q", "main");
  for (const [path, text] of Object.entries(own)) writeFileSync(join(root, path), text);
  const call = { cwd: root, env: { GIT_DIR: join(root, ".git") } };

  return findFilesInTheWay(
    { root },
    await readFileDifferences(call, git(root, "rev-parse", "main"), git(root, "rev-parse", "next")),
  );
}

test("what a commit takes away itself is not in its way", async () => {
  expect(await inTheWayWith({})).toEqual([]);
});

test.each([
  [{ "d/mine.log": "" }, ["d/mine.log"]],
  [{ new: "a file of mine\n" }, ["new"]],
])("what git does not know is: %o", async (own, expected) => {
  expect(await inTheWayWith(own)).toEqual(expected);
});
