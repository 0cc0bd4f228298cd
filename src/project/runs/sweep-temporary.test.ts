import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { loadTryLock } from "../../journal/lock.ts";
import { openUserView } from "../../workspace/git/user-view.ts";
import {
  ownerFile,
  ownFolderPattern,
  createSocketFolder,
  createTemporaryFolder,
} from "../../workspace/temporary-folder.ts";
import { sweepTemporaryFolders } from "./sweep-temporary.ts";

let parent = "";
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), "autopilot-test-"));
});
afterEach(() => rmSync(parent, { recursive: true, force: true }));

/** A folder as a process leaves it that was killed. */
function left(name: string, mode = 0o700): string {
  const folder = join(parent, name);
  mkdirSync(join(folder, "check-1", "home"), { recursive: true });
  writeFileSync(join(folder, "check-1", "home", "file"), "x");
  writeFileSync(join(folder, "autopilot.owner"), "");
  chmodSync(folder, mode);

  return folder;
}

test("what a process that is gone has left is taken away, what is locked on purpose in it too; links in it are not followed", async () => {
  const [one, other] = [left("tmp-own-aaaaaa"), left("tmp-own-bbbbbb")];
  const kept = join(parent, "kept");
  mkdirSync(kept);
  writeFileSync(join(kept, "mine"), "x");
  symlinkSync(kept, join(one, "check-1", "link"));
  symlinkSync(kept, join(one, "link"));
  chmodSync(join(other, "check-1", "home"), 0o500);
  expect(await sweepTemporaryFolders([parent])).toBe(2);
  expect(readdirSync(parent)).toEqual(["kept"]);
  expect(readdirSync(kept)).toEqual(["mine"]);
});

test("nothing else is: what a living process has, what is open to others, what is not ours by name or by its file, and no link", async () => {
  const tryLock = await loadTryLock();
  const alive = left("tmp-own-alive1");
  const fd = openSync(join(alive, "autopilot.owner"), "r+");
  expect(tryLock(fd)).toBe(true);
  left("tmp-own-open01", 0o755);
  left("tmp-own-longer-name");
  rmSync(join(left("tmp-own-noname"), "autopilot.owner"));
  const linked = left("tmp-own-linked");
  rmSync(join(linked, "autopilot.owner"));
  writeFileSync(join(parent, "theirs"), "x");
  symlinkSync(join(parent, "theirs"), join(linked, "autopilot.owner"));
  symlinkSync(left("elsewhere"), join(parent, "tmp-own-link01"));
  writeFileSync(join(parent, "tmp-own-afile1"), "x");
  const before = readdirSync(parent, { recursive: true, encoding: "utf8" }).toSorted();
  expect(await sweepTemporaryFolders([parent])).toBe(0);
  expect(readdirSync(parent, { recursive: true, encoding: "utf8" }).toSorted()).toEqual(before);
  closeSync(fd);
  expect(await sweepTemporaryFolders([parent])).toBe(1);
  expect(existsSync(alive)).toBe(false);
});

test("a process's own folder is never swept while it lives, and is made anew where somebody cleared it away", async () => {
  const first = await createTemporaryFolder("check");
  const root = dirname(first);
  expect([basename(root), basename(first)]).toEqual([
    expect.stringMatching(/^tmp-own-/),
    expect.stringMatching(/^check-/),
  ]);

  await sweepTemporaryFolders();
  expect(existsSync(first)).toBe(true);
  rmSync(root, { recursive: true });
  const second = await createTemporaryFolder("check");
  expect([existsSync(second), dirname(second) === root]).toEqual([true, false]);
  rmSync(second, { recursive: true });
});

test("a folder for a socket has a path that a socket can have, however deep the temporary folder lies", async () => {
  const before = process.env["TMPDIR"];
  const deep = join(parent, "d".repeat(90));
  mkdirSync(deep);
  process.env["TMPDIR"] = deep;

  try {
    const folder = await createSocketFolder("egress", "meter.sock");
    expect(Buffer.byteLength(join(folder, "meter.sock"))).toBeLessThanOrEqual(100);
    expect(dirname(await createTemporaryFolder("check")).startsWith(deep)).toBe(true);
    rmSync(folder, { recursive: true });
  } finally {
    if (before === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = before;
  }
});

test.skipIf(process.platform !== "linux")(
  "a command that a killed process left at work is ended, another is not (Linux: /proc shows environments)",
  async () => {
    const [dead, alive] = [left("tmp-own-dead01"), left("elsewhere")];
    const at = (folder: string): ChildProcess =>
      spawn("sleep", ["1000"], { stdio: "ignore", env: { HOME: join(folder, "work-1", "home") } });
    const [stray, kept] = [at(dead), at(alive)];
    const ended = once(stray, "exit");

    try {
      expect(await sweepTemporaryFolders([parent])).toBe(1);
      expect(await ended).toEqual([null, "SIGKILL"]);
      expect(kept.exitCode).toBeNull();
      expect(kept.signalCode).toBeNull();
    } finally {
      kept.kill("SIGKILL");
    }
  },
);

test("the view of the user's repository is in such a folder, so it goes with a killed process", async () => {
  const root = join(parent, "repo");
  mkdirSync(join(root, ".git"), { recursive: true });

  const { env } = await openUserView({
    root,
    gitDir: join(root, ".git"),
    commonDir: join(root, ".git"),
  });
  const own = dirname(env["GIT_DIR"] ?? "");
  expect(basename(own)).toMatch(ownFolderPattern);
  expect(readdirSync(own)).toContain(ownerFile);
});
