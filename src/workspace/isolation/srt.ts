// srt: isolation by Anthropic's sandbox runtime, if it is installed: bubblewrap with its own proxy
// on Linux, Seatbelt on a Mac.
//
// Invariants:
//   S1. The settings of a command are in the run's folder, which the command does not see, in a
//       file named by a hash of them.
//   S2. Variables that the runtime adds to a command's environment are removed: they contain the
//       whole command line, and hide the egress.
//   S3. Within the runtime a command is landlocked as well, if available: the kernel's files are
//       read-only, and objects that all processes of a user share cannot be reached, neither of
//       which the runtime enforces.

import { createHash } from "node:crypto";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import {
  cleanEnvironment,
  detachedProcessGap,
  privateHome,
  type Command,
  type Isolation,
  type IsolationPlace,
  type WrappedCommand,
} from "./confinement.ts";
import { findProgramOnPath } from "./program-paths.ts";
import { callNumbers, readProcessor } from "./call-numbers.ts";
import { buildSharedObjectFilter } from "./landlock-filter.ts";
import {
  landlockAccess,
  landlockAccessAll,
  findLandlock,
  interpreterPrograms,
} from "./landlock-program.ts";
import { readErrorCode, WorkspaceFailed } from "../failure.ts";
import { buildSrtSettings } from "./srt-settings.ts";
import { testFromOutside } from "./srt-test.ts";

/** Programs that the runtime needs and that the system may not have. */
const requiredPrograms = { linux: ["bwrap", "socat", "rg"], darwin: ["rg"] } as const;

const proxyVariables = [
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "ALL_PROXY",
  "FTP_PROXY",
  "GRPC_PROXY",
  "NO_PROXY",
];
/** Set by the runtime, and not the command's business. */
const runtimeVariables = [
  ...proxyVariables.flatMap((name) => [name, name.toLowerCase()]),
  "DOCKER_HTTP_PROXY",
  "DOCKER_HTTPS_PROXY",
  "RSYNC_PROXY",
  "GIT_SSH_COMMAND",
  "GIT_CONFIG_PARAMETERS",
  "JAVA_TOOL_OPTIONS",
  "CLOUDSDK_PROXY_TYPE",
  "CLOUDSDK_PROXY_ADDRESS",
  "CLOUDSDK_PROXY_PORT",
  "CLOUDSDK_PROXY_USERNAME",
  "CLOUDSDK_PROXY_PASSWORD",
  "CLAUDE_CODE_HOST_HTTP_PROXY_PORT",
  "CLAUDE_CODE_HOST_SOCKS_PROXY_PORT",
  "TMPDIR",
];

// The sandbox has a network of its own, whose only exit is the runtime's proxy. This program serves
// the egress's port inside, and forwards each connection through the proxy (`CONNECT
// 127.0.0.1:PORT`).
const forwarder = `
const net = require("node:net"), via = new URL(process.env.HTTP_PROXY), port = process.argv[1];
const key = Buffer.from(decodeURIComponent(via.username) + ":" + decodeURIComponent(via.password)).toString("base64");
net.createServer((near) => {
  const far = net.connect(+via.port, via.hostname);
  const end = () => { near.destroy(); far.destroy(); };
  near.on("error", end).on("close", end).pause();
  far.on("error", end).on("close", end);
  far.write("CONNECT 127.0.0.1:" + port + " HTTP/1.1\\r\\nHost: 127.0.0.1:" + port + "\\r\\nProxy-Authorization: Basic " + key + "\\r\\n\\r\\n");
  let head = Buffer.alloc(0);
  const hear = (bytes) => {
    head = Buffer.concat([head, bytes]);
    const at = head.indexOf("\\r\\n\\r\\n");
    if (at < 0) return head.length > 65536 ? end() : undefined;
    if (!/^HTTP\\/1\\.[01] 200 /.test(head.toString("latin1"))) return end();
    far.off("data", hear);
    near.write(head.subarray(at + 4));
    near.pipe(far); far.pipe(near);
  };
  far.on("data", hear);
}).listen(+port, "127.0.0.1").on("error", () => process.exit(1));`;

/**
 * Starts the forwarder beside the command, removes the runtime's variables (S2), and execs the
 * command.
 */
const startScript = `
node=$1; port=$2; program=$3; shift 3
[ "$port" = - ] || ("$node" -e "$program" "$port" </dev/null >/dev/null 2>&1 &)
exec env "$@"`;

export function createSrtIsolation(place: IsolationPlace): Isolation {
  const isMac = process.platform === "darwin";
  const program = findProgramOnPath("srt");
  const landlock = isMac || program === null ? [] : composeLandlockArguments();
  const isLandlocked = landlock.length > 0;

  const wrap = (command: Command): WrappedCommand => {
    if (program !== null) return wrapCommand(place, command, { program, landlock, isMac });
    // It fails to start, so the command never runs outside a sandbox.
    return { argv: ["/nonexistent/srt"], env: {}, cwd: command.cwd };
  };

  return {
    level: "srt",
    mechanism: isMac
      ? "Anthropic sandbox runtime (Seatbelt)"
      : "Anthropic sandbox runtime (bubblewrap and a proxy)",
    enforced: listEnforced(isMac, isLandlocked),
    not_enforced: listNotEnforced(isMac, isLandlocked),
    wrap,
    hasOwnNetwork: false,
    collect: async () => sweepSrtSockets(),
    selfTest: () => selfTest(place, wrap, isMac),
  };
}

/** What the runtime, with Landlock in it if that is there, keeps a command from. */
function listEnforced(isMac: boolean, isLandlocked: boolean): readonly string[] {
  const enforced = [
    "only in-scope changes of the layer are applied",
    "writes outside the layer are lost or fail",
    "the user's checkout and HOME, other repositories, the journal and other attempts are absent",
    "no network, or the egress alone, where the command is to have no more",
  ];

  if (!isMac) {
    enforced.push("processes end with the runner", "sockets of other programs cannot be reached");
  }

  if (isLandlocked) {
    enforced.push("shared memory, message queues and keys of other programs cannot be reached");
  }

  return enforced;
}

/** What a command can still do, or cannot though it should. */
function listNotEnforced(isMac: boolean, isLandlocked: boolean): readonly string[] {
  const notEnforced = [
    "a write into a hidden folder may seem to succeed, and is lost",
    "hooks and settings of the layer's own repository cannot be written, though they are the agent's",
    "network: named hosts cannot be told from all of them, so a command that may have all of it has none",
  ];

  if (isMac) {
    notEnforced.push(
      "services of this machine, where the command may have the egress",
      detachedProcessGap,
    );
  } else if (!isLandlocked) {
    notEnforced.push(
      "shared memory, message queues and keys of the same user (needs Landlock, and perl or python3)",
    );
    if (process.getuid?.() === 0) {
      notEnforced.push("settings of the kernel, since the runner is root");
    }
  }

  return [...notEnforced, "reads of installed programs and their settings"];
}

async function selfTest(
  place: IsolationPlace,
  wrap: (command: Command) => WrappedCommand,
  isMac: boolean,
): Promise<readonly string[]> {
  if (process.platform !== "linux" && !isMac) return ["srt needs Linux or macOS"];

  const required = ["srt", ...(isMac ? requiredPrograms.darwin : requiredPrograms.linux)];
  const missing = required.filter((name) => findProgramOnPath(name) === null);
  if (missing.length > 0) {
    const verb = missing.length === 1 ? "is" : "are";
    return [`${missing.join(", ")} ${verb} not installed`];
  }

  const programs = ["srt", ...requiredPrograms.linux, ...interpreterPrograms];
  if (place.cache?.read("srt", programs) === "holds") return [];
  const failures = await testFromOutside({ place, wrap, isMac });
  if (failures.length === 0) place.cache?.record("srt", programs, "holds");

  return failures;
}

/** The runtime's program, and the words in front of a command that landlock it (S3). */
type SandboxRuntime = {
  readonly program: string;
  readonly landlock: readonly string[];
  readonly isMac: boolean;
};

function wrapCommand(
  place: IsolationPlace,
  command: Command,
  { program, landlock, isMac }: SandboxRuntime,
): WrappedCommand {
  const runHome = privateHome(place.runDir);
  const isUserHome = command.home === "user";
  const home = isUserHome ? (command.env["HOME"] ?? homedir()) : runHome;
  const temporary = join(isUserHome && command.writable.includes(home) ? home : runHome, ".tmp");
  mkdirSync(temporary, { recursive: true, mode: 0o700 });

  const writable = [...command.writable, temporary];
  if (!isUserHome) writable.push(home);

  const sockets = prepareSocketFolder();
  const visibleCommand = { ...command, readable: [...(command.readable ?? []), sockets] };
  const settings = buildSrtSettings({ place, command: visibleCommand, writable, program, isMac });

  const commandEnv: Readonly<Record<string, string>> = {
    ...cleanEnvironment(command.env, command.cwd),
    HOME: home,
    TMPDIR: temporary,
  };

  const runtimeEnv = { ...commandEnv, TMPDIR: sockets };
  const port =
    !isMac && command.network === "egress" && command.egress !== undefined
      ? String(command.egress.port)
      : "-";

  const isOwn = (name: string): boolean => commandEnv[name] !== undefined;
  const unsetOptions = runtimeVariables
    .filter((name) => !isOwn(name))
    .flatMap((name) => ["-u", name]); // S2

  const ownVariables = runtimeVariables.filter(isOwn).map((name) => `${name}=${commandEnv[name]}`);
  const words = [
    process.execPath,
    port,
    forwarder,
    ...unsetOptions,
    ...ownVariables,
    ...landlock,
    ...command.argv,
  ];

  return {
    argv: [
      program,
      "--settings",
      writeSettingsFile(place.runDir, settings),
      "--",
      "/bin/sh",
      "-c",
      startScript,
      "autopilot-srt",
      ...words,
    ],
    env: runtimeEnv,
    cwd: command.cwd,
  };
}

/**
 * S3: allows everything that the runtime allows, except for writing the kernel's files. Empty if
 * Landlock is unavailable.
 */
function composeLandlockArguments(): readonly string[] {
  const processor = readProcessor();
  const { interpreter, abi } = findLandlock();
  if (processor === null || interpreter === null || abi < 1) return [];
  const kernelFolders = ["/proc", "/sys"];
  const tops = readdirSync("/").map((name) => `/${name}`);
  const readRights = landlockAccess.execute | landlockAccess.readFile | landlockAccess.readFolder;

  const rules = [
    ["/", landlockAccess.readFolder],
    ...kernelFolders.map((top) => [top, readRights]),
    ...tops.filter((top) => !kernelFolders.includes(top)).map((top) => [top, landlockAccessAll]),
  ];

  const numbers = [callNumbers.prctl[processor], callNumbers.capset[processor]].map(String);
  const filters = buildSharedObjectFilter(processor).toString("hex");
  return [
    ...interpreter.argv,
    ...numbers,
    "on",
    "0",
    filters,
    String(rules.length),
    ...rules.flatMap(([path, rights]) => [String(rights), String(path)]),
  ];
}

/**
 * Where the runtime keeps the sockets of its proxies: a short path, and not the command's own
 * folder.
 */
function prepareSocketFolder(): string {
  const folder = socketFolderPath();
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // Another user could have created it before us, and would then own our sockets.
  const { uid, mode } = lstatSync(folder);
  const isPrivateFolder = (mode & 0o177077) === 0o040000; // with no rights for group and others
  if (uid !== process.getuid?.() || !isPrivateFolder) {
    throw new WorkspaceFailed(
      "isolation_unavailable",
      `${folder} belongs to somebody else, or is open to others.`,
      `remove ${folder}`,
    );
  }

  sweepSrtSockets();
  if (!isSweptAtExit) process.once("exit", sweepSrtSockets);
  isSweptAtExit = true;

  return folder;
}

let isSweptAtExit = false;
const socketFolderPath = (): string => join(tmpdir(), `autopilot-srt-${process.getuid?.() ?? 0}`);

/** Deletes the sockets of dead runtimes: a killed one leaves its own, named by its pid. */
export function sweepSrtSockets(): void {
  const folder = socketFolderPath();
  if (!existsSync(folder)) return;

  for (const name of readdirSync(folder)) {
    // `srt-http-4711.sock`
    const pid = Number(/^srt-[a-z]+-(\d+)(?:-\d+)?\.sock$/.exec(name)?.[1] ?? 0);
    if (pid > 0 && isGone(pid)) rmSync(join(folder, name), { force: true });
  }
}

function isGone(pid: number): boolean {
  try {
    return !process.kill(pid, 0);
  } catch (error) {
    return readErrorCode(error) === "ESRCH";
  }
}

/** Writes a command's settings into the run's folder (S1), under a name that is a hash of them. */
function writeSettingsFile(runDir: string, settings: object): string {
  const text = `${JSON.stringify(settings)}\n`;
  const hash = createHash("sha256").update(text).digest("hex");
  const folder = join(runDir, "srt");
  const file = join(folder, `${hash.slice(0, 16)}.json`);
  if (existsSync(file)) return file;

  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const temporary = `${file}.${process.pid}`;
  writeFileSync(temporary, text, { mode: 0o600 });
  renameSync(temporary, file);

  return file;
}
