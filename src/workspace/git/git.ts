// git: the one place that spawns git.
//
// Invariants:
//   G1. No configuration, hook, filter, file monitor, signing program or transport that came with a repository is ever run. A call either
//       goes to a git directory that the runner made (`isOwn`), whose configuration it wrote; or it is one of the few that read and name
//       objects and branches and run nothing, whatever the configuration says. Anything else is a bug, and does not start.
//   G2. `config: "user"` keeps the user's own configuration (global, system): landing needs the filters they installed for themselves.
//   G3. Every call has a time limit and an output limit. A slow call is checked for a pipe or device that blocks it.
//   G4. No git is run on a git folder with links, pipes or devices in it (see git-folder.ts): checked before the first call, and again
//       before each one that writes.
//   G5. No git outlives its runner, unless the runner is killed outright; then the next runner finds that git by its mark.

import { type ChildProcess, spawn } from "node:child_process";
import { homedir } from "node:os";
import { delimiter, dirname, isAbsolute, join, resolve as resolved } from "node:path";
import { invariant } from "../../kit/invariant.ts";
import { explainDiskFull } from "../disk-room.ts";
import { readErrorCode, WorkspaceFailed } from "../failure.ts";
import { readSmallFile } from "../folder.ts";
import { requireSafeGitFolder, findBlockingFile, explainUnsafeInclude } from "./git-folder.ts";
import { endAtExit, signalGroup } from "./running-gits.ts";
import { isHarmlessCall } from "./harmless-call.ts";
import { readCommonDir, type GitPlaces, findGitPlaces } from "./git-places.ts";

export type GitCall = {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: Iterable<Buffer>;
  /** Exit codes that are answers rather than failures. */
  readonly codes?: readonly number[];
  readonly config?: "none" | "user";
  /** The git directory is one the runner made, so a command that obeys a configuration may run in it. */
  readonly isOwn?: true;
  /** The repository that the call reads or writes through a git directory of the runner. */
  readonly into?: GitPlaces;
  readonly outputBytesMax?: number;
  /** Receives the output as it comes; then the result has none. */
  readonly onOutput?: (chunk: Buffer) => void;
  readonly timeoutMs?: number;
};

/** How and where git runs: a call without its arguments. */
export type GitContext = Omit<GitCall, "args">;

export type GitAnswer = { readonly code: number; readonly out: Buffer; readonly err: string; readonly isCut: boolean };

export const outputBytesMaxDefault = 1 << 29;
export const timeoutMsDefault = 600_000;
const errorBytesMax = 16_384;

const hardening = [
  ["core.hooksPath", "/dev/null"],
  ["core.fsmonitor", "false"],
  ["core.untrackedCache", "false"],
  ["protocol.allow", "never"],
  ["gc.auto", "0"],
  ["maintenance.auto", "false"],
  ["commit.gpgsign", "false"],
  ["submodule.recurse", "false"],
  ["fetch.recurseSubmodules", "false"],
] as const;
/** Added when the user's configuration is off. With it, trusting every folder's owner would be wrong, because their filters run. */
const isolationSettings = [
  ["safe.directory", "*"],
  ["core.attributesFile", "/dev/null"],
  ["core.excludesFile", "/dev/null"],
] as const;

/** Runs git and returns its output; throws WorkspaceFailed on any exit code that was not expected. */
export async function git(call: GitCall): Promise<GitAnswer> {
  const answer = await spawnGit(call);
  if ((call.codes ?? [0]).includes(answer.code)) return answer;
  const message = answer.err.trim().replace(/\s+/g, " ").slice(0, 2000);
  throw toGitFailure(call, answer, `git ${commandOf(call)} failed (${answer.code}): ${message}`);
}

/** The failure of a call: a full disk among those it uses, or this sentence. */
export function toGitFailure(
  call: Pick<GitCall, "cwd" | "env" | "into">,
  { err }: Pick<GitAnswer, "err">,
  sentence: string,
): WorkspaceFailed {
  const places = ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"].flatMap((name) => call.env?.[name] ?? []);
  const full = explainDiskFull(err, [call.cwd, ...places, ...(call.into === undefined ? [] : [call.into.root, call.into.commonDir])]);
  return full === null ? new WorkspaceFailed("workspace_unusable", sentence) : new WorkspaceFailed("disk_full", full);
}

/** The one line a plumbing command prints. */
export async function readGitLine(call: GitCall): Promise<string> {
  return (await git(call)).out.toString("utf8").replace(/\n$/, "");
}

/** The options of every git call. G1 */
export function composeGitArguments({ config }: Pick<GitCall, "config">): readonly string[] {
  const settings = config === "user" ? hardening : [...hardening, ...isolationSettings];
  return settings.flatMap(([key, value]) => ["-c", `${key}=${value}`]);
}

async function spawnGit(call: GitCall): Promise<GitAnswer> {
  invariant(isHarmlessCall(call), `git ${call.args[0] ?? ""} runs only in a git directory of the runner's own`); // G1
  await requireSafeFor(call); // G4
  const argv = [...composeGitArguments(call), ...call.args];
  const outputBytesMax = call.outputBytesMax ?? outputBytesMaxDefault;
  return new Promise((resolve, reject) => {
    // Detached, so that a Ctrl-C meant for the runner does not interrupt an update of a checkout.
    const child = spawn("git", argv, { cwd: call.cwd, env: composeGitEnvironment(call), stdio: ["pipe", "pipe", "pipe"], detached: true });
    endAtExit(child, "gently"); // G5
    const closed = new AbortController();
    child.on("error", (error) => {
      clearTimeout(timer);
      closed.abort();
      reject(cannotStart(error, call.cwd));
    });
    const out: Buffer[] = [];
    const keep = (chunk: Buffer): void => void out.push(chunk);
    let outBytes = 0;
    let err = "";
    let isCut = false;
    let hasTimedOut = false;
    let blockedAt: string | null = null;
    let inputError: unknown = null;
    const timer = setTimeout(() => {
      hasTimedOut = true; // G3
      killGroup(child);
    }, call.timeoutMs ?? timeoutMsDefault);
    reportIfBlocked(call, closed.signal, (at) => {
      blockedAt = at;
      killGroup(child);
    });
    if (child.pid === undefined) return; // It did not start, and may have no pipes either; its error event follows.
    child.stdout.on("data", (chunk: Buffer) => {
      if (isCut) return;
      const room = outputBytesMax - outBytes;
      (call.onOutput ?? keep)(chunk.length > room ? chunk.subarray(0, room) : chunk);
      outBytes += Math.min(chunk.length, room);
      if (chunk.length <= room) return;
      isCut = true; // G3
      killGroup(child);
    });
    child.stderr.on("data", (chunk: Buffer) => {
      if (err.length < errorBytesMax) err += chunk.toString("utf8");
    });
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      closed.abort();
      if (inputError !== null) return reject(inputError instanceof Error ? inputError : new Error("the input could not be read"));
      if (blockedAt !== null) return reject(new WorkspaceFailed("workspace_unusable", blockedAt, "take it away"));
      if (hasTimedOut) return reject(new WorkspaceFailed("workspace_unusable", `git ${commandOf(call)} did not end in time.`));
      if (isCut) return resolve({ code: 0, out: Buffer.concat(out), err, isCut });
      // A killed git has no result, whatever exit codes are accepted.
      if (code === null)
        return reject(new WorkspaceFailed("workspace_unusable", `git ${commandOf(call)} was ended by ${signal ?? "a signal"}.`));
      resolve({ code, out: Buffer.concat(out), err, isCut });
    });
    child.stdin.on("error", () => undefined); // A git that stops reading early says why by its exit code.
    writeInput(child.stdin, call.input ?? []).catch((error: unknown) => {
      inputError = error;
      killGroup(child);
    });
  });
}

const cannotStart = (error: Error, cwd: string): WorkspaceFailed =>
  new WorkspaceFailed(
    "workspace_unusable",
    readErrorCode(error) === "ENOENT"
      ? `git was not found, or the folder ${cwd} does not exist.`
      : `git could not be started: ${error.message}`,
  );

/** The git command of a call, after its options: `merge-tree`. */
const commandOf = ({ args }: GitCall): string => args.find((word, index) => !word.startsWith("-") && args[index - 1] !== "-c") ?? "";

/** Kills a git together with the filters it started. */
function killGroup(child: ChildProcess): void {
  if (child.pid === undefined || !signalGroup(child.pid, "SIGKILL")) child.kill("SIGKILL");
}

const slowMs = 3_000;

/** A git that takes long may block on a pipe somewhere in the checkout, where checking beforehand would cost as much as the call. */
function reportIfBlocked(call: GitCall, closed: AbortSignal, report: (waitsAt: string) => void): void {
  const checkCheckout = async (): Promise<void> => {
    const blockedAt = await findBlockingFile(call.env?.["GIT_WORK_TREE"] ?? call.cwd, closed);
    if (blockedAt !== null && !closed.aborted) report(blockedAt);
  };
  const timer = setTimeout(() => void checkCheckout().catch(() => undefined), slowMs); // without a finding the time limit applies
  closed.addEventListener("abort", () => clearTimeout(timer), { once: true });
}

/** Calls that write into the repository, or move its checkout. */
const writingCommands = new Set(["update-ref", "symbolic-ref", "read-tree", "update-index", "checkout-index"]);
const checkedGitDirs = new Set<string>();

/** G4. The runner's own git directories are exempt. */
async function requireSafeFor(call: GitCall): Promise<void> {
  const places = call.into ?? (call.isOwn === true ? null : placesOfCall(call));
  if (places === null || (checkedGitDirs.has(places.gitDir) && !call.args.some((word) => writingCommands.has(word)))) return;
  await requireSafeRepository(places);
}

function placesOfCall({ cwd, env }: GitCall): GitPlaces | null {
  const gitDir = env?.["GIT_DIR"];
  const around = findGitPlaces(cwd);
  return gitDir === undefined || around?.gitDir === gitDir ? around : { root: cwd, gitDir, commonDir: readCommonDir(gitDir) };
}

/** Checks a repository's git folder before git uses it, and throws if it may not. */
export async function requireSafeRepository(places: GitPlaces): Promise<void> {
  requireSafeGitFolder(places);
  for (const name of ["config", "config.worktree"])
    for (const folder of new Set([places.commonDir, places.gitDir])) await requireSafeIncludes(join(folder, name), 0);
  checkedGitDirs.add(places.gitDir);
}

const configBytesMax = 16 << 20;
const includesDepthMax = 10;

/** Git itself says which files a configuration includes, without opening them. */
async function requireSafeIncludes(path: string, depth: number): Promise<void> {
  const text = readSmallFile(path, configBytesMax)?.toString("latin1") ?? "";
  if (depth > includesDepthMax || !/include/i.test(text)) return;
  const args = ["config", "--file", path, "--no-includes", "-z", "--get-regexp", "^include(if\\..*)?\\.path$"];
  const { out } = await spawnGit({ cwd: "/", isOwn: true, env: { GIT_DIR: "/dev/null" }, args });
  for (const entry of out.toString("utf8").split("\0")) {
    const includePath = entry.slice(entry.indexOf("\n") + 1);
    if (entry === "" || includePath === "") continue;
    const included = resolved(dirname(path), includePath.replace(/^~(?=\/)/, homedir()));
    const why = explainUnsafeInclude(included);
    if (why !== null) throw new WorkspaceFailed("workspace_unusable", `${why} Git was not started.`, "take the include away");
    await requireSafeIncludes(included, depth + 1);
  }
}

async function writeInput(stdin: NodeJS.WritableStream, input: Iterable<Buffer>): Promise<void> {
  for (const chunk of input) {
    if (!stdin.writable) return;
    if (!stdin.write(chunk)) await waitForDrain(stdin);
  }
  stdin.end();
}

const waitForDrain = (stdin: NodeJS.WritableStream): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      stdin.off("drain", done);
      stdin.off("close", done);
      stdin.off("error", done);
      resolve();
    };
    stdin.on("drain", done);
    stdin.on("close", done);
    stdin.on("error", done);
  });

/** The environment variable with the pid of the runner that started a git, so that the next runner can find it. */
export const gitMarkVariable = "AUTOPILOT_GIT";
/** Where a user may keep their configuration instead of the usual places. */
const configVariables = ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"];

/** The absolute folders of a PATH: a relative one would be inside the repository, where a program called git could be. */
const absoluteFolders = (path: string): string => path.split(delimiter).filter(isAbsolute).join(delimiter);

export function composeGitEnvironment(call: GitContext): Record<string, string> {
  const path = process.env["PATH"];
  const searchPath = path === undefined ? {} : { PATH: absoluteFolders(path) };
  // Overrides any configuration: nothing is fetched implicitly, and the runner's own calls fetch from folders only.
  const transports = { GIT_ALLOW_PROTOCOL: call.isOwn === true ? "file" : "none", GIT_NO_LAZY_FETCH: "1" };
  const fixed = {
    ...transports,
    [gitMarkVariable]: String(process.pid),
    GIT_TERMINAL_PROMPT: "0",
    GIT_OPTIONAL_LOCKS: "0",
    LC_ALL: "C",
    LANGUAGE: "C",
  };
  if (call.config === "user") return { ...userEnvironment(), ...searchPath, ...fixed, ...call.env }; // G2
  const temporary = process.env["TMPDIR"];
  const withoutUserConfig = {
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_ATTR_NOSYSTEM: "1",
    GIT_NO_REPLACE_OBJECTS: "1",
    // Git looks here for attributes and ignore files even without a configuration.
    HOME: "/nonexistent",
    XDG_CONFIG_HOME: "/nonexistent",
  };
  return { ...searchPath, ...(temporary === undefined ? {} : { TMPDIR: temporary }), ...fixed, ...withoutUserConfig, ...call.env }; // G1
}

/** The user's own environment without variables that would redirect git. */
function userEnvironment(): Record<string, string> {
  const isHarmless = (name: string): boolean => !name.startsWith("GIT_") || configVariables.includes(name);
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) => (value !== undefined && isHarmless(name) ? [[name, value] as const] : [])),
  );
}
