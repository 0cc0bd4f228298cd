// limits-cgroup: resource limits of one command's processes by a child of the runner's own cgroup,
// which the command joins before it begins.
//
// Invariants:
//   C1. Groups are created below the runner's own cgroup only: its limits apply to its agents too.
//   C2. A group is removed only by its creator, or by another runner in the same pid namespace that
//       sees its creator gone.
//   C3. Removing a group is bounded in time; one that cannot be removed is left for the next
//       runner.

import { createHash, randomUUID } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmdirSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { Limits } from "./confinement.ts";

/** `ending`: that all processes of a command can be killed at once. */
export type LimitKind = "processes" | "memory" | "ending";

export type Cgroups = {
  /** The limits that cgroups can enforce here. */
  readonly enforced: ReadonlySet<LimitKind>;
  readonly version: "v1" | "v2";
  /** Creates the key's group with these limits, and returns the files to write a pid into. */
  createGroup(key: string, limits: Limits): readonly string[];
  /** Kills every process of the group and removes it. */
  clear(key: string): Promise<void>;
};

/** A process is allowed some threads: the kernel counts both alike. */
export const tasksPerProcess = 4;
const removeTimeoutMs = 1_500;
const pollMs = 10;

/**
 * The runner's own folder in each mounted hierarchy that could limit pids or memory, or kill a
 * group. `mountinfo` and `ownCgroups`: the texts of /proc/self/mountinfo and /proc/self/cgroup.
 */
export function findOwnCgroupFolders(mountinfo: string, ownCgroups: string): readonly string[] {
  const pathByController = new Map<string, string>();
  for (const line of ownCgroups.split("\n")) {
    const [, names = "", ...path] = line.split(":");
    if (path.length > 0) {
      for (const name of names.split(",")) pathByController.set(name, path.join(":"));
    }
  }

  return mountinfo.split("\n").flatMap((line) => {
    const [mountPart = "", typePart = ""] = line.split(" - "); // `36 35 0:29 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup rw`
    const [, , , root = "/", mountPoint = ""] = mountPart.split(" ");
    const [kind = "", , options = ""] = typePart.split(" ");

    return parseControllers(kind, options).flatMap((name) => {
      const path = pathByController.get(name);
      if (path === undefined || !`${path}/`.startsWith(root === "/" ? "/" : `${root}/`)) return [];
      return [join(unescapeMountPath(mountPoint), root === "/" ? path : path.slice(root.length))];
    });
  });
}

/**
 * The controllers of a mounted hierarchy that can limit pids or memory; version 2 has one hierarchy
 * for all, without a name.
 */
function parseControllers(kind: string, options: string): readonly string[] {
  if (kind === "cgroup2") return [""];
  return kind === "cgroup"
    ? options.split(",").filter((name) => ["pids", "memory"].includes(name))
    : [];
}

/** Mount tables write a blank as \\040. */
const unescapeMountPath = (path: string): string =>
  path.replaceAll(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );

/** The runner's cgroups; null if they can't be used here. Leftovers of dead runners are removed. */
export async function openCgroups(
  runDir: string,
  parents = prepareOwnCgroups(),
): Promise<Cgroups | null> {
  const usable = parents.flatMap((parent) => {
    const files = probeGroupFiles(parent, composeGroupName(runDir, `probe-${randomUUID()}`));
    return files === null ? [] : [{ parent, files, enforced: findEnforceable(files) }];
  });
  const enforced = new Set(usable.flatMap((group) => [...group.enforced]));
  if (enforced.size === 0) return null;
  await Promise.all(usable.map(({ parent }) => clearLeftovers(parent)));

  return {
    enforced,
    version: usable.some(
      ({ files }) => files.includes("pids.max") && files.includes("cgroup.controllers"),
    )
      ? "v2"
      : "v1",
    createGroup: (key, limits) =>
      usable.map(({ parent, files }) => {
        const folder = join(parent, composeGroupName(runDir, key));
        mkdirSync(folder, { recursive: true });
        const settings = toCgroupSettings(limits).filter(([file]) => files.includes(file));
        // Twice: of memory and memory with swap the kernel wants the larger raised first, and
        // either may be it.
        for (const [file, value] of settings) tryWrite(join(folder, file), value);
        for (const [file, value] of settings) writeFileSync(join(folder, file), value);

        return join(folder, "cgroup.procs");
      }),
    clear: async (key) => {
      await Promise.all(
        usable.map(({ parent }) => removeGroup(join(parent, composeGroupName(runDir, key)))),
      );
    },
  };
}

/** The runner's own folders (C1), told to let children have limits. */
function prepareOwnCgroups(): readonly string[] {
  if (process.platform !== "linux") return [];
  const parents = findOwnCgroupFolders(
    readText("/proc/self/mountinfo"),
    readText("/proc/self/cgroup"),
  );
  // Only the root of a v2 tree may have processes and children; elsewhere this is refused, which is
  // harmless.
  for (const parent of parents) tryWrite(join(parent, "cgroup.subtree_control"), "+pids +memory");

  return [...new Set(parents)];
}

/** The names of a group's control files, found by creating one; null if none can be created. */
function probeGroupFiles(parent: string, name: string): readonly string[] | null {
  const probe = join(parent, name);
  try {
    mkdirSync(probe, { recursive: true });
    const files = readdirSync(probe);
    rmdirSync(probe);

    return files;
  } catch {
    return null;
  }
}

function findEnforceable(files: readonly string[]): readonly LimitKind[] {
  return [
    ...(files.includes("pids.max") ? (["processes"] as const) : []),
    ...(files.includes("memory.max") || files.includes("memory.limit_in_bytes")
      ? (["memory"] as const)
      : []),
    ...(files.includes("cgroup.kill") ? (["ending"] as const) : []),
  ];
}

/** Swap counts as memory: with it a limit would only be slower. */
const toCgroupSettings = ({
  processesMax,
  memoryBytesMax,
}: Limits): readonly (readonly [string, string])[] => [
  ["pids.max", String(processesMax * tasksPerProcess)],
  ["memory.max", String(memoryBytesMax)],
  ["memory.swap.max", "0"],
  ["memory.limit_in_bytes", String(memoryBytesMax)],
  ["memory.memsw.limit_in_bytes", String(memoryBytesMax)],
];

/** `autopilot-4026531836-4711-123456-0a1b2c3d4e5f` */
const groupPattern = /^autopilot-(\d+)-(\d+)-(\d+)-[0-9a-f]{12}$/;

/** A group's name says who owns it: the pid namespace, the pid and the start time of its runner. */
function composeGroupName(runDir: string, key: string): string {
  const hash = createHash("sha256").update(`${runDir}\0${key}`).digest("hex").slice(0, 12);
  return `autopilot-${readPidNamespace()}-${process.pid}-${readStartTime(process.pid) ?? "0"}-${hash}`;
}

async function clearLeftovers(parent: string): Promise<void> {
  const leftovers = readdirSync(parent).filter((name) => {
    const [, namespace, pid, startTime] = groupPattern.exec(name) ?? [];
    return (
      pid !== undefined &&
      namespace === readPidNamespace() &&
      readStartTime(Number(pid)) !== startTime
    ); // C2
  });
  await Promise.all(leftovers.map((name) => removeGroup(join(parent, name))));
}

async function removeGroup(folder: string): Promise<void> {
  const deadlineMs = performance.now() + removeTimeoutMs;
  while (existsSync(folder) && performance.now() < deadlineMs) {
    if (existsSync(join(folder, "cgroup.kill"))) {
      tryWrite(join(folder, "cgroup.kill"), "1");
    } else {
      for (const pid of readText(join(folder, "cgroup.procs")).split("\n").filter(Boolean)) {
        kill(Number(pid));
      }
    }

    try {
      rmdirSync(folder);
      return;
    } catch {
      await wait(pollMs); // C3: the kernel needs a moment to release the last process
    }
  }
}

const readPidNamespace = (): string => /\d+/.exec(readLink("/proc/self/ns/pid"))?.[0] ?? "0";

/** Its place after the program's name, which may have blanks in it. */
const startTimeField = 19;

/** The start time of a process, in kernel ticks; undefined if there is none. */
function readStartTime(pid: number): string | undefined {
  const line = readText(`/proc/${pid}/stat`);
  return line === "" ? undefined : line.slice(line.lastIndexOf(")") + 2).split(" ")[startTimeField];
}

function kill(pid: number): void {
  try {
    if (pid > 1) process.kill(pid, "SIGKILL");
  } catch {
    return; // gone already
  }
}

function tryWrite(file: string, text: string): void {
  try {
    writeFileSync(file, text, { flag: "r+" });
  } catch {
    return; // missing, or refused: what must succeed is written without this
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

function readLink(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}
