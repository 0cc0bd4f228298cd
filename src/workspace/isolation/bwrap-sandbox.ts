// bwrap-sandbox: what a command sees in a bubblewrap sandbox: the machine's programs, its own folder, a private HOME, and nothing else. Other
// folders, the user's HOME, the run's journal and other services' sockets are absent.
//
// Invariants:
//   B1. An allowlist, never a denylist: what is not listed is absent.
//   B2. Processes, IPC, host name, users and (unless explicitly shared) the network are namespaces of the box, end with it, and no
//       privilege can be gained inside.
//   B3. The kernel's files (/proc, /sys) are read-only as a whole: run by root, the box's user is root to settings outside namespaces.
//   B4. A command's private HOME is mounted at the user's HOME path, and its folder where the command says: no path inside reveals that this
//       is a box.
// Invariants X1 and on: workspace/isolation/bwrap-mounts.ts.

import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { homedir, totalmem } from "node:os";
import { delimiter, join } from "node:path";
import { buildSeccompFilter } from "./seccomp-filter.ts";
import type { BwrapVariant } from "./bwrap-variants.ts";
import { composeMountArguments, type Link, type Mount } from "./bwrap-mounts.ts";
import { homeSecrets, homeToolchains, linkedEtcFiles, machinePaths, machineSecrets, toolchainVariables } from "./sandbox-paths.ts";
import { findProgramPaths, resolvePath } from "./program-paths.ts";
import { cleanEnvironment, privateHome, type Command, type IsolationPlace } from "./confinement.ts";
import { withEgress, listEgressMounts, findEgressProgram } from "./egress.ts";

export type SandboxInput = {
  readonly place: IsolationPlace;
  readonly means: BwrapVariant;
  readonly command: Command;
  /** Where another folder is mounted at the path of a writable one. */
  readonly shownAt?: (folder: string) => string;
};

export type Sandbox = {
  /** bubblewrap's own command line; its filter is read from the descriptor `filterDescriptor`. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly filter: string;
};

export const filterDescriptor = 9;
const commonOptions = ["--cap-drop", "ALL", "--die-with-parent", "--new-session", "--seccomp", String(filterDescriptor)];
const scratchBytesMax = 4 * 1024 ** 3;
const etcEntriesMax = 20_000;

export function buildSandbox({ place, means, command, shownAt }: SandboxInput): Sandbox {
  const home = command.home === "user" ? (command.env["HOME"] ?? homedir()) : privateHome(place.runDir);
  const cwd = realPath(command.cwd);
  const egress = command.network === "egress" ? command.egress : undefined;
  const homeShown = homePathInside(command, home);
  const cwdShown = folderPathInside(command, cwd, homeShown);
  const { mounts, links } = sandboxLayout(place, command, { home, homeShown, cwd, cwdShown, shownAt: shownAt ?? ((folder) => folder) });
  const egressFiles = egress === undefined ? [] : listEgressMounts(egress, findEgressProgram());
  const argv = [
    means.bwrap,
    "--proc",
    "/proc",
    "--dev",
    "/dev",
    ...composeMountArguments(
      [...mounts, ...egressFiles.map(([from, path]) => ({ kind: "readable", from, path }) as const)],
      links,
      means.hasSizes,
    ),
    "--remount-ro",
    "/dev",
    "--remount-ro", // B3
    "/proc",
    "--remount-ro", // X1
    "/",
    ...namespaceOptions(means), // B2
    ...(command.network === "on" ? [] : ["--unshare-net"]),
    ...commonOptions,
    ...(homeShown === home ? [] : ["--setenv", "HOME", homeShown]), // bubblewrap itself keeps the variable its processes are found by
    "--chdir",
    cwdShown,
    "--",
    ...(egress === undefined ? command.argv : withEgress(command.argv, egress)),
  ];
  const env = {
    ...toolchainHints(command.env),
    ...cleanEnvironment(command.env, cwdShown === cwd ? cwd : null),
    HOME: home,
    TMPDIR: "/tmp",
  };
  return { argv, env, filter: filterFile(place.runDir, means) };
}

/** A shell script that opens the filter and then execs bubblewrap. */
export const openFilter = `exec ${filterDescriptor}<"$1" && shift && exec "$@"`;

function namespaceOptions({ users }: BwrapVariant): readonly string[] {
  const userOptions =
    users.kind === "closed" ? ["--unshare-user", "--disable-userns"] : [users.kind === "own" ? "--unshare-user" : "--unshare-user-try"];
  const ids = users.ids === undefined ? [] : ["--uid", String(users.ids.uid), "--gid", String(users.ids.gid)];
  return [...userOptions, ...ids, "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"];
}

/**
 * Where HOME is inside the box. B4, unless the HOME is the user's own or a system path. A command with network access may have to write
 * packages into a toolchain's folder below HOME, and the user's toolchains are read-only in the box.
 */
function homePathInside({ home: whose, env, writable, network }: Command, home: string): string {
  const userHome = realPath(homedir());
  const isPrivate = whose === "user" && network !== "on" && home !== userHome && writable.includes(home);
  return isPrivate && hiddenHome(userHome, env["PATH"] ?? "").length > 0 ? userHome : home;
}

/** Where the folder is inside the box. B4, unless that would cover something else that the command needs. */
function folderPathInside({ shownAs, writable, readable = [] }: Command, cwd: string, homeShown: string): string {
  if (shownAs === undefined) return cwd;
  const [shown, others] = [realPath(shownAs), [...writable, ...readable].map(realPath).filter((path) => path !== cwd)];
  return [homeShown, ...others].some((path) => isIn(path, shown)) ? cwd : shown;
}

type ShownPaths = {
  readonly home: string;
  readonly homeShown: string;
  readonly cwd: string;
  readonly cwdShown: string;
  readonly shownAt: (folder: string) => string;
};

/** B1 */
function sandboxLayout(
  place: IsolationPlace,
  command: Command,
  { home, homeShown, cwd, cwdShown, shownAt }: ShownPaths,
): { readonly mounts: readonly Mount[]; readonly links: readonly Link[] } {
  const userHome = homedir();
  const hidden = [...place.hidden, place.runDir].map(realPath);
  const programs = findProgramPaths({ argv: command.argv, path: command.env["PATH"] ?? "", home: realPath(userHome), hidden });
  const isShownElsewhere = homeShown !== home;
  const writable = [...command.writable.filter((path) => !isShownElsewhere || path !== home), ...(command.home === "user" ? [] : [home])];
  const readablePaths = [
    ...machinePaths,
    ...linkedEtcFiles,
    ...homeToolchains.map((path) => join(userHome, path)),
    ...toolchainVariables.flatMap(([name]) => process.env[name] ?? []),
    ...programs,
    ...(command.readable ?? []),
  ];
  const readable = readablePaths.flatMap((path) => resolvePath(path) ?? []);
  const writablePaths = writable.map((path) => resolvePath(path) ?? { real: path, links: [] });
  const scratchBytes = Math.min(command.limits?.diskBytesMax ?? scratchBytesMax, scratchBytesMax, Math.floor(totalmem() / 2));
  const secrets = [
    ...hiddenHome(realPath(userHome), command.env["PATH"] ?? ""),
    ...machineSecrets,
    ...homeSecrets.map((path) => realPath(join(userHome, path))), // a toolchain may be linked, and is mounted at its real path
    ...privateInEtc(),
  ].filter((path) => isReal(path) && (!isShownElsewhere || !isIn(path, homeShown) || readable.some(({ real }) => isIn(path, real))));
  return {
    mounts: [
      { kind: "scratch", path: "/tmp", bytesMax: scratchBytes },
      { kind: "scratch", path: "/var/tmp", bytesMax: scratchBytes },
      { kind: "scratch", path: "/dev/shm", bytesMax: scratchBytes },
      isShownElsewhere
        ? { kind: "writable", path: homeShown, from: shownAt(realPath(home)), isOwn: true }
        : { kind: "folder", path: realPath(home) },
      ...secrets.map((path) => ({ kind: "nothing", path }) as const),
      ...hidden.filter((path) => cwd === cwdShown || !isIn(path, cwdShown)).map((path) => ({ kind: "nothing", path }) as const),
      ...readable.map(({ real }) => ({ kind: "readable", path: real }) as const),
      ...writablePaths.map(({ real }) => ({ kind: "writable", path: real === cwd ? cwdShown : real, from: shownAt(real) }) as const),
    ],
    links: [...new Map([...readable, ...writablePaths].flatMap(({ links }) => links))],
  };
}

/** HOME may be below a path that is mounted as a whole, or in /tmp; but a daemon's HOME may be a folder of programs. */
function hiddenHome(home: string, path: string): readonly string[] {
  return ["/", ...machinePaths, ...path.split(delimiter)].includes(home) ? [] : [home];
}

/** Root can read everything, so in its box files of /etc that only some may read are removed; other users could not read them anyway. */
let privateEtc: readonly string[] | null = null;
function privateInEtc(): readonly string[] {
  if (process.getuid?.() !== 0) return [];
  privateEtc ??= unreadableBelow("/etc");
  return privateEtc;
}

function unreadableBelow(root: string): readonly string[] {
  const unreadable: string[] = [];
  let entries = 0;
  const folders = [root];
  for (let folder = folders.pop(); folder !== undefined && entries < etcEntriesMax; folder = folders.pop()) {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      entries += 1;
      const path = join(folder, entry.name);
      if (!entry.isFile() && !entry.isDirectory()) continue;
      const mode = lstatSync(path, { throwIfNoEntry: false })?.mode ?? 0;
      if ((mode & 0o004) === 0) unreadable.push(path);
      else if (entry.isDirectory()) folders.push(path);
    }
  }
  return unreadable;
}

/** Toolchains that would not find themselves with another HOME. */
function toolchainHints(env: Readonly<Record<string, string>>): Record<string, string> {
  const pairs = toolchainVariables.map(([name, path]) => [name, join(homedir(), path)] as const);
  return Object.fromEntries(pairs.filter(([name, path]) => env[name] === undefined && existsSync(path)));
}

/** The filter as a file of the run, which no box sees. */
function filterFile(runDir: string, { users }: BwrapVariant): string {
  const file = join(runDir, `box-${users.kind}.filter`);
  const program = buildSeccompFilter(process.arch, users.kind === "closed");
  if (existsSync(file) && readFileSync(file).equals(program)) return file;
  mkdirSync(runDir, { recursive: true, mode: 0o700 });
  const draft = `${file}.${process.pid}.tmp`;
  writeFileSync(draft, program, { mode: 0o600 });
  renameSync(draft, file);
  return file;
}

const isIn = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`);
const realPath = (path: string): string => resolvePath(path)?.real ?? path;

function isReal(path: string): boolean {
  try {
    return !(lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? true);
  } catch {
    return false; // what we cannot read, the box cannot either
  }
}
