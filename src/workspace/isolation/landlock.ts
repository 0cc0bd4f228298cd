// landlock: isolation by the kernel's Landlock and a call filter, for machines without user
// namespaces (containers, hardened hosts). It needs no privileges and nothing installed but Perl or
// Python. A command sees the machine as it is, and may open only what is granted.
//
// Invariants:
//   K1. Nothing is started unless Landlock is in force: the setup script starts the command only
//       after everything before succeeded.
//   K2. What Landlock cannot enforce is reported: the lists below name every hole the hostile suite
//       measures.

import { mkdirSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";
import { buildSeccompFilter } from "./seccomp-filter.ts";
import { resolvePath } from "./program-paths.ts";
import { egressFailure, networkFailure, testSandbox } from "./sandbox-self-test.ts";
import {
  cleanEnvironment,
  composeToolchainVariables,
  detachedProcessGap,
  privateHome,
  type Command,
  type Isolation,
  type IsolationPlace,
  type WrappedCommand,
} from "./confinement.ts";
import { callNumbers, type Processor, readProcessor } from "./call-numbers.ts";
import { buildLandlockFilter } from "./landlock-filter.ts";
import { findLandlock, type Interpreter, interpreterPrograms } from "./landlock-program.ts";
import { buildLandlockRules } from "./landlock-rules.ts";

/** From which Landlock version on the kernel enforces what. */
const versionSince = { truncate: 3, tcp: 4, signals: 6 } as const;

const egressTriesMax = 3;

export function createLandlockIsolation(
  place: IsolationPlace,
  allowedPrograms?: readonly string[],
): Isolation {
  const processor = readProcessor();
  const isLinux = process.platform === "linux" && processor !== null;
  const { interpreter, abi } = isLinux
    ? findLandlock(allowedPrograms)
    : { interpreter: null, abi: 0 };

  const wrap = (command: Command): WrappedCommand => {
    if (interpreter === null || processor === null) {
      return { argv: ["/nonexistent/landlock"], env: {}, cwd: command.cwd }; // K1
    }

    return wrapCommand(place, command, interpreter, processor);
  };

  return {
    level: "landlock",
    mechanism: `Landlock (version ${abi}) and a call filter`,
    enforced: listEnforced(abi),
    not_enforced: listNotEnforced(abi),
    wrap,
    hasOwnNetwork: false,
    collect: () => Promise.resolve(),
    selfTest: () => selfTest(place, wrap, { isLinux, interpreter, abi }),
  };
}

/** What Landlock of this version, and the call filter, keep a command from. K2 */
function listEnforced(abi: number): readonly string[] {
  const exceptCutting = abi < versionSince.truncate ? ", but for cutting them short" : "";
  const network =
    abi >= versionSince.tcp
      ? "no network, or the egress's port alone, where the command is to have no more"
      : "no datagrams";
  const processes =
    abi >= versionSince.signals
      ? "other processes cannot be signalled, traced or read"
      : "other processes cannot be traced or read";

  return [
    "only in-scope changes of the layer are applied",
    `writes of files outside the layer fail${exceptCutting}`,
    "the user's checkout and HOME, other repositories, the journal and other attempts cannot be read",
    "credentials cannot be read",
    network,
    "shared memory, semaphores, queues and keys of other programs cannot be reached, nor terminals",
    "sockets of other programs cannot be reached",
    processes,
    "no privileges, no user namespaces, fewer system calls",
  ];
}

/** What a command can still do. K2 */
function listNotEnforced(abi: number): readonly string[] {
  const olderThan = (version: number, gap: string): readonly string[] =>
    abi < version ? [gap] : [];

  return [
    "modes, owners, times and attributes of the user's files outside the layer",
    "names and sizes of files outside the layer",
    ...olderThan(versionSince.tcp, "TCP, where the command may have the egress"),
    ...olderThan(versionSince.signals, "signals to other processes"),
    detachedProcessGap,
    "reads of installed programs and their settings",
    "network, for commands that may use it",
  ];
}

type LandlockSupport = {
  readonly isLinux: boolean;
  readonly interpreter: Interpreter | null;
  readonly abi: number;
};

function wrapCommand(
  place: IsolationPlace,
  command: Command,
  interpreter: Interpreter,
  processor: Processor,
): WrappedCommand {
  const runHome = privateHome(place.runDir);
  const isUserHome = command.home === "user";
  const home = isUserHome ? (command.env["HOME"] ?? homedir()) : runHome;
  // The machine's temporary folder is shared; this one is the command's, in its HOME if that is
  // private too.
  const temporary = join(isUserHome && command.writable.includes(home) ? home : runHome, ".tmp");
  mkdirSync(temporary, { recursive: true, mode: 0o700 });

  const writable = [...command.writable, temporary];
  if (!isUserHome) writable.push(home);
  const rules = buildLandlockRules({ place, command, writable });

  const network = command.network ?? "on";
  const filters = [
    buildSeccompFilter(process.arch, false),
    buildLandlockFilter(processor, network),
  ].map((filter) => filter.toString("hex"));

  const argv = [
    ...interpreter.argv,
    String(callNumbers.prctl[processor]),
    String(callNumbers.capset[processor]),
    network === "egress" && command.egress === undefined ? "off" : network,
    String(command.egress?.port ?? 0),
    filters.join(","),
    String(rules.length),
    ...rules.flatMap(([rights, path]) => [String(rights), path]),
    ...command.argv,
  ];

  const cwd = resolvePath(command.cwd)?.real ?? command.cwd;
  const env = {
    ...composeToolchainVariables(command.env),
    ...cleanEnvironment(command.env, cwd),
    HOME: home,
    TMPDIR: temporary,
  };

  return { argv, env, cwd: command.cwd };
}

async function selfTest(
  place: IsolationPlace,
  wrap: (command: Command) => WrappedCommand,
  { isLinux, interpreter, abi }: LandlockSupport,
): Promise<readonly string[]> {
  if (!isLinux) return ["Landlock needs Linux on x64 or arm64"];
  if (interpreter === null) return ["neither perl nor python3 is there to set Landlock up"];
  if (abi < 1) return ["this kernel has no Landlock, or it is switched off"];
  if (place.cache?.read("landlock", interpreterPrograms) === "holds") return [];
  // The network is shared, so the egress is a port of this machine; the test serves its own socket
  // there.
  const servers: Server[] = [];

  const withEgressServer = (command: Command): WrappedCommand => {
    const server = createServer((socket) => void socket.end("egress")).on("error", () => undefined);
    servers.push(server.listen(command.egress?.port ?? 0, "127.0.0.1"));
    return wrap(command);
  };

  try {
    let failures = await testSandbox({ place, wrap: withEgressServer });
    // Another process may have had that port: then the test proves nothing, and another port is
    // tried.
    for (let tries = 1; tries < egressTriesMax && failures.join() === egressFailure; tries += 1) {
      failures = await testSandbox({ place, wrap: withEgressServer });
    }

    const remaining =
      abi >= versionSince.tcp
        ? failures
        : failures.filter((sentence) => sentence !== networkFailure);
    if (remaining.length === 0) place.cache?.record("landlock", interpreterPrograms, "holds");
    return remaining;
  } finally {
    for (const server of servers) server.close();
  }
}
