// bwrap: isolation by bubblewrap. The machine is read-only, the user's checkout and the run's folder are absent but for the folders
// given, process ids are the sandbox's own and die with it, and the user's credentials are not there.
//
// Invariants:
//   X1. A hidden folder is empty and cannot be written to: a write there fails, rather than seeming to succeed and vanishing.
//   X2. Order matters to bubblewrap: hide first, then give back, then seal.

import { execFile } from "node:child_process";
import { existsSync, lstatSync, readlinkSync, realpathSync } from "node:fs";
import { mkdir, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { cleanEnvironment, privateHome, type Command, type Isolation, type IsolationPlace, type Wrapped } from "./confinement.ts";
import { errnoOf } from "./failure.ts";
import { erase } from "./folder.ts";

const selfTestTimeoutMs = 20_000;

/** Where people keep keys and tokens, below HOME. */
const secretPlaces = [
  ".ssh",
  ".gnupg",
  ".aws",
  ".azure",
  ".config/gcloud",
  ".config/gh",
  ".config/glab-cli",
  ".docker",
  ".kube",
  ".netrc",
  ".git-credentials",
  ".config/git/credentials",
  ".npmrc",
  ".pypirc",
  ".cargo/credentials.toml",
  ".password-store",
  ".local/share/keyrings",
  ".config/autopilot",
];
/** Sockets of other services live in /run; these parts of it are needed for names and programs. */
const keptOfRun = ["/run/systemd/resolve", "/run/current-system", "/run/wrappers", "/run/opengl-driver"];

export function bwrapIsolation(place: IsolationPlace): Isolation {
  const wrap = (command: Command): Wrapped => wrapCommand(place, command);
  return {
    level: "bwrap",
    mechanism: "bubblewrap",
    enforced: [
      "only in-scope changes of the layer are applied",
      "writes outside the layer fail",
      "the user's checkout, the journal and other attempts are absent",
      "well-known credential folders are absent",
      "processes end with the runner",
      "no network where the command is to have none",
    ],
    not_enforced: ["reads of the rest of the machine", "network, where the command may have it", "memory and disk use"],
    wrap,
    hasOwnNetwork: false,
    collect: () => Promise.resolve(),
    selfTest: () => selfTest(place, wrap),
  };
}

function wrapCommand(place: IsolationPlace, command: Command): Wrapped {
  const home = command.home === "user" ? (command.env["HOME"] ?? homedir()) : privateHome(place.runDir);
  const hidden = outermost([...place.hidden, place.runDir].map(resolved));
  const writable = [...new Set([...command.writable, ...(command.home === "user" ? [] : [home])].map(resolved))];
  const readable = [...new Set((command.readable ?? []).map(resolved))];
  const machine = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"];
  const scratch = ["/tmp", "/var/tmp", "/run"].filter((path) => existsSync(path)).flatMap((path) => ["--tmpfs", path]);
  const apart = ["--unshare-user-try", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"];
  const ending = ["--cap-drop", "ALL", "--die-with-parent", "--new-session", "--chdir", resolved(command.cwd)];
  const argv = [
    "bwrap",
    ...machine,
    ...scratch,
    ...keptOfRun.flatMap((path) => ["--ro-bind-try", path, path]),
    ...secretsOf(homedir(), writable),
    ...hidden.flatMap((path) => ["--tmpfs", path]), // X2
    ...readable.flatMap((path) => ["--ro-bind", path, path]),
    ...writable.flatMap((path) => ["--bind", path, path]),
    ...hidden.filter((path) => !writable.includes(path)).flatMap((path) => ["--remount-ro", path]), // X1
    ...apart,
    ...(command.network === "off" ? ["--unshare-net"] : []),
    ...ending,
    "--",
    ...command.argv,
  ];
  const env = { ...cleanEnvironment(command.env, resolved(command.cwd)), HOME: home, TMPDIR: "/tmp" };
  return { argv, env, cwd: command.cwd };
}

/** A folder inside a hidden one is hidden already. */
const outermost = (paths: readonly string[]): string[] =>
  [...new Set(paths)].filter((path) => !paths.some((other) => other !== path && path.startsWith(`${other}/`)));

const resolved = (path: string): string => (existsSync(path) ? realpathSync(path) : path);

/** Folders become empty ones, files become unreadable; links are left to what they point at. */
function secretsOf(home: string, writable: readonly string[]): string[] {
  return secretPlaces.flatMap((place) => {
    const path = join(home, place);
    if (!existsSync(path) || lstatSync(path).isSymbolicLink() || writable.some((open) => `${open}/`.startsWith(`${path}/`))) return [];
    return lstatSync(path).isDirectory() ? ["--tmpfs", path, "--remount-ro", path] : ["--ro-bind", "/dev/null", path];
  });
}

async function selfTest(place: IsolationPlace, wrap: (command: Command) => Wrapped): Promise<readonly string[]> {
  if (!isOnPath("bwrap")) return ["bubblewrap (bwrap) is not installed"];
  await mkdir(privateHome(place.runDir), { recursive: true });
  // HOME is where a write would succeed without isolation, so its failure proves something.
  const atHome = join(homedir(), `.autopilot-self-test-${process.pid}`);
  const room = await mkdtemp(join(place.runDir, "self-test-"));
  try {
    const [inside, outside] = [join(room, "inside"), join(room, "outside")];
    await mkdir(inside);
    await mkdir(outside);
    await writeFile(join(outside, "secret"), "secret");
    const script = `
      echo ok > inside-file
      cat ${quoted(join(outside, "secret"))} > seen 2>/dev/null
      echo bad > ${quoted(join(outside, "file"))} && echo outside >> wrote
      echo bad > ${quoted(atHome)} && echo home >> wrote
      readlink /proc/self/ns/net > net`;
    const { argv, env, cwd } = wrap({
      argv: ["/bin/sh", "-c", script],
      cwd: inside,
      env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin" },
      writable: [inside],
      network: "off",
    });
    const said = await runOnce(argv, env, cwd);
    const read = (name: string): Promise<string> =>
      readFile(join(inside, name), "utf8").then(
        (text) => text.trim(),
        () => "",
      );
    if ((await read("inside-file")) !== "ok") return [`it could not start or not write its own folder${said === "" ? "" : ` (${said})`}`];
    const failures: string[] = [];
    if ((await read("wrote")) !== "" || existsSync(join(outside, "file")) || existsSync(atHome))
      failures.push("a forbidden write succeeded");
    if ((await read("seen")) !== "") failures.push("a hidden file could be read");
    if (process.platform === "linux" && (await read("net")) === readlinkSync("/proc/self/ns/net"))
      failures.push("the network was not shut off");
    return failures;
  } finally {
    await erase(room);
    await erase(atHome);
  }
}

const quoted = (path: string): string => `'${path.replaceAll("'", `'\\''`)}'`;

const isOnPath = (program: string): boolean =>
  (process.env["PATH"] ?? "").split(delimiter).some((folder) => folder !== "" && existsSync(join(folder, program)));

/** Runs it to its end; answers with what it said on stderr. The exit code does not matter, the files do. */
function runOnce(argv: readonly string[], env: Readonly<Record<string, string>>, cwd: string): Promise<string> {
  const [program = "", ...args] = argv;
  return new Promise((resolve) => {
    execFile(program, args, { env, cwd, timeout: selfTestTimeoutMs, killSignal: "SIGKILL" }, (error, _out, err) => {
      resolve(err.trim().slice(0, 300) || (errnoOf(error) ?? ""));
    });
  });
}
