// Limits: what is said to be in force is, each with the same action below the limit that does
// succeed; nothing stays behind.

import { computeSandboxLimits } from "../../src/runner/sandbox-limits.ts";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { countOwnBytes, watchResources } from "../../src/agents/process/watch-resources.ts";
import { openLimits, type OpenedLimits } from "../../src/workspace/isolation/limits.ts";
import { openCgroups, findOwnCgroupFolders } from "../../src/workspace/isolation/limits-cgroup.ts";
import { until } from "../support/autopilot.ts";
import { scratchFolder } from "../support/scratch-repository.ts";

const defaultLimits = computeSandboxLimits({});
const here = await openLimits(scratchFolder());
const holdsProcesses = here.inForce.some((message) => message.startsWith("number of processes"));
const holdsMemory = here.inForce.some((message) => message.startsWith("memory"));
const endsAll = here.inForce.some((message) => message.startsWith("nothing of a command"));
await here.close();

let opened: OpenedLimits | null = null;
afterEach(() => opened?.close());

function run(
  limits: OpenedLimits,
  command: string,
  of: Partial<typeof defaultLimits>,
): { readonly out: string; readonly code: number | null } {
  const [program = "", ...args] = limits.wrap(
    ["/bin/sh", "-c", command],
    { ...defaultLimits, ...of },
    "one",
  );

  const { stdout, status } = spawnSync(program, args, {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
    timeout: 30_000,
  });

  return { out: stdout, code: status };
}

const forks = "i=0; while [ $i -lt 60 ]; do sleep 30 >/dev/null & i=$((i + 1)); done; echo all";
const fill = "head -c 100000000 /dev/zero | tail -c 100000000 | wc -c";

test.skipIf(!holdsProcesses)(
  "forks above the limit are refused, the same forks below it are not (needs cgroups, a scope, or a user who is not root)",
  async () => {
    opened = await openLimits(scratchFolder());
    expect(run(opened, forks, { processesMax: 8 }).out).not.toContain("all");
    await opened.release("one");
    expect(run(opened, forks, { processesMax: 100 }).out).toContain("all");
  },
);

test.skipIf(!holdsMemory)(
  "memory above the limit is refused, the same memory below it is not (needs cgroups or a scope)",
  async () => {
    opened = await openLimits(scratchFolder());
    expect(run(opened, fill, { memoryBytesMax: 24 * 1024 ** 2 }).out.trim()).not.toBe("100000000");
    expect(run(opened, fill, { memoryBytesMax: 1024 ** 3 }).out.trim()).toBe("100000000");
  },
);

test("a file above the limit is cut, and one below it is not", async () => {
  opened = await openLimits(scratchFolder());
  const folder = scratchFolder();
  const write = (name: string): string => `head -c 5000000 /dev/zero > '${join(folder, name)}'`;
  run(opened, write("cut"), { diskBytesMax: 1024 ** 2 });
  run(opened, write("whole"), { diskBytesMax: 1024 ** 3 });
  expect(statSync(join(folder, "cut")).size).toBe(1024 ** 2);
  expect(statSync(join(folder, "whole")).size).toBe(5_000_000);
});

test("the command's words, input, output and exit code pass through unchanged", async () => {
  opened = await openLimits(scratchFolder());
  const [program = "", ...args] = opened.wrap(
    ["/bin/sh", "-c", 'cat; printf "%s|" "$@"; exit 7', "x", "a b", "$(no)", "'"],
    defaultLimits,
    "k",
  );

  const { stdout, status } = spawnSync(program, args, { input: "in\n", encoding: "utf8" });
  expect([stdout, status]).toEqual(["in\na b|$(no)|'|", 7]);
});

test.skipIf(!endsAll)(
  "a process that left its parent, its session and its environment is ended by release (needs cgroup.kill or a scope)",
  async () => {
    opened = await openLimits(scratchFolder());
    const pidFile = join(scratchFolder(), "pid");
    run(
      opened,
      `setsid env -i /bin/sh -c 'trap "" TERM; echo $$ > ${pidFile}; while :; do sleep 1; done' >/dev/null 2>&1 &`,
      {},
    );

    const pid = await until(
      "the daemon",
      () =>
        existsSync(pidFile) &&
        readFileSync(pidFile, "utf8").trim() !== "" &&
        Number(readFileSync(pidFile, "utf8")),
    );

    expect(existsSync(`/proc/${pid}`)).toBe(true);
    await opened.release("one");
    expect(
      existsSync(`/proc/${pid}`) &&
        !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8")),
    ).toBe(false);
  },
);

test("a command that cannot join its limits does not start", async () => {
  opened = await openLimits(scratchFolder());
  const argv = [...opened.wrap(["/bin/echo", "started"], defaultLimits, "k")];
  const at = argv.findIndex((word) => word.endsWith("cgroup.procs"));
  if (at === -1) return; // Nothing to join with this means.
  argv[at] = "/nonexistent/cgroup.procs";
  const { stdout, status, stderr } = spawnSync(argv[0] ?? "", argv.slice(1), { encoding: "utf8" });
  expect([stdout, status]).toEqual(["", 125]);
  expect(stderr).toContain("could not be joined");
});

describe("cgroups on paper", () => {
  const v1 =
    "31 24 0:27 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n32 24 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";
  const v2 = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
  test.each([
    [
      "two hierarchies",
      v1,
      "8:pids:/\n4:memory:/a/b\n0::/\n",
      ["/sys/fs/cgroup/pids", "/sys/fs/cgroup/memory/a/b"],
    ],
    ["one tree", v2, "0::/user.slice/x.scope\n", ["/sys/fs/cgroup/user.slice/x.scope"]],
    [
      "a part of a tree mounted",
      v2.replace(" / /sys", " /pod/1 /sys"),
      "0::/pod/1/leaf\n",
      ["/sys/fs/cgroup/leaf"],
    ],
    ["a part that is not ours", v2.replace(" / /sys", " /pod/1 /sys"), "0::/pod/12\n", []],
    ["none", "22 1 8:1 / / rw - ext4 /dev/a rw\n", "0::/\n", []],
  ])("%s: the runner's own folders are found", (_, mounts, own, folders) => {
    expect(findOwnCgroupFolders(mounts, own).map((path) => path.replace(/\/$/, ""))).toEqual(
      folders,
    );
  });

  test("what a dead runner left is taken away, what a living one holds is not, and other names are nobody's business", async () => {
    const cgroups = await openCgroups(scratchFolder());
    if (cgroups === null) return; // Nothing can be made here; the tests above are skipped with their reason.
    const [file = ""] = cgroups.createGroup("mine", defaultLimits);
    const folder = join(file, "..");
    const [, namespace = ""] = /autopilot-(\d+)-/.exec(folder) ?? [];

    const dead = join(
      folder,
      "..",
      `autopilot-${namespace}-${spawnSync("true").pid}-1-0123456789ab`,
    );
    mkdirSync(dead);
    await openCgroups(scratchFolder());
    expect([existsSync(dead), existsSync(folder)]).toEqual([false, true]);
    await cgroups.clear("mine");
    expect(
      readdirSync(join(folder, "..")).filter((name) => name.includes(`-${process.pid}-`)),
    ).toEqual([]);
  });
});

describe("the watcher", () => {
  const marked = (words: readonly string[]): boolean => words.includes(`WATCHED=${process.pid}`);
  const begin = (command: string): ReturnType<typeof spawn> =>
    spawn("/bin/sh", ["-c", command], {
      env: { PATH: process.env["PATH"], WATCHED: String(process.pid) },
      detached: true,
      stdio: "ignore",
    });

  const bounds = { processesMax: 20, memoryBytesMax: 64 * 1024 ** 2, diskBytesMax: 1024 ** 2 };

  test.each([
    [
      "too many processes",
      () => "i=0; while [ $i -lt 30 ]; do sleep 30 & i=$((i + 1)); done; wait",
      /has \d\d processes; 20 are allowed/,
    ],
    [
      "too much memory",
      () => `head -c 100000000 /dev/zero | (tail -c 100000000; sleep 30) | (sleep 30; cat)`,
      /hold \d+ MiB of memory; 64 MiB/,
    ],
    [
      "too much on disk",
      (folder: string) => `sleep 0.3; head -c 3000000 /dev/zero > '${folder}/big'; sleep 30`,
      /wrote 3 MiB to disk; 1 MiB/,
    ],
  ])("says one sentence about %s", async (_, command, sentence) => {
    const folder = scratchFolder();
    writeFileSync(join(folder, "before"), Buffer.alloc(4_000_000));
    const said: string[] = [];
    const child = begin(command(folder));

    const watcher = watchResources({
      isMarked: marked,
      rootPid: child.pid ?? 0,
      folders: [folder],
      bounds,
      intervalMs: 50,
      onExceeded: (text) => said.push(text),
    });

    try {
      await until("a sentence", () => said.length > 0);
    } finally {
      watcher.stop();
      process.kill(-(child.pid ?? 0), "SIGKILL");
    }

    expect(said).toEqual([expect.stringMatching(sentence) as string]);
  });

  test("says nothing about one that keeps within its bounds", async () => {
    const said: string[] = [];
    const child = begin("sleep 0.5");

    const watcher = watchResources({
      isMarked: marked,
      rootPid: child.pid ?? 0,
      folders: [scratchFolder()],
      bounds,
      intervalMs: 20,
      onExceeded: (text) => said.push(text),
    });

    await new Promise((resolve) => child.once("exit", resolve));
    watcher.stop();
    expect(said).toEqual([]);
  });

  test("counts what is a process's own", () => {
    expect(
      countOwnBytes(
        "VmRSS:\t   900 kB\nRssAnon:\t     100 kB\nRssFile:\t     700 kB\nRssShmem:\t     100 kB\n",
      ),
    ).toBe(200 * 1024);
  });
});
