// The runner's documents as their own commit, beside whatever else is in the user's checkout.

import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { commitPages, type PagesInput } from "./commit-pages.ts";

const made: string[] = [];
afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});

const names = ["LOG.md", "TRACE.jsonl"];
const owned = names.map((name) => `docs/*/${name}`);

function project() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "autopilot-pages-")));
  made.push(root);

  const env = {
    PATH: process.env["PATH"],
    HOME: root,
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_SYSTEM: "/dev/null",
  };

  const git = (...args: readonly string[]): string =>
    execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", ...args], {
      cwd: root,
      encoding: "utf8",
      env,
    }).trimEnd();

  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };

  git("init", "-q", "-b", "main");
  write("mine.txt", "one\n");
  git("add", "-A");
  git("commit", "-q", "-m", "first");
  const base = { commit: git("rev-parse", "HEAD"), branch: "main" };
  write("work.txt", "done\n");
  git("add", "-A");
  git("commit", "-q", "-m", "the work that landed");
  const landed = git("rev-parse", "HEAD");
  for (const name of [...names, "NOTES.md"]) write(`docs/1/${name}`, `${name}\n`);
  const files = new Map(
    [...names, "NOTES.md"].map((name) => [`docs/1/${name}`, Buffer.from(`${name}\n`)]),
  );

  const order = {
    root,
    runId: "run-1",
    base,
    owned,
    pages: [{ folder: "docs/1", landed, files }],
    subject: "pages of 1",
  };

  return { root, git, write, order, landed };
}
const subjects = (git: ReturnType<typeof project>["git"]): readonly string[] =>
  git("log", "--format=%s").split("\n");

test("the runner's own files are one commit on the branch, nothing else is in it or touched, and it is made once", async () => {
  const { git, write, order, landed } = project();
  const commit = await commitPages(order);
  expect(git("rev-parse", "HEAD", "HEAD~1").split("\n")).toEqual([commit, landed]);
  expect(git("diff-tree", "-r", "--name-status", landed, "HEAD").split("\n")).toEqual(
    names.map((name) => `A\tdocs/1/${name}`),
  );

  expect(git("status", "--porcelain", "-uall")).toBe("?? docs/1/NOTES.md");
  expect(git("symbolic-ref", "HEAD")).toBe("refs/heads/main");
  // What the user does to them afterwards is theirs, and no reason to commit them again.
  git("rm", "-q", "docs/1/LOG.md");
  git("commit", "-q", "-m", "not this one");
  write("docs/1/LOG.md", "LOG.md\n");
  expect(await commitPages(order)).toBe(null);
  expect(subjects(git)).toEqual(["not this one", "pages of 1", "the work that landed", "first"]);
});

test("after a crash between the index and the branch the next call makes the commit", async () => {
  const { git, order } = project();
  git("add", ...names.map((name) => `docs/1/${name}`));
  expect(await commitPages(order)).toBe(git("rev-parse", "HEAD"));
  expect(subjects(git)).toEqual(["pages of 1", "the work that landed", "first"]);
  expect(git("status", "--porcelain", "-uall")).toBe("?? docs/1/NOTES.md");
});

test("a file of an earlier run that is gone goes, one that differs is renewed, and what the user ignores stays out", async () => {
  const { git, write, root, order } = project();
  await commitPages(order);
  rmSync(join(root, "docs/1/LOG.md"));
  write("docs/1/TRACE.jsonl", "newer\n");
  write("docs/2/LOG.md", "ignored\n");
  write(".gitignore", "docs/2\n");
  git("add", ".gitignore");
  git("commit", "-q", "-m", "ignore some");
  const landed = git("rev-parse", "HEAD");
  const pages = [
    { folder: "docs/1", landed, files: new Map([["docs/1/TRACE.jsonl", Buffer.from("newer\n")]]) },
    { folder: "docs/2", landed, files: new Map([["docs/2/LOG.md", Buffer.from("ignored\n")]]) },
  ];

  expect(await commitPages({ ...order, runId: "run-2", pages })).toBe(git("rev-parse", "HEAD"));
  expect(git("diff-tree", "-r", "--name-status", landed, "HEAD").split("\n")).toEqual([
    "D\tdocs/1/LOG.md",
    "M\tdocs/1/TRACE.jsonl",
  ]);
});

type Made = ReturnType<typeof project>;
const inTheWay: Readonly<Record<string, (made: Made) => Partial<PagesInput> | void>> = {
  "another branch is checked out": ({ git }) => void git("switch", "-q", "-c", "other"),
  "HEAD is detached": ({ git }) => void git("switch", "-q", "--detach"),
  "the run began on a detached HEAD": ({ order }) => ({ base: { ...order.base, branch: null } }),
  "a file of the user's is changed": ({ write }) => write("mine.txt", "two\n"),
  "a file of the user's is staged": ({ write, git }) => (
    write("new.txt", "new\n"),
    void git("add", "new.txt")
  ),
  "somebody merges": ({ write, landed }) => write(".git/MERGE_HEAD", `${landed}\n`),
  "another git is at work": ({ write }) => write(".git/index.lock", ""),
  "the work is not on the branch any more": ({ git }) =>
    void git("reset", "-q", "--hard", "HEAD~1"),
};
test.each(Object.keys(inTheWay))("nothing is touched where %s", async (name) => {
  const one = project();
  const changed = inTheWay[name]?.(one) ?? {};
  const look = (): readonly string[] => [
    one.git("rev-parse", "HEAD", "main"),
    one.git("status", "--porcelain", "-uall"),
  ];
  const found = look();
  expect(await commitPages({ ...one.order, ...changed })).toBe(null);
  expect(look()).toEqual(found);
});

test("no hook, filter or signing program of the repository runs", async () => {
  const { root, git, write, order } = project();
  const ran = join(root, ".git/ran");
  const program = join(root, ".git/program");
  write(".git/program", `#!/bin/sh\ntouch '${ran}'\ncat\n`);

  for (const hook of ["reference-transaction", "post-index-change", "pre-commit", "post-commit"]) {
    write(`.git/hooks/${hook}`, `#!/bin/sh\ntouch '${ran}'\n`);
  }

  for (const path of [
    program,
    ...["reference-transaction", "post-index-change"].map((hook) => join(root, ".git/hooks", hook)),
  ]) {
    chmodSync(path, 0o755);
  }

  git("config", "filter.evil.clean", program);
  git("config", "commit.gpgsign", "true");
  git("config", "gpg.program", program);
  write(".git/info/attributes", "* filter=evil\n");
  expect(await commitPages(order)).not.toBe(null);
  expect(existsSync(ran)).toBe(false);
  git("update-ref", "refs/heads/control", "HEAD"); // the traps are live
  expect(existsSync(ran)).toBe(true);
  rmSync(ran);
  rmSync(join(root, ".git/hooks"), { recursive: true });
  git("add", "docs/1/NOTES.md");
  expect(existsSync(ran)).toBe(true);
});
