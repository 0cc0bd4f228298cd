// bwrap-sandbox: builds the bubblewrap command line for a sandbox in which a command sees the
// machine's programs, its own folder, a private HOME, and nothing else: other folders, the user's
// HOME, the run's journal and other services' sockets are absent.
//
// Invariants:
//   B1. An allowlist, never a denylist: what is not listed is absent.
//   B2. Processes, IPC, host name, users and (unless explicitly shared) the network are namespaces
//       of the sandbox, end with it, and no privilege can be gained inside.
//   B3. The kernel's files (/proc, /sys) are read-only as a whole: run by root, the sandbox's user
//       is root to settings outside namespaces.
//   B4. A command's private HOME is mounted at the user's HOME path, and its folder where the
//       command says: no path inside reveals that this is a sandbox.
//   B5. Whatever bubblewrap creates to hold mounts is read-only in the end, so that a write there
//       fails rather than vanishes.

import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { homedir, totalmem } from "node:os";
import { delimiter, join } from "node:path";
import { buildSeccompFilter } from "./seccomp-filter.ts";
import type { BwrapVariant } from "./bwrap-variants.ts";
import { composeMountArguments, type SandboxLink, type SandboxMount } from "./bwrap-mounts.ts";
import {
  homeSecrets,
  listToolchainPaths,
  linkedEtcFiles,
  machinePaths,
  machineSecrets,
} from "./sandbox-paths.ts";
import { findProgramPaths, isWithin, resolvePath, type ResolvedPath } from "./program-paths.ts";
import {
  cleanEnvironment,
  composeToolchainVariables,
  privateHome,
  type Command,
  type IsolationPlace,
} from "./confinement.ts";
import { withEgress, listEgressMounts, findEgressProgram } from "./egress.ts";

export type SandboxInput = {
  readonly place: IsolationPlace;
  readonly variant: BwrapVariant;
  readonly command: Command;
  /**
   * The folder that is mounted at the path of a writable one, if that is another: an overlay's
   * merged folder.
   */
  readonly mountedFolder?: (folder: string) => string;
};

export type Sandbox = {
  /** bubblewrap's own command line; its filter is read from the descriptor `filterDescriptor`. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly filter: string;
};

export const filterDescriptor = 9;
const commonOptions = [
  "--cap-drop",
  "ALL",
  "--die-with-parent",
  "--new-session",
  "--seccomp",
  String(filterDescriptor),
];
const kernelFileMounts = ["--proc", "/proc", "--dev", "/dev"];
/** After all other mounts: the kernel's files (B3), and what holds mounts (B5). */
const readOnlyRemounts = ["--remount-ro", "/dev", "--remount-ro", "/proc", "--remount-ro", "/"];
const scratchBytesMax = 4 * 1024 ** 3;
const etcEntriesMax = 20_000;

/** The command line that runs a command in a sandbox of its own, with its environment. */
export function buildSandbox({ place, variant, command, mountedFolder }: SandboxInput): Sandbox {
  const home =
    command.home === "user" ? (command.env["HOME"] ?? homedir()) : privateHome(place.runDir);
  const cwd = toRealPath(command.cwd);
  const egress = command.network === "egress" ? command.egress : undefined;
  const homeInside = findHomeInside(command, home);
  const cwdInside = findFolderInside(command, cwd, homeInside);

  const { mounts, links } = planMounts(place, command, {
    home,
    homeInside,
    cwd,
    cwdInside,
    mountedFolder: mountedFolder ?? ((folder) => folder),
  });

  const egressFiles = egress === undefined ? [] : listEgressMounts(egress, findEgressProgram());
  const egressMounts = egressFiles.map(
    ([from, path]) => ({ kind: "readable", from, path }) as const,
  );
  const mountArguments = composeMountArguments(
    [...mounts, ...egressMounts],
    links,
    variant.canLimitSizes,
  );

  const argv = [
    variant.bwrap,
    ...kernelFileMounts,
    ...mountArguments,
    ...readOnlyRemounts,
    ...composeNamespaceOptions(variant), // B2
    ...(command.network === "on" ? [] : ["--unshare-net"]),
    ...commonOptions,
    ...(homeInside === home ? [] : ["--setenv", "HOME", homeInside]), // bubblewrap itself keeps the variable its processes are found by
    "--chdir",
    cwdInside,
    "--",
    ...(egress === undefined ? command.argv : withEgress(command.argv, egress)),
  ];

  const env = {
    ...composeToolchainVariables(command.env),
    ...cleanEnvironment(command.env, cwdInside === cwd ? cwd : null),
    HOME: home,
    TMPDIR: "/tmp",
  };

  return { argv, env, filter: writeFilterFile(place.runDir, variant) };
}

/** A shell script that opens the filter and then execs bubblewrap. */
export const openFilter = `exec ${filterDescriptor}<"$1" && shift && exec "$@"`;

function composeNamespaceOptions({ users }: BwrapVariant): readonly string[] {
  const userOptions = {
    closed: ["--unshare-user", "--disable-userns"],
    own: ["--unshare-user"],
    tried: ["--unshare-user-try"],
  }[users.kind];

  const ids =
    users.ids === undefined ? [] : ["--uid", String(users.ids.uid), "--gid", String(users.ids.gid)];
  return [
    ...userOptions,
    ...ids,
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-cgroup-try",
  ];
}

/**
 * Where HOME is inside the sandbox: at the user's HOME path (B4), unless it is the user's own HOME
 * or a system path. A command with network access keeps the real path: it may have to install
 * packages into a toolchain's folder below HOME, and at the user's HOME path toolchains are
 * read-only.
 */
function findHomeInside(command: Command, home: string): string {
  const { env, writable, network } = command;
  const userHome = toRealPath(homedir());
  const isPrivate =
    command.home === "user" && network !== "on" && home !== userHome && writable.includes(home);
  const isUserHomeHidden = findHomeToHide(userHome, env["PATH"] ?? "").length > 0;
  return isPrivate && isUserHomeHidden ? userHome : home;
}

/**
 * Where the command's folder is inside the sandbox: where the command says (B4), unless that would
 * cover a path that it needs.
 */
function findFolderInside(
  { shownAs, writable, readable = [] }: Command,
  cwd: string,
  homeInside: string,
): string {
  if (shownAs === undefined) return cwd;
  const shown = toRealPath(shownAs);
  const otherPaths = [...writable, ...readable].map(toRealPath).filter((path) => path !== cwd);
  const wouldCover = [homeInside, ...otherPaths].some((path) => isWithin(path, shown));
  return wouldCover ? cwd : shown;
}

type ShownPaths = {
  readonly home: string;
  readonly homeInside: string;
  readonly cwd: string;
  readonly cwdInside: string;
  readonly mountedFolder: (folder: string) => string;
};

/** Every mount of the sandbox (B1), and the links that lead to them. */
function planMounts(
  place: IsolationPlace,
  command: Command,
  shownPaths: ShownPaths,
): { readonly mounts: readonly SandboxMount[]; readonly links: readonly SandboxLink[] } {
  const { home, homeInside, cwd, cwdInside, mountedFolder } = shownPaths;
  const hidden = [...place.hidden, place.runDir].map(toRealPath);
  const readable = findReadablePaths(command, hidden);
  const writable = findWritablePaths(command, shownPaths);

  const isCovered = (path: string): boolean => cwd !== cwdInside && isWithin(path, cwdInside);
  const absentPaths = [
    ...findSecretPaths(command, shownPaths, readable),
    ...hidden.filter((path) => !isCovered(path)),
  ];
  const homeMount: SandboxMount =
    homeInside === home
      ? { kind: "folder", path: toRealPath(home) }
      : { kind: "writable", path: homeInside, from: mountedFolder(toRealPath(home)), isOwn: true };

  return {
    mounts: [
      ...planScratchMounts(command),
      homeMount,
      ...absentPaths.map((path) => ({ kind: "nothing", path }) as const),
      ...readable.map(({ real }) => ({ kind: "readable", path: real }) as const),
      ...writable.map(({ real }) => {
        const path = real === cwd ? cwdInside : real;
        return { kind: "writable", path, from: mountedFolder(real) } as const;
      }),
    ],
    links: [...new Map([...readable, ...writable].flatMap(({ links }) => links))],
  };
}

/** The machine's programs, toolchains, and what the command may read besides. */
function findReadablePaths(command: Command, hidden: readonly string[]): readonly ResolvedPath[] {
  const userHome = homedir();
  const programs = findProgramPaths({
    argv: command.argv,
    path: command.env["PATH"] ?? "",
    home: toRealPath(userHome),
    hidden,
  });

  const paths = [
    ...machinePaths,
    ...linkedEtcFiles,
    ...listToolchainPaths(userHome),
    ...programs,
    ...(command.readable ?? []),
  ];
  return paths.flatMap((path) => resolvePath(path) ?? []);
}

/** What the command may write; without its HOME, if that is shown at another path. */
function findWritablePaths(
  command: Command,
  { home, homeInside }: ShownPaths,
): readonly ResolvedPath[] {
  const isHomeShownElsewhere = homeInside !== home;
  const paths = [
    ...command.writable.filter((path) => !isHomeShownElsewhere || path !== home),
    ...(command.home === "user" ? [] : [home]),
  ];
  return paths.map((path) => resolvePath(path) ?? { real: path, links: [] });
}

/** Files and folders with secrets that the other mounts would show. */
function findSecretPaths(
  command: Command,
  { home, homeInside }: ShownPaths,
  readable: readonly ResolvedPath[],
): readonly string[] {
  const userHome = homedir();
  const secrets = [
    ...findHomeToHide(toRealPath(userHome), command.env["PATH"] ?? ""),
    ...machineSecrets,
    ...homeSecrets.map((path) => toRealPath(join(userHome, path))), // a toolchain may be linked, and is mounted at its real path
    ...findPrivateEtcFiles(),
  ];

  const isCoveredByHome = (path: string): boolean =>
    homeInside !== home &&
    isWithin(path, homeInside) &&
    !readable.some(({ real }) => isWithin(path, real));
  return secrets.filter((path) => isRealEntry(path) && !isCoveredByHome(path));
}

function planScratchMounts({ limits }: Command): readonly SandboxMount[] {
  const halfOfMemory = Math.floor(totalmem() / 2);
  const bytesMax = Math.min(limits?.diskBytesMax ?? scratchBytesMax, scratchBytesMax, halfOfMemory);
  return ["/tmp", "/var/tmp", "/dev/shm"].map((path) => ({ kind: "scratch", path, bytesMax }));
}

/**
 * HOME is hidden, since it may be below a path that is mounted as a whole, or in /tmp; but a
 * daemon's HOME may be a folder of programs.
 */
function findHomeToHide(home: string, path: string): readonly string[] {
  return ["/", ...machinePaths, ...path.split(delimiter)].includes(home) ? [] : [home];
}

let privateEtcFiles: readonly string[] | null = null;

/**
 * Root can read everything, so in its sandbox files of /etc that not everybody may read are hidden;
 * other users can't read them anyway.
 */
function findPrivateEtcFiles(): readonly string[] {
  if (process.getuid?.() !== 0) return [];
  privateEtcFiles ??= findUnreadable("/etc");
  return privateEtcFiles;
}

/**
 * The files and folders below a folder that not everybody may read, as far as it has no more than
 * `etcEntriesMax` entries.
 */
function findUnreadable(root: string): readonly string[] {
  const unreadable: string[] = [];
  let entries = 0;
  const folders = [root];
  for (
    let folder = folders.pop();
    folder !== undefined && entries < etcEntriesMax;
    folder = folders.pop()
  ) {
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

/** Writes the seccomp filter into the run's folder, which no sandbox sees. */
function writeFilterFile(runDir: string, { users }: BwrapVariant): string {
  const file = join(runDir, `box-${users.kind}.filter`);
  const program = buildSeccompFilter(process.arch, users.kind === "closed");
  if (existsSync(file) && readFileSync(file).equals(program)) return file;
  mkdirSync(runDir, { recursive: true, mode: 0o700 });
  const temporary = `${file}.${process.pid}.tmp`;
  writeFileSync(temporary, program, { mode: 0o600 });
  renameSync(temporary, file);

  return file;
}

const toRealPath = (path: string): string => resolvePath(path)?.real ?? path;

/** Whether there is something at a path, and it isn't a link. */
function isRealEntry(path: string): boolean {
  try {
    return !(lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? true);
  } catch {
    return false; // a path that we cannot read, the sandbox cannot read either
  }
}
