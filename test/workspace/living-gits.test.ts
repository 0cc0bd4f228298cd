// No git outlives the command that started it, whichever signal ends that one. A git is held up by
// a pipe that git opens deep in a checkout.

import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import { begin, scripted } from "../support/autopilot.ts";
import { git, scratch } from "../support/scratch-repository.ts";
import { sampled } from "../support/sampled.ts";

/** Gits that are in a folder, zombies left out. */
const gitsIn = (root: string): readonly number[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        const isGit = readFileSync(`/proc/${name}/comm`, "utf8").startsWith("git");
        return isGit && readlinkSync(`/proc/${name}/cwd`) === root;
      } catch {
        return false;
      }
    })
    .map(Number);

/**
 * A file that git must look into, since it changed, beside attributes that it would wait for ever
 * to read.
 */
function heldUp(root: string, folder: string): void {
  mkdirSync(join(root, folder), { recursive: true });
  const file = join(root, folder, "file.txt");
  writeFileSync(file, "one");
  git(root, "add", "-A");
  git(root, "commit", "-q", "-m", "a file");
  writeFileSync(file, "two");
  execFileSync("mkfifo", [join(root, folder, ".gitattributes")]);
}

async function until(what: () => boolean): Promise<void> {
  for (let looks = 0; looks < 500; looks++) {
    if (what()) return;
    await wait(20);
  }

  throw new Error("it did not come to pass");
}

test
  .skipIf(process.platform !== "linux")
  .each(sampled(1, ["SIGTERM", "SIGINT", "SIGHUP"] as const))(
  "a git that waits at a pipe ends with the command that %s ends",
  async (signal) => {
    const root = scratch();
    heldUp(root, "deep/er");
    const { child, ended } = begin(root, ["doctor"]);
    await until(() => gitsIn(root).length > 0);
    child.kill(signal);
    const { code } = await ended;
    expect(code).toBe({ SIGTERM: 143, SIGINT: 130, SIGHUP: 129 }[signal]);
    await until(() => gitsIn(root).length === 0);
  },
);

test("without a signal the command names the pipe and ends by itself, with its git", async () => {
  const root = scratch();
  heldUp(root, "deep");

  const { out, err, code } = await begin(root, [
    "start",
    "make it",
    "--scope",
    "deep/**",
    ...scripted(root, []),
  ]).ended;
  expect(code).toBe(1);
  expect(`${out}${err}`).toContain(
    "deep/.gitattributes is a pipe or a device, at which git would wait.",
  );

  expect(process.platform === "linux" ? gitsIn(root) : []).toEqual([]);
});
