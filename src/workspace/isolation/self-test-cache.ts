// self-test-cache: caches passed self-tests of this machine since it started, in the user's cache
// folder, so that a run does not repeat them.
//
// Invariants:
//   C1. An entry is valid only while everything a test depends on is the same: the start of the
//       machine, its kernel and the settings about namespaces, our user and confinement, the
//       programs, the file system of the folder, and this program itself; for a sandbox also the
//       home folder, which it shows or hides.
//   C2. Of a level only a pass is cached. A failure is tested again each time: it may have been
//       temporary. (What resource limits do here is cached as it was found, limits.ts.)
//   C3. If the cache can't be trusted (store-folder.ts, S1) or written, everything is tested again,
//       and nothing fails for it.

import { createHash, randomUUID } from "node:crypto";
import {
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { release } from "node:os";
import { join } from "node:path";
import { openStoreFolder, findStoreFolder } from "../bases/store-folder.ts";
import { findProgramOnPath } from "./program-paths.ts";
import { eraseSync, readSmallFile } from "../folder.ts";

export type SelfTestCache = {
  /**
   * The cached result of a test that starts these programs; null if there is none, or something has
   * changed.
   */
  read(test: string, programs: readonly string[]): string | null;
  /** Records the result of a test. */
  record(test: string, programs: readonly string[], result: string): void;
};

/**
 * A cache that is always empty, so that everything is tested again: for `doctor`, and for tests of
 * a self-test.
 */
export const noCache: SelfTestCache = { read: () => null, record: () => undefined };

const resultBytesMax = 4_096;
const cacheFolderName = "self-tests";

/**
 * `runFolder`: a run's folder, whose file system a test depends on. `home`: "" for tests that do not
 * depend on it.
 */
export function openSelfTestCache(
  runFolder: string,
  storeFolder: string = findStoreFolder(),
  home: string = process.env["HOME"] ?? "",
): SelfTestCache {
  const boot = readText("/proc/sys/kernel/random/boot_id");
  if (boot === "" || !isTrusted(storeFolder)) return noCache; // C3
  const machineHash = hashText([boot, home, ...readMachineFacts(runFolder)].join("\n")); // C1
  const prefix = `${hashText(boot).slice(0, 16)}-`;

  const cacheFolder = join(storeFolder, cacheFolderName);
  const entryPath = (test: string, programs: readonly string[]): string =>
    join(
      cacheFolder,
      `${prefix}${hashText([machineHash, test, ...programs.map(readProgramFacts)].join("\n"))}`,
    );

  return {
    read: (test, programs) => {
      try {
        return readSmallFile(entryPath(test, programs), resultBytesMax)?.toString("utf8") ?? null;
      } catch {
        return null; // C3
      }
    },
    record: (test, programs, result) => {
      try {
        const temporary = join(cacheFolder, `${prefix}${randomUUID()}`);
        writeFileSync(temporary, result, { mode: 0o600, flag: "wx" });
        renameSync(temporary, entryPath(test, programs));

        // Entries from an earlier boot are useless.
        for (const name of readdirSync(cacheFolder)) {
          if (!name.startsWith(prefix)) rmSync(join(cacheFolder, name), { force: true });
        }
      } catch {
        return; // C3
      }
    },
  };
}

/** For the process and memory limits, which do not depend on a home. */
export const openLimitsCache = (runFolder: string): SelfTestCache =>
  openSelfTestCache(runFolder, findStoreFolder(), "");

/** Clears the cache, so that everything is tested again. */
export function clearSelfTestCache(storeFolder: string = findStoreFolder()): void {
  try {
    if (isTrusted(storeFolder)) eraseSync(join(storeFolder, cacheFolderName));
  } catch {
    return; // C3
  }
}

function isTrusted(storeFolder: string): boolean {
  try {
    openStoreFolder(storeFolder, [cacheFolderName]);
    return true;
  } catch {
    return false;
  }
}

/** Kernel settings about user namespaces; they change while the machine runs. */
const namespaceSettings = [
  "kernel/unprivileged_userns_clone",
  "kernel/apparmor_restrict_unprivileged_userns",
  "user/max_user_namespaces",
];
/**
 * Lines of /proc/self/status about this process's own confinement (`CapEff:\t0000000000000000`): a
 * test inside a sandbox says nothing about one outside.
 */
const confinementPattern = /^(?:CapEff|CapBnd|NoNewPrivs|Seccomp|Seccomp_filters):.*$/gm;

/** Everything that a test's result depends on, except for the programs it starts (C1). */
function readMachineFacts(runFolder: string): readonly string[] {
  const { dev } = statSync(runFolder);
  return [
    release(),
    process.version,
    [process.getuid?.(), process.getgid?.(), ...(process.getgroups?.() ?? [])].join(" "),
    ...namespaceSettings.map((name) => readText(`/proc/sys/${name}`)),
    ...(readText("/proc/self/status").match(confinementPattern) ?? []),
    readText("/proc/self/attr/current"),
    ...["user", "mnt", "net", "pid"].map((name) => readLink(`/proc/self/ns/${name}`)),
    `${dev} ${statfsSync(runFolder).type}`,
    ...readMountLines(dev),
    process.env["PATH"] ?? "",
    readProgramFacts(process.execPath),
    readProgramFacts(process.argv[1] ?? ""),
  ];
}

/**
 * The mount table's lines about a file system: overlays and options decide what a sandbox can do
 * there.
 */
function readMountLines(dev: number): readonly string[] {
  // The device as `major:minor`, as the mount table has it.
  const deviceNumber = `${(dev >>> 8) & 0xfff}:${(dev & 0xff) | ((dev >>> 12) & 0xfff00)}`;
  return readText("/proc/self/mountinfo")
    .split("\n")
    .filter((line) => line.split(" ")[2] === deviceNumber);
}

function readProgramFacts(name: string): string {
  const path = name.startsWith("/") ? name : findProgramOnPath(name);
  const stat = path === null ? undefined : statSync(path, { throwIfNoEntry: false });
  return stat === undefined
    ? `${name} is not there`
    : [path, stat.dev, stat.ino, stat.size, stat.mtimeMs, stat.ctimeMs, stat.mode, stat.uid].join(
        " ",
      );
}

const hashText = (text: string): string => createHash("sha256").update(text).digest("hex");

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
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
