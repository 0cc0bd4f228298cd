// Commands that misbehave. Each test shows that the fault happened, and that it was bounded,
// recorded and explained.

import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Clock } from "../../src/ports/clock.ts";
import { type CommandRequest, runCommand } from "../../src/verify/run-command.ts";
import { readLastLines, toStoredOutput } from "../../src/verify/bounded-output.ts";

const clock: Clock = {
  now: () => new Date().toISOString(),
  monotonicMs: () => performance.now(),
  after: (ms, callback) => {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};
const isLinux = process.platform === "linux";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "command-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const run = (command: string, more: Partial<CommandRequest> = {}) =>
  runCommand({ command, cwd: folder, clock, timeoutMs: 60_000, ...more });
const textOf = (result: Awaited<ReturnType<typeof run>>) =>
  readLastLines(result.output, 1000, 100_000);
const pidIn = (name: string) => Number(readFileSync(join(folder, name), "utf8"));

/** Waits until a file a command writes is there: so the fault has happened before it is judged. */
async function written(name: string): Promise<void> {
  for (
    let round = 0;
    round < 500 &&
    (!existsSync(join(folder, name)) || readFileSync(join(folder, name), "utf8") === "");
    round++
  ) {
    await sleep(10);
  }

  expect(existsSync(join(folder, name))).toBe(true);
}

/** A process that has ended but was not yet waited for by its parent is no longer alive. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    if (!isLinux) return true;
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");

    return !stat.slice(stat.lastIndexOf(")") + 2).startsWith("Z");
  } catch {
    return false;
  }
}

test("a command that passes, and one that fails: exit code, both outputs in order, duration, argv", async () => {
  const passed = await run("echo one; echo two >&2; sleep 0.05; echo three");
  expect(passed).toMatchObject({
    status: "passed",
    exitCode: 0,
    signal: null,
    note: "",
    leftBehind: 0,
    survivors: 0,
    argv: ["/bin/sh", "-c", expect.any(String) as string],
  });

  expect(textOf(passed).split("\n").sort()).toEqual(["one", "three", "two"]);
  expect(await run("exit 3")).toMatchObject({ status: "failed", exitCode: 3, note: "" });
});

test("a command that hangs is ended at its time limit", async () => {
  const result = await run("echo $$ > pid; echo before; sleep 1000", { timeoutMs: 300 });
  expect(result).toMatchObject({
    status: "timed_out",
    exitCode: null,
    signal: "SIGTERM",
    note: "did not end within 0.3 s and was ended",
    survivors: 0,
  });

  expect(textOf(result)).toBe("before");
  expect(isAlive(pidIn("pid"))).toBe(false);
});

test("a command that ignores being asked is made to end, with its children", async () => {
  const result = await run(
    "trap '' TERM; echo $$ > pid; sleep 1000 & echo $! > child; while :; do sleep 1; done",
    { timeoutMs: 300 },
  );
  expect(result).toMatchObject({ status: "timed_out", signal: "SIGKILL", survivors: 0 });
  expect([isAlive(pidIn("pid")), isAlive(pidIn("child"))]).toEqual([false, false]);
});

test.skipIf(!isLinux)(
  "a daemon in a session of its own that holds the output open is found and ended (Linux: /proc tells whose it is)",
  async () => {
    const result = await run(
      "setsid sh -c 'echo $$ > daemon; exec sleep 1000' & while [ ! -s daemon ]; do sleep 0.01; done; echo done",
    );
    expect(result).toMatchObject({
      status: "passed",
      exitCode: 0,
      leftBehind: 1,
      survivors: 0,
      note: "it left a process running, which was ended",
    });

    expect(textOf(result)).toBe("done");
    expect(isAlive(pidIn("daemon"))).toBe(false);
  },
);

test.skipIf(!isLinux)(
  "a daemon's child that dropped its environment is found through its parent (Linux: /proc tells whose it is)",
  async () => {
    const nested =
      "setsid sh -c 'env -i setsid sleep 1000 & echo $! > bare; wait' & while [ ! -s bare ]; do sleep 0.01; done";
    expect(await run(nested)).toMatchObject({ status: "passed", survivors: 0 });
    expect(isAlive(pidIn("bare"))).toBe(false);
  },
);

test("a command that forks and forks again ends with all it started", async () => {
  const result = await run(
    "for i in $(seq 40); do sh -c 'sleep 1000 & echo $! >> pids; wait' & done; while [ $(wc -l < pids 2>/dev/null || echo 0) -lt 40 ]; do sleep 0.02; done",
  );
  expect(result).toMatchObject({
    status: "passed",
    survivors: 0,
    note: expect.stringMatching(/it left \d+ processes running, which were ended/) as string,
  });

  const pids = readFileSync(join(folder, "pids"), "utf8").trim().split("\n").map(Number);
  expect(pids).toHaveLength(40);
  expect(pids.filter(isAlive)).toEqual([]);
});

test("70 MB of output are counted, and two ends of them kept", async () => {
  const before = process.memoryUsage().arrayBuffers;
  const result = await run("echo first; head -c 70000000 /dev/zero | tr '\\0' x; echo; echo last", {
    timeoutMs: 500_000,
  });
  expect(result).toMatchObject({
    status: "passed",
    output: { totalBytes: 70_000_012, hashedBytes: 64 * 1024 * 1024 },
  });

  expect(result.note).toBe("it wrote 70000012 bytes, of which the beginning and the end are kept");
  const stored = toStoredOutput(result.output);
  expect(stored.length).toBeLessThan(132 * 1024);
  expect([
    stored.toString().startsWith("first\nxxx"),
    stored.toString().endsWith("xxx\nlast\n"),
  ]).toEqual([true, true]);

  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(70_000_000);
});

test("a flood without an end is ended at the time limit", async () => {
  const result = await run("yes flood", { timeoutMs: 500 });
  expect(result.status).toBe("timed_out");
  expect(result.output.totalBytes).toBeGreaterThan(128 * 1024);
  expect(result.output.head.length + result.output.tail.length).toBe(128 * 1024);
});

test("a command that reads its input finds it empty and does not wait", async () => {
  expect(textOf(await run('read answer; echo "read ended $?, got [$answer]"'))).toBe(
    "read ended 1, got []",
  );

  expect(await run("cat")).toMatchObject({ status: "passed", output: { totalBytes: 0 } });
});

test("a command that needs a terminal has none, and is told so", async () => {
  const result = await run("test -t 0 && echo terminal; echo hello > /dev/tty");
  expect(result.status).toBe("failed");
  expect(textOf(result)).not.toContain("terminal\n");
  expect(result.note).toContain("it asked for a terminal");
});

test("a command that is not there, a file that cannot be executed, a folder that is missing, a line no shell can be given", async () => {
  expect(await run("no-such-command-anywhere")).toMatchObject({
    status: "not_found",
    exitCode: 127,
    note: expect.stringContaining("was not found") as string,
  });

  writeFileSync(join(folder, "plain"), "echo hi\n", { mode: 0o644 });
  expect(await run("./plain")).toMatchObject({
    status: "not_runnable",
    exitCode: 126,
    note: expect.stringContaining("cannot be executed") as string,
  });

  expect(await run("true", { cwd: join(folder, "nowhere") })).toMatchObject({
    status: "not_runnable",
    exitCode: null,
    note: expect.stringContaining("does not exist") as string,
  });

  expect(await run("echo \0")).toMatchObject({
    status: "not_runnable",
    note: expect.stringContaining("NUL") as string,
  });
});

test("bytes that are no text come out as text, and are stored as they were", async () => {
  const result = await run("printf 'a\\377\\376b\\033[31m'");
  expect(toStoredOutput(result.output)).toEqual(
    Buffer.from([0x61, 0xff, 0xfe, 0x62, 0x1b, 0x5b, 0x33, 0x31, 0x6d]),
  );

  expect(textOf(result)).toBe("a\ufffd\ufffdb\u001b[31m");
});

test("a command that dies of a signal says which", async () => {
  expect(await run("kill -SEGV $$")).toMatchObject({
    status: "failed",
    exitCode: null,
    signal: "SIGSEGV",
    note: "ended by SIGSEGV",
  });
});

test("a check that passes only the first time passes, then fails, in one and the same folder", async () => {
  const once = "test ! -e ran && touch ran";
  expect((await run(once)).status).toBe("passed");
  expect((await run(once)).status).toBe("failed");
});

test("calling off ends a command that ignores it, and its daemon, and leaves nothing", async () => {
  const cancel = new AbortController();
  const running = run(
    "trap '' TERM; echo $$ > pid; setsid sh -c 'trap \"\" TERM; echo $$ > daemon; while :; do sleep 1; done' & while :; do sleep 1; done",
    { cancel: cancel.signal },
  );

  await written("pid");
  await written("daemon");
  expect(isAlive(pidIn("daemon"))).toBe(true);
  cancel.abort();
  expect(await running).toMatchObject({ status: "cancelled", survivors: 0 });
  expect([isAlive(pidIn("pid")), isLinux && isAlive(pidIn("daemon"))]).toEqual([false, false]);
  expect(await run("touch never", { cancel: cancel.signal })).toMatchObject({
    status: "cancelled",
    note: "called off",
  });

  expect(existsSync(join(folder, "never"))).toBe(false);
});

test("it sees neither the runner's secrets nor its home, and its own home is gone afterwards", async () => {
  process.env["AUTOPILOT_TEST_SECRET"] = "s3cret";
  try {
    const result = await run("env; touch $HOME/left; mkdir $TMPDIR/sub; chmod 500 $TMPDIR/sub", {
      scratch: () => Promise.resolve(mkdtempSync(join(folder, "check-"))),
    });
    expect(result.status).toBe("passed");
    expect(textOf(result)).not.toContain("s3cret");
    const butPath = textOf(result).replace(/^PATH=.*$/m, ""); // PATH is the user's own, and names the folder this repository was cloned into
    expect(butPath).not.toMatch(/autopilot/i);
    expect(textOf(result)).toMatch(new RegExp(`^HOME=${folder}/check-`, "m"));
    expect(readdirSync(folder)).toEqual([]);
  } finally {
    delete process.env["AUTOPILOT_TEST_SECRET"];
  }
});

test("an isolation wraps what is started, and is what the record shows", async () => {
  const wrap: NonNullable<CommandRequest["wrap"]> = ({ argv, cwd, env }) => ({
    argv: ["/usr/bin/env", "WRAPPED=1", ...argv],
    cwd,
    env,
  });

  const result = await run("echo $WRAPPED", { wrap });
  expect(result.argv.slice(0, 3)).toEqual(["/usr/bin/env", "WRAPPED=1", "/bin/sh"]);
  expect(textOf(result)).toBe("1");
  const missing = await run("true", {
    wrap: (launch) => ({ ...launch, argv: ["/no/such/isolation"] }),
  });
  expect(missing).toMatchObject({
    status: "not_runnable",
    note: expect.stringContaining("could not be started") as string,
  });
});
