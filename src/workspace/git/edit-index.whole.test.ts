// An edited index against the one that git makes of the same files.

import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { scratchFolder } from "../../../test/support/scratch-repository.ts";
import { bytePathFromText } from "./byte-path.ts";
import { composeIndex, editIndex } from "./edit-index.ts";

const git = (cwd: string, ...args: string[]): string =>
  execFileSync("git", args, { cwd, encoding: "utf8" });

function write(root: string, path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

test.each(["sha1", "sha256"] as const)(
  "%s: files that are new, changed, deleted, and in the place of folders, are as git would have them",
  (format) => {
    const root = join(scratchFolder(), "repo");
    mkdirSync(root);
    git(root, "init", "-q", `--object-format=${format}`);
    for (const path of ["a", "b/c", "b/d", "b.txt", "e/f/g", "h", `long/${"x".repeat(200)}`]) {
      write(root, path, `${path}\n`);
    }
    git(root, "add", "-A");
    const index = readFileSync(join(root, ".git", "index"));

    for (const path of ["b", "h", "e/f"]) rmSync(join(root, path), { recursive: true });
    write(root, "b", "a file now\n");
    write(root, "h/i", "a folder now\n");
    write(root, "a", "changed\n");
    symlinkSync("a", join(root, "ä"));
    git(root, "add", "-A");
    const listed = git(root, "ls-files", "-s", "-z");
    const shaOf = (path: string): string =>
      listed
        .split("\0")
        .find((row) => row.endsWith(`\t${path}`))
        ?.split(" ")[1] ?? "";

    const edited = editIndex(index, format, {
      files: root,
      deleted: [bytePathFromText("e/f")],
      changed: ["h/i", "b", "a", "ä"].map((path) => [
        bytePathFromText(path),
        { mode: path === "ä" ? "120000" : "100644", sha: shaOf(path) },
      ]),
    });

    if (edited === null) throw new Error("the index is of another kind");
    writeFileSync(join(root, ".git", "index"), edited);
    expect(git(root, "ls-files", "-s", "-z")).toBe(listed);
    expect(git(root, "diff-files", "--name-only")).toBe("");
    expect(git(root, "fsck", "--no-progress", "--no-dangling")).toBe("");
  },
);

test.each(["sha1", "sha256"] as const)(
  "%s: a new index is what git makes of the same files",
  (format) => {
    const root = join(scratchFolder(), "repo");
    mkdirSync(root);
    git(root, "init", "-q", `--object-format=${format}`);
    for (const path of ["b/c", "b.txt", "a", "ä"]) write(root, path, `${path}\n`);
    write(root, "run.sh", "#!/bin/sh\n");
    chmodSync(join(root, "run.sh"), 0o755);
    git(root, "add", "-A");
    const listed = git(root, "ls-files", "-s", "-z");
    const entries = listed
      .split("\0")
      .flatMap((row) => {
        const [, mode = "", sha = "", path] = /^(\d+) (\w+) 0\t(.*)$/s.exec(row) ?? [];
        return path === undefined ? [] : [[bytePathFromText(path), { mode, sha }] as const];
      })
      .toReversed();

    writeFileSync(join(root, ".git", "index"), composeIndex(format, entries, root));
    expect(git(root, "ls-files", "-s", "-z")).toBe(listed);
    expect(git(root, "diff-files", "--name-only")).toBe("");
    expect(git(root, "fsck", "--no-progress", "--no-dangling")).toBe("");
  },
);

test("an index of another kind is left to git", () => {
  const root = join(scratchFolder(), "repo");
  mkdirSync(root);
  git(root, "init", "-q");
  write(root, "a", "a\n");
  git(root, "add", "-A");
  git(root, "update-index", "--index-version", "4");
  const index = readFileSync(join(root, ".git", "index"));
  expect(editIndex(index, "sha1", { files: root, changed: [], deleted: [] })).toBeNull();
  expect(editIndex(Buffer.alloc(0), "sha1", { files: root, changed: [], deleted: [] })).toBeNull();
});
