// A landing that dies after any of its git calls, and is asked for again: the branch arrives, the
// checkout with it, and nothing is left.

import { execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterEach, expect, test } from "vitest";
import { findRepository } from "../git/repository.ts";
import { landBranch } from "./land-branch.ts";

const made: string[] = [];
const path = process.env["PATH"] ?? "";
afterEach(() => {
  process.env["PATH"] = path;
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/**
 * A git that is dead from its n-th call on: that one is still done, its answer is lost, and no
 * later one does anything.
 */
function mortalGit(folder: string): (lives: number | null) => void {
  const [bin, left, program] = [
    join(folder, "bin"),
    join(folder, "left"),
    realpathSync(execFileSync("which", ["git"]).toString().trim()),
  ];
  mkdirSync(bin);
  writeFileSync(
    join(bin, "git"),
    `#!/bin/sh
left=$(cat '${left}')
[ "$left" -le 0 ] && exit 137
echo $((left - 1)) > '${left}'
[ "$left" -gt 1 ] && exec '${program}' "$@"
'${program}' "$@" > /dev/null
exit 137
`,
  );

  chmodSync(join(bin, "git"), 0o755);
  return (lives) => {
    process.env["PATH"] = lives === null ? path : `${bin}:${path}`;
    writeFileSync(left, String(lives ?? 0));
  };
}

test("killed after any git call, the next landing brings branch and checkout there and leaves no branch of its own", async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "autopilot-land-branch-")));
  made.push(folder);
  const root = join(folder, "project");
  mkdirSync(root);

  const env = {
    PATH: path,
    HOME: folder,
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_SYSTEM: "/dev/null",
  };

  const git = (...args: readonly string[]): string =>
    execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", ...args], {
      cwd: root,
      encoding: "utf8",
      env,
    }).trimEnd();

  const put = (name: string, text: string): void => writeFileSync(join(root, name), text);
  git("init", "-q", "-b", "main");
  put("kept", "one\n");
  put("gone", "one\n");
  git("add", "-A");
  git("commit", "-q", "-m", "first");
  const from = git("rev-parse", "HEAD");
  put("kept", "two\n");
  put("new", "two\n");
  git("rm", "-q", "gone");
  git("add", "-A");
  git("commit", "-q", "-m", "second");
  const to = git("rev-parse", "HEAD");
  const lookup = await findRepository(root);
  if ("failure" in lookup) throw new Error(lookup.failure.detail);

  const land = () =>
    landBranch(lookup.repository, {
      branch: "main",
      from,
      to,
      folder: join(folder, "own"),
      message: "second",
      name: "landing-x",
      ownedPaths: [],
    });

  const lives = mortalGit(folder);
  let deaths = 0;

  for (let call = 1; ; call += 1) {
    git("reset", "-q", "--hard", from);
    rmSync(join(folder, "own"), { recursive: true, force: true });
    lives(call);
    const first = await land().then(
      ({ landed }) => landed,
      () => null,
    );

    const isThrough = Number(readFileSync(join(folder, "left"), "utf8")) > 0;
    lives(null);

    if (isThrough) {
      expect(first).toBe(true);
      break;
    }

    deaths += 1;
    expect(await land(), `again after call ${call}`).toEqual({ landed: true });
    expect(git("status", "--porcelain"), `after call ${call}`).toBe("");
    expect(git("for-each-ref", "--format=%(refname) %(objectname)"), `after call ${call}`).toBe(
      `refs/heads/main ${to}`,
    );
  }

  expect(deaths).toBeGreaterThan(5);
});

test("a branch that somebody rebases or merges into waits, in whichever checkout, and lands when they are through", async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "autopilot-land-branch-")));
  made.push(folder);
  const root = join(folder, "project");
  mkdirSync(root);

  const env = {
    PATH: path,
    HOME: folder,
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_SYSTEM: "/dev/null",
    GIT_SEQUENCE_EDITOR: "sed -i s/^pick/edit/",
  };

  const gitIn = (cwd: string, ...args: readonly string[]): string =>
    execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", ...args], {
      cwd,
      encoding: "utf8",
      env,
      stdio: "pipe",
    }).trimEnd();
  const git = (...args: readonly string[]): string => gitIn(root, ...args);
  git("init", "-q", "-b", "main");
  const commit = (message: string): void =>
    void git("commit", "-q", "--allow-empty", "-m", message);
  commit("first");
  commit("second");
  const from = git("rev-parse", "HEAD");
  git("checkout", "-q", "--detach");
  commit("third");
  const to = git("rev-parse", "HEAD");
  git("checkout", "-q", "-b", "side", "main");
  commit("beside");
  git("checkout", "-q", "main");

  const land = async (checkout = root): Promise<string> => {
    const lookup = await findRepository(checkout);
    if ("failure" in lookup) throw new Error(lookup.failure.detail);
    const own = join(folder, "own");

    const result = await landBranch(lookup.repository, {
      branch: "main",
      from,
      to,
      folder: own,
      message: "third",
      name: "landing-x",
      ownedPaths: [],
    });
    return result.landed
      ? "landed"
      : `${result.because}: ${result.detail}${"git" in result ? ` (${relative(folder, result.git.folder)}: ${result.git.words})` : ""}`;
  };

  git("rebase", "-q", "-i", "--keep-empty", "HEAD~1");
  expect(await land()).toBe("held: main can't be moved: it is being rebased (project: status)");
  git("rebase", "--continue");
  expect(git("rev-parse", "main"), "the rebase came to its end").toBe(from);
  git("merge", "-q", "--no-commit", "--no-ff", "-s", "ours", "side");
  expect(await land()).toBe("held: main can't be moved: a merge is unfinished (project: status)");
  git("worktree", "add", "-q", "--detach", join(folder, "beside"));
  expect(await land(join(folder, "beside")), "from a linked worktree").toBe(
    `held: main can't be moved: a merge is unfinished in ${root} (project: status)`,
  );

  git("worktree", "remove", "--force", join(folder, "beside"));
  git("merge", "--abort");
  git("checkout", "-q", "side");
  const linked = join(folder, "linked");
  git("worktree", "add", "-q", linked, "main");
  gitIn(linked, "rebase", "-q", "-i", "--keep-empty", "HEAD~1");
  expect(await land()).toBe(
    "held: main can't be moved: it is being rebased in the worktree linked (linked: status)",
  );

  gitIn(linked, "rebase", "--continue");
  git("worktree", "remove", "--force", linked);
  expect(await land()).toBe("landed");
});
