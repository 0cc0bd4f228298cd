// The processes of benchmarks and of a lever's command: nothing of them outlives their end.

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { readExitCode, startProcess, waitForProcess } from "./process.ts";

const room = mkdtempSync(join(tmpdir(), "autopilot-bench-"));
const left: number[] = [];
afterAll(() => {
  for (const pid of left.filter(isAlive)) process.kill(pid, "SIGKILL");
  rmSync(room, { recursive: true, force: true });
});
let made = 0;

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

async function until(is: () => boolean): Promise<void> {
  while (!is()) await pause(10);
}

/** Leaves a process behind, and ends; gives that one's number. */
async function begun(how: string) {
  const folder = join(room, String(++made));
  mkdirSync(folder);
  const pidFile = join(folder, "left");

  const child = startProcess({
    folder,
    cwd: folder,
    command: how.replaceAll("WORK", () => `sh -c 'echo $$ >"${pidFile}"; exec sleep 60'`),
    env: process.env,
  });

  await until(
    () =>
      readExitCode(folder) !== null &&
      existsSync(pidFile) &&
      readFileSync(pidFile, "utf8").endsWith("\n"),
  );

  const pid = Number(readFileSync(pidFile, "utf8"));
  left.push(pid);
  return { folder, child, pid };
}

const ways = [
  ["in the background", "WORK >/dev/null 2>&1 &"],
  ["in a session of its own", "setsid WORK >/dev/null 2>&1 &"],
  ["in a session of its own, forked twice", "(setsid nohup WORK >/dev/null 2>&1 &)"],
] as const;
const wait = { hangMs: 60_000, interrupted: new AbortController().signal };

test.each(ways)(
  "what a benchmark left at work %s is ended before its result is taken",
  async (_how, words) => {
    const { folder, child, pid } = await begun(words);
    expect(isAlive(pid)).toBe(true); // the control: its command has ended, and it has not
    expect(await waitForProcess(folder, [], { ...wait, child })).toEqual({
      kind: "exited",
      code: 0,
    });

    expect(isAlive(pid)).toBe(false);
  },
);

test.each(ways)("also by a runner that comes back to it: %s", async (_how, words) => {
  const { folder, pid } = await begun(words);
  expect(isAlive(pid)).toBe(true);
  expect(await waitForProcess(folder, [], wait)).toEqual({ kind: "exited", code: 0 });
  expect(isAlive(pid)).toBe(false);
});

test("one that wiped its environment is ended while it is in the session", async () => {
  const { folder, child, pid } = await begun("env -i WORK >/dev/null 2>&1 &");
  expect(isAlive(pid)).toBe(true);
  await waitForProcess(folder, [], { ...wait, child });
  expect(isAlive(pid)).toBe(false);
});
