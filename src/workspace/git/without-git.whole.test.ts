// What is read and written without a process of git's must be what git itself says and writes.

import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import type { BytePath } from "./byte-path.ts";
import { isAncestor, readStraightLine, readCommit } from "./commits.ts";
import { mayTrack } from "./index-file.ts";
import {
  findFoldersNamed,
  findIgnoredFolders,
  composeInstalledRules,
} from "./installed-folders.ts";
import { writeObject } from "./loose-objects.ts";
import { createCommit } from "./new-commit.ts";
import { findGitPlaces } from "./git-places.ts";
import { readBranch, readHeadBranch, readHeadCommit } from "./refs.ts";
import { listTree, listDisplayPaths } from "./tree-list.ts";

const rooms: string[] = [];
afterEach(() => rooms.splice(0).forEach((room) => rmSync(room, { recursive: true, force: true })));

const gitIn =
  (root: string) =>
  (...args: readonly string[]): string =>
    execFileSync("git", args, {
      cwd: root,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
      env: { PATH: process.env["PATH"], HOME: root, GIT_CONFIG_NOSYSTEM: "1" },
    }).trim();

function repository(...options: readonly string[]) {
  const root = mkdtempSync(join(tmpdir(), "autopilot-plain-"));
  rooms.push(root);
  const git = gitIn(root);
  git("init", "-q", "-b", "main", ...options);
  git("config", "user.name", "A");
  git("config", "user.email", "a@example.invalid");
  const write = (path: string, text = "x\n"): void => {
    mkdirSync(join(root, path, ".."), { recursive: true });
    writeFileSync(join(root, path), text);
  };

  const commit = (path: string, text = `${path}\n`): string => {
    write(path, text);
    git("add", "-A");
    git("commit", "-q", "-m", path);

    return git("rev-parse", "HEAD");
  };

  return { root, git, write, commit, places: findGitPlaces(root) ?? expect.unreachable() };
}

describe("where HEAD and branches stand is what git says", () => {
  test.each([
    ["as plain files", () => undefined],
    ["packed", (git: ReturnType<typeof gitIn>) => git("pack-refs", "--all")],
    ["detached", (git: ReturnType<typeof gitIn>) => git("checkout", "-q", "--detach")],
    [
      "on a branch that a tag shares its name with",
      (git: ReturnType<typeof gitIn>) => git("tag", "main"),
    ],
    [
      "where a branch is a name for another",
      (git: ReturnType<typeof gitIn>) => git("symbolic-ref", "refs/heads/other", "refs/heads/main"),
    ],
    [
      "where HEAD is a link to its branch",
      (_: unknown, root: string) => {
        rmSync(join(root, ".git/HEAD"));
        symlinkSync("refs/heads/main", join(root, ".git/HEAD"));
      },
    ],
  ])("%s", async (_, change) => {
    const { git, commit, places, root } = repository();
    const tip = commit("a");
    git("branch", "deep/er");
    git("branch", "-q", "other");
    change(git, root);
    const symbolic = git("rev-parse", "--symbolic-full-name", "HEAD");
    expect(await readHeadBranch(places)).toBe(symbolic === "HEAD" ? null : symbolic);
    expect(await readHeadCommit(places)).toBe(tip);

    for (const name of ["main", "deep/er", "other"]) {
      expect(await readBranch(places, `refs/heads/${name}`)).toBe(tip);
    }

    expect(await readBranch(places, "refs/heads/none")).toBeNull();
  });

  test("in a linked worktree, and before the first commit", async () => {
    const { root, git, commit, places } = repository();
    expect([await readHeadBranch(places), await readHeadCommit(places)]).toEqual([
      "refs/heads/main",
      null,
    ]);

    commit("a");
    git("worktree", "add", "-q", join(root, "linked"), "-b", "side");
    const linked = findGitPlaces(join(root, "linked")) ?? expect.unreachable();
    const tip = gitIn(join(root, "linked"))("commit-tree", "HEAD^{tree}", "-m", "x");
    git("update-ref", "refs/heads/side", tip);
    expect([await readHeadBranch(linked), await readHeadCommit(linked)]).toEqual([
      "refs/heads/side",
      tip,
    ]);
  });

  test("a name that leads out of the branches is no branch", async () => {
    const { git, commit, places, root } = repository();
    const tip = commit("a");
    writeFileSync(join(root, ".git/leak"), `${tip}\n`);
    expect(await readBranch(places, "refs/heads/../../leak")).toBeNull();
    expect(git("rev-parse", "HEAD")).toBe(tip);
  });
});

describe("objects that are written here", () => {
  test.each([["sha1"], ["sha256"]] as const)("are those git would write, %s", async (format) => {
    const { root, git, commit } = repository(`--object-format=${format}`);
    const parent = commit("a");
    const call = { cwd: root, env: { GIT_DIR: join(root, ".git") } };
    const blob = await writeObject(call, format, { type: "blob", content: Buffer.from("new\n") });
    expect(git("cat-file", "blob", blob)).toBe("new");
    expect(await writeObject(call, format, { type: "blob", content: Buffer.from("new\n") })).toBe(
      blob,
    );

    const tree = git("rev-parse", "HEAD^{tree}");
    const order = {
      tree,
      parents: [parent],
      identity: { name: "Ann B. Öz", email: "ann@example.invalid" },
    };

    const made = await createCommit(call, format, { ...order, message: "words\n\nKey: value\n" });
    expect(git("log", "-1", "--format=%an|%ae|%cn|%P|%T|%B", made).trim()).toBe(
      `Ann B. Öz|ann@example.invalid|Ann B. Öz|${parent}|${tree}|words\n\nKey: value`,
    );

    expect(git("fsck", "--strict", "--no-dangling")).toBe("");
    expect(git("count-objects", "-v")).toContain("garbage: 0");
  });

  test.each([["A <b>"], ["x, "], [".dots."], ["'quoted'"]])(
    "by %s, whose name git fixes, are as git fixes them",
    async (name) => {
      const { root, git, commit } = repository();
      const parent = commit("a");
      const identity = { name, email: "a@example.invalid" };

      const order = {
        tree: git("rev-parse", "HEAD^{tree}"),
        parents: [parent],
        identity,
        message: "x\n",
      };

      const made = await createCommit(
        { cwd: root, isOwn: true, env: { GIT_DIR: join(root, ".git") } },
        "sha1",
        order,
      );

      expect(git("fsck", "--strict", "--no-dangling")).toBe("");
      expect(git("log", "-1", "--format=%ae", made)).toBe("a@example.invalid");
    },
  );

  test("leave nothing half-written where the folder can't be written to", async () => {
    const { root } = repository();
    rmSync(join(root, ".git/objects"), { recursive: true });
    writeFileSync(join(root, ".git/objects"), "in the way");
    const writing = writeObject({ cwd: root, env: { GIT_DIR: join(root, ".git") } }, "sha1", {
      type: "blob",
      content: Buffer.from("x"),
    });
    await expect(writing).rejects.toMatchObject({
      name: "WorkspaceFailed",
      reason: "workspace_unusable",
    });

    expect(readFileSync(join(root, ".git/objects"), "utf8")).toBe("in the way");
  });
});

test("the way from one commit to another is git's, over merges too", async () => {
  const { root, git, commit } = repository();
  const call = { cwd: root, env: { GIT_DIR: join(root, ".git") } };
  const [first, second, third] = [commit("a"), commit("b"), commit("c")];
  git("checkout", "-q", "-b", "side", second);
  const side = commit("d");
  git("merge", "-q", "--no-edit", "main");
  const merged = git("rev-parse", "HEAD");
  expect((await readStraightLine(call, first, third))?.map(({ commit: one }) => one)).toEqual([
    third,
    second,
  ]);

  expect(await readStraightLine(call, third, first)).toBeNull();
  expect(await readStraightLine(call, first, merged)).toBeNull();
  expect(await readCommit(call, merged)).toMatchObject({ parents: [side, third] });

  for (const [older, newer] of [first, second, third, side, merged].flatMap((one) =>
    [first, third, merged].map((other) => [one, other]),
  )) {
    expect(await isAncestor(call, older ?? "", newer ?? "")).toBe(isIn(older ?? "", newer ?? ""));
  }

  function isIn(older: string, newer: string): boolean {
    return git("rev-list", newer).split("\n").includes(older);
  }
});

describe("whether an index may hold a word", () => {
  test.each(["2", "3", "4"])("is never no where it does, version %s", (version) => {
    const { root, git, write } = repository();
    const index = join(root, ".git/index");
    for (let at = 0; at < 300; at += 1) write(`folder-with-a-name/file-${at}.ts`);
    git("add", "-A");
    git("update-index", "--index-version", version);
    expect(mayTrack(index, ".autopilot")).toBe(version === "4");
    write(".Autopilot/runs/x");
    git("add", "-A");
    expect(mayTrack(index, ".autopilot")).toBe(true);
  });

  test("nor where its parts lie elsewhere, or it can't be read", () => {
    const { root, git, write } = repository();
    write(".autopilot/runs/x");
    git("add", "-A");
    git("update-index", "--split-index");
    write("y");
    git("add", "y");
    expect(readdirSync(join(root, ".git")).some((name) => name.startsWith("sharedindex."))).toBe(
      true,
    );

    expect(mayTrack(join(root, ".git/index"), ".autopilot")).toBe(true);
    expect(mayTrack(join(root, ".git/none"), ".autopilot")).toBe(true);
  });

  test("nor where a whole folder is one entry, as in a sparse index", () => {
    const { root, git, write } = repository();
    write("kept/x");
    write("left/.autopilot/x");
    git("add", "-A");
    git("commit", "-q", "-m", "x");
    git("sparse-checkout", "set", "--cone", "--sparse-index", "kept");
    expect(readFileSync(join(root, ".git/index"), "latin1")).not.toContain(".autopilot");
    expect(mayTrack(join(root, ".git/index"), ".autopilot")).toBe(true);
  });
});

test("installed packages are found in every folder of the commit, as git tells them apart", async () => {
  const { root, git, write, places } = repository();
  write(".gitignore", "node_modules/\n");

  for (const path of ["package.json", "packages/a/package.json", "tool/run.py", "föl der/x.py"]) {
    write(path);
  }

  git("add", "-A");
  git("commit", "-q", "-m", "x");

  for (const path of [
    "node_modules/m/i.js",
    "packages/a/node_modules/n/i.js",
    "tool/venv/bin/python",
    "föl der/.venv/cfg",
    "vendor/own.go",
  ]) {
    write(path);
  }

  write("left/node_modules/x"); // in no folder of the commit
  symlinkSync("node_modules", join(root, "venv"));
  const there = await findFoldersNamed(places, "HEAD", ["node_modules", "vendor"]);
  expect(await composeInstalledRules(places, there)).toBe("/föl\\ der/.venv/\n/tool/venv/\n");
  expect(await findIgnoredFolders(places, there, ["node_modules", "vendor"])).toEqual([
    "node_modules",
    "packages/a/node_modules",
  ]);

  writeFileSync(join(root, "rules"), "/tool/venv/\n/vendor/\n");
  expect(await findIgnoredFolders(places, there, ["venv", "vendor"], join(root, "rules"))).toEqual([
    "tool/venv",
    "vendor",
  ]);

  write("zubehör/x");
  writeFileSync(join(root, "rules"), "/zubehör/\n");
  const named = await findFoldersNamed(places, "HEAD", ["zubehör"]);
  expect(await findIgnoredFolders(places, named, ["zubehör"], join(root, "rules"))).toEqual([
    "zubehör",
  ]);
});

test("a tree is listed as git lists it, and once", async () => {
  const { root, write, commit } = repository();
  for (let at = 0; at < 800; at += 1) write(`some/folder/of/it/with-a-long-name-${at}.ts`, `${at}`);
  write("a/.gitattributes", "* text\n");
  write("line\nbreak");
  const head = commit("ünï");
  const list = await listTree({ cwd: root }, head);
  const listed = execFileSync("git", ["ls-tree", "-r", "-z", "--name-only", head], {
    cwd: root,
    maxBuffer: 1 << 26,
  });
  expect(list.paths).toEqual(listed.toString("latin1").split("\0").slice(0, -1));
  expect(list.notable.map(([path]) => path)).toEqual(["a/.gitattributes" as BytePath]);
  expect(list.isAscii).toBe(false);
  expect(await listDisplayPaths({ cwd: root }, head)).toContain("ünï");
  expect(await listTree({ cwd: "/nowhere" }, head)).toBe(list);
});
