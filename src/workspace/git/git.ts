// git: runs git on a repository. Besides this file only object-reader.ts does, by the same
// rules. Two commands start git themselves, and never in a repository of the user's: demo in the one
// it makes up, doctor to ask for git's version.
//
// Invariants:
//   G1. No configuration, hook, filter, file monitor, signing program or transport that came with a
//       repository is ever run. A call either goes to a git directory that the runner made
//       (`isOwn`), whose configuration it wrote; or it is one of the few that read and name objects
//       and branches and run nothing, whatever the configuration says. Anything else is a bug, and
//       does not start.
//   G2. `config: "user"` keeps the user's own configuration (global, system): landing needs the
//       filters they installed for themselves (kept in safe-git-call.ts).
//   G3. Every call has a time limit and an output limit. A slow call is checked for a pipe or
//       device that blocks it.
//   G4. No git is run on a git folder of the user's in which links, pipes or devices would mislead
//       it (git-folder.ts): checked before the first call, and again before each one that moves a
//       branch or writes the index or the checkout.
//   G5. No git outlives its runner, unless the runner is killed outright; then on Linux the next
//       runner finds that git by its mark (killed-git.ts).

import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { homedir } from "node:os";
import { dirname, join, resolve as resolvePath } from "node:path";
import { invariant } from "../../kit/invariant.ts";
import { explainDiskFull } from "../explain-disk-full.ts";
import { readErrorCode, WorkspaceFailed } from "../failure.ts";
import { readSmallFile } from "../folder.ts";
import {
  composeGitArguments,
  composeGitEnvironment,
  type GitAnswer,
  type GitCall,
  timeoutMsDefault,
} from "./safe-git-call.ts";
import { requireSafeGitFolder, findBlockingFile, explainUnsafeInclude } from "./git-folder.ts";
import { endAtExit, signalGroup } from "./running-gits.ts";
import { isHarmlessCall } from "./harmless-call.ts";
import { readCommonDir, type GitPlaces, findGitPlaces } from "./git-places.ts";

const outputBytesMaxDefault = 1 << 29;
const errorBytesMax = 16_384;
const shownErrorCharsMax = 2_000;

/**
 * Runs git and returns its output; throws WorkspaceFailed on any exit code that was not expected.
 */
export async function git(call: GitCall): Promise<GitAnswer> {
  const answer = await spawnGit(call);
  if (answer.isCut && call.outputBytesMax === undefined)
  // G3: a caller that sets no limit expects the whole output
  {
    throw new WorkspaceFailed(
      "workspace_unusable",
      `git ${findCommand(call)} printed more than ${outputBytesMaxDefault} bytes.`,
    );
  }

  if ((call.acceptedExitCodes ?? [0]).includes(answer.code)) return answer;
  const message = answer.err.trim().replace(/\s+/g, " ").slice(0, shownErrorCharsMax);
  throw toGitFailure(call, answer, `git ${findCommand(call)} failed (${answer.code}): ${message}`);
}

/** The failure of a call: that a disk it uses is full, or else this sentence. */
export function toGitFailure(
  call: Pick<GitCall, "cwd" | "env" | "into">,
  { err }: Pick<GitAnswer, "err">,
  sentence: string,
): WorkspaceFailed {
  const paths = ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"].flatMap(
    (name) => call.env?.[name] ?? [],
  );

  const repositoryPaths = call.into === undefined ? [] : [call.into.root, call.into.commonDir];
  const fullDisk = explainDiskFull(err, [call.cwd, ...paths, ...repositoryPaths]);
  return fullDisk === null
    ? new WorkspaceFailed("workspace_unusable", sentence)
    : new WorkspaceFailed("disk_full", fullDisk);
}

/** The one line a plumbing command prints. */
export async function readGitLine(call: GitCall): Promise<string> {
  return (await git(call)).out.toString("utf8").replace(/\n$/, "");
}

async function spawnGit(call: GitCall): Promise<GitAnswer> {
  invariant(
    isHarmlessCall(call),
    `git ${call.args[0] ?? ""} runs only in a git directory of the runner's own`,
  ); // G1

  await requireSafeCall(call); // G4
  return new Promise((resolve, reject) => {
    const args = [...composeGitArguments(call), ...call.args];
    // Detached, so that a Ctrl-C meant for the runner does not interrupt an update of a checkout.
    const child = spawn("git", args, {
      cwd: call.cwd,
      env: composeGitEnvironment(call),
      stdio: ["pipe", "pipe", "pipe"],
      detached: true,
    });
    endAtExit(child, "gently"); // G5
    let failure: Error | null = null;
    const failWith = (error: Error): void => {
      failure ??= error;
      endCall(child);
    };

    const closed = new AbortController();
    const timer = setTimeout(
      () =>
        failWith(
          new WorkspaceFailed(
            "workspace_unusable",
            `git ${findCommand(call)} did not end in time.`,
          ),
        ),
      call.timeoutMs ?? timeoutMsDefault,
    ); // G3

    const stopWatching = (): void => {
      clearTimeout(timer);
      closed.abort();
    };

    child.on("error", (error) => {
      stopWatching();
      reject(toStartFailure(error, call.cwd));
    });

    // G3
    reportIfBlocked(call, closed.signal, (problem) =>
      failWith(new WorkspaceFailed("workspace_unusable", problem, "take it away")),
    );

    if (child.pid === undefined) return; // It did not start, and may have no pipes either; its error event follows.
    const readOutput = collectOutput(child, call);
    child.on("close", (code, signal) => {
      stopWatching();
      if (failure !== null) return reject(failure);
      const { out, err, isCut } = readOutput();
      if (isCut) return resolve({ code: 0, out, err, isCut }); // it was killed here, so its own exit code says nothing
      if (code !== null) return resolve({ code, out, err, isCut });
      // A killed git has no result, whatever exit codes are accepted.
      reject(
        new WorkspaceFailed(
          "workspace_unusable",
          `git ${findCommand(call)} was ended by ${signal ?? "a signal"}.`,
        ),
      );
    });

    child.stdin.on("error", () => undefined); // A git that stops reading early says why by its exit code.
    writeInput(child.stdin, call.input ?? []).catch((error: unknown) =>
      failWith(error instanceof Error ? error : new Error("the input could not be read")),
    );
  });
}

/**
 * Collects what git prints; kills it when that is more than the call allows (G3). Returns a
 * function that reads what came so far.
 */
function collectOutput(
  child: ChildProcessWithoutNullStreams,
  call: GitCall,
): () => Omit<GitAnswer, "code"> {
  const bytesMax = call.outputBytesMax ?? outputBytesMaxDefault;
  const chunks: Buffer[] = [];
  const receive = call.onOutput ?? ((chunk: Buffer): void => void chunks.push(chunk));
  let bytes = 0;
  let err = "";
  let isCut = false;
  child.stdout.on("data", (chunk: Buffer) => {
    if (isCut) return;
    const bytesLeft = bytesMax - bytes;
    receive(chunk.length > bytesLeft ? chunk.subarray(0, bytesLeft) : chunk);
    bytes += Math.min(chunk.length, bytesLeft);
    if (chunk.length <= bytesLeft) return;
    isCut = true;
    endCall(child);
  });

  child.stderr.on("data", (chunk: Buffer) => {
    if (err.length < errorBytesMax) err += chunk.toString("utf8");
  });

  return () => ({ out: Buffer.concat(chunks), err, isCut });
}

const toStartFailure = (error: Error, cwd: string): WorkspaceFailed =>
  new WorkspaceFailed(
    "workspace_unusable",
    readErrorCode(error) === "ENOENT"
      ? `git was not found, or the folder ${cwd} does not exist.`
      : `git could not be started: ${error.message}`,
  );

/** The git command of a call, after git's own options and the values of `-c`: `merge-tree`. */
const findCommand = ({ args }: GitCall): string =>
  args.find((word, index) => !word.startsWith("-") && args[index - 1] !== "-c") ?? "";

/**
 * Kills a git together with the filters it started, and closes its pipes: a process in a session of
 * its own may hold them open, and `close` would not come. G3
 */
function endCall(child: ChildProcess): void {
  if (child.pid === undefined || !signalGroup(child.pid, "SIGKILL")) child.kill("SIGKILL");
  child.stdout?.destroy();
  child.stderr?.destroy();
}

const slowMs = 3_000;

/**
 * Reports a pipe or device that a slow git may wait for. Checking the whole checkout beforehand
 * would cost as much as the call.
 */
function reportIfBlocked(
  call: GitCall,
  closed: AbortSignal,
  report: (problem: string) => void,
): void {
  const checkCheckout = async (): Promise<void> => {
    const problem = await findBlockingFile(call.env?.["GIT_WORK_TREE"] ?? call.cwd, closed);
    if (problem !== null && !closed.aborted) report(problem);
  };
  const timer = setTimeout(() => void checkCheckout().catch(() => undefined), slowMs); // if the check itself fails, the time limit still applies
  closed.addEventListener("abort", () => clearTimeout(timer), { once: true });
}

/** Calls that move a branch, or write the index or the checkout. */
const writingCommands = new Set([
  "update-ref",
  "symbolic-ref",
  "read-tree",
  "update-index",
  "checkout-index",
]);
const checkedGitDirs = new Set<string>();

/**
 * Checks the git folder that a call uses, and throws if git may not be run on it (G4). The runner's
 * own git directories are exempt.
 */
export async function requireSafeCall(call: GitCall): Promise<void> {
  const places = call.into ?? (call.isOwn === true ? null : findPlacesOfCall(call));
  if (
    places === null ||
    (checkedGitDirs.has(places.gitDir) && !call.args.some((word) => writingCommands.has(word)))
  ) {
    return;
  }

  await requireSafeRepository(places);
}

function findPlacesOfCall({ cwd, env }: GitCall): GitPlaces | null {
  const gitDir = env?.["GIT_DIR"];
  const enclosing = findGitPlaces(cwd);
  return gitDir === undefined || enclosing?.gitDir === gitDir
    ? enclosing
    : { root: cwd, gitDir, commonDir: readCommonDir(gitDir) };
}

/**
 * Checks a repository's git folder and the configuration files it includes; throws if git may not
 * be run on it.
 */
export async function requireSafeRepository(places: GitPlaces): Promise<void> {
  requireSafeGitFolder(places);
  for (const name of ["config", "config.worktree"]) {
    for (const folder of new Set([places.commonDir, places.gitDir])) {
      await requireSafeIncludes(join(folder, name), 0);
    }
  }

  checkedGitDirs.add(places.gitDir);
}

const configBytesMax = 16 << 20;
/** As deep as git itself follows includes. */
const includesDepthMax = 10;

/**
 * Throws if a configuration includes a file that git would wait for. Git itself says which files
 * those are, without opening them.
 */
async function requireSafeIncludes(path: string, depth: number): Promise<void> {
  const text = readSmallFile(path, configBytesMax)?.toString("latin1") ?? "";
  if (depth > includesDepthMax || !/include/i.test(text)) return;

  const args = [
    "config",
    "--file",
    path,
    "--no-includes",
    "-z",
    "--get-regexp",
    "^include(if\\..*)?\\.path$",
  ];

  // Whatever its exit code: 1 if nothing is included, 128 if git can't read the configuration,
  // which the call itself will report.
  const { out } = await spawnGit({ cwd: "/", isOwn: true, env: { GIT_DIR: "/dev/null" }, args });
  for (const entry of out.toString("utf8").split("\0")) {
    const includePath = entry.slice(entry.indexOf("\n") + 1);
    if (entry === "" || includePath === "") continue;
    const included = resolvePath(
      dirname(path),
      includePath.replace(/^~(?=\/)/, () => homedir()),
    );
    const why = explainUnsafeInclude(included);
    if (why !== null) {
      throw new WorkspaceFailed(
        "workspace_unusable",
        `${why} Git was not started.`,
        "take the include away",
      );
    }

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
