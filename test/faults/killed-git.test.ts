// A git that is killed leaves its lock, and in a checkout the half of its work. Taken up again, the
// run clears up after it, and after nobody else.

import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";
import { autopilot, begin, until } from "../support/autopilot.ts";
import { aFew } from "../support/sampled.ts";
import { rewound } from "../support/rewind.ts";
import { git } from "../support/scratch-repository.ts";
import {
  acknowledgedIn,
  entriesOf,
  expectKept,
  expectWhole,
  newestRun,
  objectiveArgs,
  recover,
  said,
  smallRepository,
} from "./small-run.ts";
import { callsOf } from "./call-families.ts";
import { whyNoStrace, withFault } from "./under-strace.ts";

/** A run that was killed in its first turn: its branch is there. */
const begun = rewound(async () => {
  const folder = smallRepository();
  const life = begin(folder, ["go", ...objectiveArgs(folder), "--yes", "--json"]);
  await until("a turn is under way", () =>
    entriesOf(newestRun(folder)).some(({ event }) => event === "session_opened"),
  );

  life.child.kill("SIGKILL");
  await life.ended;
  return folder;
});

const lockOf = {
  branch: (folder: string) =>
    join(folder, ".git/refs/heads/autopilot", `${basename(newestRun(folder))}.lock`),
  index: (folder: string) => join(folder, ".git/index.lock"),
  main: (folder: string) => join(folder, ".git/refs/heads/main.lock"),
} as const;

/** Kills the git that is about to put this lock in place, and says what the runner made of it. */
async function killedAt(folder: string, lock: keyof typeof lockOf): ReturnType<typeof withFault> {
  const path = lockOf[lock](folder);
  const reported = await withFault(folder, ["resume", "--json"], {
    thread: "all",
    calls: callsOf("rename"),
    does: "signal=KILL",
    at: 1,
    path,
  });
  expect(reported.fired, reported.log).toBeGreaterThan(0);
  expect(existsSync(path), "its lock was left").toBe(true);
  expect(reported.code, said(reported)).toBe(1);
  expect(reported.json, said(reported)).toMatchObject({
    result: "FAIL",
    reason_code: "workspace_unusable",
    state: "paused",
  });

  return reported;
}

/**
 * A run whose git was killed at this lock. That of the user's index is where three stories go on
 * from.
 */
const atIndex = rewound(async () => {
  const folder = await begun();
  await killedAt(folder, "index");
  return folder;
});
async function killed(lock: keyof typeof lockOf): Promise<string> {
  if (lock === "index") return atIndex();
  const folder = await begun();
  await killedAt(folder, lock);

  return folder;
}

describe.skipIf(whyNoStrace !== "")(`a git that is killed${whyNoStrace}`, () => {
  aFew(1).each<[string, keyof typeof lockOf]>([
    ["the files of the user's checkout", "index"],
    ["the run's branch", "branch"],
    ["the user's branch", "main"],
  ])(
    "killed while it moves %s, git leaves a lock and half its work; taken up again the run lands all the same, once",
    async (_what, lock) => {
      const folder = await killed(lock);
      const before = acknowledgedIn(folder);
      await recover(folder);
      expectKept(before, newestRun(folder));
      await expectWhole(folder);
    },
  );

  test("what the user wrote after a landing was cut short is not undone: the branch is kept, and the file stays theirs", async () => {
    const folder = await killed("index");
    writeFileSync(join(folder, "src/a.txt"), "mine\n");
    const reported = await autopilot(folder, ["resume", "--json"]);
    expect(reported.json, said(reported)).toMatchObject({ state: "completed" });
    expect(readFileSync(join(folder, "src/a.txt"), "utf8")).toBe("mine\n");
    expect(git(folder, "rev-list", "--count", "main")).toBe("1");
  });

  test("a lock that a living git of the user's may hold is left alone", async () => {
    const folder = await killed("index");
    // A git that waits for its input, as one with an open editor would.
    const waiting = spawn("git", ["cat-file", "--batch"], {
      cwd: folder,
      stdio: ["pipe", "ignore", "ignore"],
    });

    try {
      const reported = await autopilot(folder, ["resume", "--json"]);
      expect(reported.json, said(reported)).toMatchObject({ state: "completed" });
      expect(existsSync(lockOf.index(folder)), "the lock is still there").toBe(true);
    } finally {
      waiting.kill("SIGKILL");
    }
  });
});
