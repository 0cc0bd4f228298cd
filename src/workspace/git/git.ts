// git: the one place that spawns git.
//
// Invariants:
//   G1. No configuration, hook, filter, file monitor, signing program or transport that came with a repository is ever run. A call either
//       goes to a git directory that the runner made (`isOwn`), whose configuration it wrote; or it is one of the few that read and name
//       objects and branches and run nothing, whatever the configuration says. Anything else is a bug, and does not start.
//   G2. `config: "user"` keeps the user's own configuration (global, system): landing needs the filters they installed for themselves.
//   G3. Every call has a time limit and an output limit.

import { spawn } from "node:child_process";
import { statfs } from "node:fs/promises";
import { delimiter, isAbsolute } from "node:path";
import { invariant } from "../../kit/invariant.ts";
import { errnoOf, WorkspaceFailed } from "../failure.ts";

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
  readonly outputBytesMax?: number;
  readonly timeoutMs?: number;
};

export type GitAnswer = { readonly code: number; readonly out: Buffer; readonly err: string; readonly isCut: boolean };

export const outputBytesMaxDefault = 1 << 29;
export const timeoutMsDefault = 600_000;
const errorBytesMax = 16_384;
/** Less than this is no room: a file and its folder's entry take a block each. */
const roomBytesMin = 16_384;

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
/** Only where no user configuration may count; trusting every folder's owner would be wrong where the user's filters run. */
const hardeningAlone = [
  ["safe.directory", "*"],
  ["core.attributesFile", "/dev/null"],
  ["core.excludesFile", "/dev/null"],
] as const;

/** G1: what runs nothing, in whichever repository, with the words that would change that. */
const harmless = new Set([
  "rev-parse",
  "rev-list",
  "merge-base",
  "cat-file",
  "ls-tree",
  "ls-files",
  "for-each-ref",
  "diff-tree",
  "update-ref",
  "symbolic-ref",
  "worktree",
  "config",
  "init",
  "--version",
]);
const harmful = ["--filters", "--textconv", "--ext-diff", "--show-signature"];
const patches = ["-p", "--patch"];
/** A patch runs nothing where both kinds of program that could make it are off. */
const disarms = ["--no-ext-diff", "--no-textconv"];

/** Whether a call may be made: its first word that is no option is the command. */
export function mayRun({ args, isOwn }: Pick<GitCall, "args" | "isOwn">): boolean {
  const at = args.findIndex((word) => !word.startsWith("--") || word === "--version");
  const command = args[at] ?? "";
  const isReading = command !== "worktree" || args[at + 1] === "list";
  const isPatch = args.some((word) => patches.includes(word)) && !disarms.every((word) => args.includes(word));
  return isOwn === true || (harmless.has(command) && isReading && !isPatch && !args.some((word) => harmful.includes(word)));
}

/** Runs git and answers with its output; throws WorkspaceFailed on any exit code that was not expected. */
export async function git(call: GitCall): Promise<GitAnswer> {
  const answer = await spawnGit(call);
  if ((call.codes ?? [0]).includes(answer.code)) return answer;
  const words = answer.err.trim().replace(/\s+/g, " ").slice(0, 2000);
  const reason = (await isDiskFull(answer, call.cwd)) ? "disk_full" : "workspace_unusable";
  throw new WorkspaceFailed(reason, `git ${call.args[0] ?? ""} failed (${answer.code}): ${words}`);
}

/** Whether git failed for want of room. It does not always say so, and then the disk itself is asked. */
export async function isDiskFull({ err }: Pick<GitAnswer, "err">, folder: string): Promise<boolean> {
  if (/No space left on device|Disk quota exceeded/.test(err)) return true;
  const disk = await statfs(folder).catch(() => null);
  return disk !== null && disk.blocks > 0 && (disk.bavail * disk.bsize < roomBytesMin || (disk.files > 0 && disk.ffree === 0));
}

/** The one line a plumbing command prints. */
export async function gitLine(call: GitCall): Promise<string> {
  return (await git(call)).out.toString("utf8").replace(/\n$/, "");
}

/** What every git is told before anything else. G1 */
export function gitArguments({ config }: Pick<GitCall, "config">): readonly string[] {
  const settings = config === "user" ? hardening : [...hardening, ...hardeningAlone];
  return settings.flatMap(([key, value]) => ["-c", `${key}=${value}`]);
}

function spawnGit(call: GitCall): Promise<GitAnswer> {
  invariant(mayRun(call), `git ${call.args[0] ?? ""} runs only in a git directory of the runner's own`); // G1
  const argv = [...gitArguments(call), ...call.args];
  const outputBytesMax = call.outputBytesMax ?? outputBytesMaxDefault;
  return new Promise((resolve, reject) => {
    // Detached, so that a Ctrl-C meant for the runner does not cut a half-done update of a checkout in two.
    const child = spawn("git", argv, { cwd: call.cwd, env: gitEnvironment(call), stdio: ["pipe", "pipe", "pipe"], detached: true });
    child.on("error", (error) => {
      clearTimeout(timer);
      const sentence =
        errnoOf(error) === "ENOENT"
          ? `git was not found, or the folder ${call.cwd} does not exist.`
          : `git could not be started: ${error.message}`;
      reject(new WorkspaceFailed("workspace_unusable", sentence));
    });
    const out: Buffer[] = [];
    let outBytes = 0;
    let err = "";
    let isCut = false;
    let isLate = false;
    let inputError: unknown = null;
    const timer = setTimeout(() => {
      isLate = true; // G3
      child.kill("SIGKILL");
    }, call.timeoutMs ?? timeoutMsDefault);
    if (child.pid === undefined) return; // Not started, and where descriptors ran out it has not even pipes; its error is on the way.
    child.stdout.on("data", (chunk: Buffer) => {
      if (isCut) return;
      const room = outputBytesMax - outBytes;
      out.push(chunk.length > room ? chunk.subarray(0, room) : chunk);
      outBytes += Math.min(chunk.length, room);
      if (chunk.length <= room) return;
      isCut = true; // G3
      child.kill("SIGKILL");
    });
    child.stderr.on("data", (chunk: Buffer) => {
      if (err.length < errorBytesMax) err += chunk.toString("utf8");
    });
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      if (inputError !== null) return reject(inputError instanceof Error ? inputError : new Error("the input could not be read"));
      if (isLate) return reject(new WorkspaceFailed("workspace_unusable", `git ${call.args[0] ?? ""} did not end in time.`));
      if (isCut) return resolve({ code: 0, out: Buffer.concat(out), err, isCut });
      // One that was killed has not answered, whatever codes are answers.
      if (code === null)
        return reject(new WorkspaceFailed("workspace_unusable", `git ${call.args[0] ?? ""} was ended by ${signal ?? "a signal"}.`));
      resolve({ code, out: Buffer.concat(out), err, isCut });
    });
    child.stdin.on("error", () => undefined); // A git that stops reading early says why by its exit code.
    feed(child.stdin, call.input ?? []).catch((error: unknown) => {
      inputError = error;
      child.kill("SIGKILL");
    });
  });
}

async function feed(stdin: NodeJS.WritableStream, input: Iterable<Buffer>): Promise<void> {
  for (const chunk of input) {
    if (!stdin.writable) return;
    if (!stdin.write(chunk)) await drained(stdin);
  }
  stdin.end();
}

const drained = (stdin: NodeJS.WritableStream): Promise<void> =>
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

/** Which runner started a git, for the one that comes after it. */
export const gitMark = "AUTOPILOT_GIT";
/** Where a user may keep their configuration instead of the usual places. */
const configNames = ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"];

/** A folder that is relative would be one of the repository's, and a program called git could lie there. */
const absoluteOnly = (path: string): string => path.split(delimiter).filter(isAbsolute).join(delimiter);

export function gitEnvironment(call: Omit<GitCall, "args">): Record<string, string> {
  const outer = Object.entries(process.env).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, name === "PATH" ? absoluteOnly(value) : value] as const],
  );
  // Over any configuration: nothing is fetched behind a command's back, and where something is, it is from a folder.
  const transports = { GIT_ALLOW_PROTOCOL: call.isOwn === true ? "file" : "none", GIT_NO_LAZY_FETCH: "1" };
  const fixed = {
    ...transports,
    [gitMark]: String(process.pid),
    GIT_TERMINAL_PROMPT: "0",
    GIT_OPTIONAL_LOCKS: "0",
    LC_ALL: "C",
    LANGUAGE: "C",
  };
  const isTheirs = (name: string): boolean => !name.startsWith("GIT_") || configNames.includes(name);
  if (call.config === "user") return { ...Object.fromEntries(outer.filter(([name]) => isTheirs(name))), ...fixed, ...call.env }; // G2
  const kept = outer.filter(([name]) => name === "PATH" || name === "TMPDIR");
  const alone = {
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_ATTR_NOSYSTEM: "1",
    GIT_NO_REPLACE_OBJECTS: "1",
    // Git looks here for attributes and ignore files even without a configuration.
    HOME: "/nonexistent",
    XDG_CONFIG_HOME: "/nonexistent",
  };
  return { ...Object.fromEntries(kept), ...fixed, ...alone, ...call.env }; // G1
}
