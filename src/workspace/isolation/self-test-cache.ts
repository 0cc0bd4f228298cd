// self-test-cache: what was seen to hold on this machine since it started, in the user's cache folder, so that a run does not try it again.
//
// Invariants:
//   C1. A note holds only while everything a test depends on is the same: the start of the machine, its kernel and the settings about
//       namespaces, who we are and what we are confined by, the programs, the file system of the folder, and this program itself; of
//       a box also the home folder, which it shows or hides.
//   C2. Only what held is noted. What did not is tried again each time: it may have been a bad moment.
//   C3. Where the cache can't be trusted (store-folder.ts, S1) or written, everything is tried again, and nothing fails for it.

import { createHash, randomUUID } from "node:crypto";
import { readdirSync, readFileSync, readlinkSync, renameSync, rmSync, statfsSync, statSync, writeFileSync } from "node:fs";
import { release } from "node:os";
import { join } from "node:path";
import { openStoreFolder, storeFolder } from "../bases/store-folder.ts";
import { programOnPath } from "./box-programs.ts";
import { readSmallFile } from "../folder.ts";

export type SelfTestCache = {
  /** What was noted of a test that starts these programs; null if nothing was, or something is not as it was. */
  read(test: string, programs: readonly string[]): string | null;
  note(test: string, programs: readonly string[], result: string): void;
};

/** Tries everything anew: for `doctor`, and for tests of a self-test. */
export const noCache: SelfTestCache = { read: () => null, note: () => undefined };

const noteBytesMax = 4_096;
const room = "self-tests";

/** `folder`: where a run lies, whose file system a test depends on. `home`: "" for tests that do not depend on it. */
export function openSelfTestCache(folder: string, store: string = storeFolder(), home: string = process.env["HOME"] ?? ""): SelfTestCache {
  const boot = textOf("/proc/sys/kernel/random/boot_id");
  if (boot === "" || !isOurs(store)) return noCache; // C3
  const here = hashOf([boot, home, ...factsOf(folder)].join("\n")); // C1
  const prefix = `${hashOf(boot).slice(0, 16)}-`;
  const fileOf = (test: string, programs: readonly string[]): string =>
    join(store, room, `${prefix}${hashOf([here, test, ...programs.map(programFacts)].join("\n"))}`);
  return {
    read: (test, programs) => {
      try {
        return readSmallFile(fileOf(test, programs), noteBytesMax)?.toString("utf8") ?? null;
      } catch {
        return null; // C3
      }
    },
    note: (test, programs, result) => {
      try {
        const draft = join(store, room, `${prefix}${randomUUID()}`);
        writeFileSync(draft, result, { mode: 0o600, flag: "wx" });
        renameSync(draft, fileOf(test, programs));
        // Notes of another start of the machine are of no use any more.
        for (const name of readdirSync(join(store, room))) if (!name.startsWith(prefix)) rmSync(join(store, room, name), { force: true });
      } catch {
        return; // C3
      }
    },
  };
}

/** For the limits of processes and memory, which know nothing of a home. */
export const openLimitsCache = (folder: string): SelfTestCache => openSelfTestCache(folder, storeFolder(), "");

/** Forgets everything that was noted: what is tried next is tried again. */
export function clearSelfTestCache(store: string = storeFolder()): void {
  try {
    if (isOurs(store)) rmSync(join(store, room), { recursive: true, force: true });
  } catch {
    return; // C3
  }
}

function isOurs(store: string): boolean {
  try {
    openStoreFolder(store, [room]);
    return true;
  } catch {
    return false;
  }
}

/** Kernel settings that give namespaces to users or take them away; they change while the machine runs. */
const settings = ["kernel/unprivileged_userns_clone", "kernel/apparmor_restrict_unprivileged_userns", "user/max_user_namespaces"];
/** By what this process itself is held: a test inside a box says nothing of one outside. */
const confinement = /^(?:CapEff|CapBnd|NoNewPrivs|Seccomp|Seccomp_filters):.*$/gm;

function factsOf(folder: string): readonly string[] {
  const { dev } = statSync(folder);
  return [
    release(),
    process.version,
    [process.getuid?.(), process.getgid?.(), ...(process.getgroups?.() ?? [])].join(" "),
    ...settings.map((name) => textOf(`/proc/sys/${name}`)),
    ...(textOf("/proc/self/status").match(confinement) ?? []),
    textOf("/proc/self/attr/current"),
    ...["user", "mnt", "net", "pid"].map((name) => linkOf(`/proc/self/ns/${name}`)),
    `${dev} ${statfsSync(folder).type}`,
    ...mountsOf(dev),
    process.env["PATH"] ?? "",
    programFacts(process.execPath),
    programFacts(process.argv[1] ?? ""),
  ];
}

/** How the file system is mounted: overlays and options decide what a box can do there. */
function mountsOf(dev: number): readonly string[] {
  // The kernel's own way to write a device, as its mount table does.
  const shown = `${(dev >>> 8) & 0xfff}:${(dev & 0xff) | ((dev >>> 12) & 0xfff00)}`;
  return textOf("/proc/self/mountinfo")
    .split("\n")
    .filter((line) => line.split(" ")[2] === shown);
}

function programFacts(name: string): string {
  const path = name.startsWith("/") ? name : programOnPath(name);
  const stat = path === null ? undefined : statSync(path, { throwIfNoEntry: false });
  return stat === undefined
    ? `${name} is not there`
    : [path, stat.dev, stat.ino, stat.size, stat.mtimeMs, stat.ctimeMs, stat.mode, stat.uid].join(" ");
}

const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return "";
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}
