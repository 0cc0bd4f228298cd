// spawn-agent: starts an agent's process in its own group, with an explicit environment
// (agent-environment.ts).
//
// Invariants:
//   S1. However much a process prints on stderr, a bounded amount of it is kept in memory.

import { type ChildProcess, spawn } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { composeAgentEnvironment, type AgentEnvironmentSources } from "./agent-environment.ts";
import { toMarkVariables } from "./process-mark.ts";

export const stderrTailBytesMax = 16 * 1024;

/** A command line, with its folder and its whole environment. */
export type ProcessCommand = {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
};

/** What is needed to start an agent's process. */
export type Launch = AgentEnvironmentSources & {
  readonly argv: readonly string[];
  readonly cwd: string;
  /** Wraps the command in isolation. The mark stays in its environment. */
  readonly wrap: ((command: ProcessCommand) => ProcessCommand) | null;
  /** False: its stdin is /dev/null. */
  readonly hasInput?: boolean;
};

export type ProcessExit = { readonly code: number | null; readonly signal: string | null };
export type SpawnedAgent = {
  readonly child: ChildProcess;
  /** Null if it has nothing to read. */
  readonly stdin: Writable | null;
  readonly stdout: Readable;
  readonly exited: Promise<ProcessExit>;
  /** The end of what it printed on stderr. */
  readonly stderrTail: () => string;
  /** Resolves with a sentence when it takes too many resources. */
  readonly exceeded?: Promise<string>;
};

/** A started process, or the message why it could not be started. */
export async function spawnAgent(
  launch: Launch,
  inherited: Readonly<Record<string, string | undefined>> = process.env,
): Promise<SpawnedAgent | { readonly problem: string }> {
  const plain: ProcessCommand = {
    argv: launch.argv,
    cwd: launch.cwd,
    env: composeAgentEnvironment(launch, inherited),
  };
  const unwrapped = plain.argv[0] ?? "";
  const { argv, cwd, env: wrappedEnv } = launch.wrap?.(plain) ?? plain;
  const [command = "", ...args] = argv;
  if (unwrapped === "" || command === "") return { problem: "no command is given for this agent" };
  const env = { ...wrappedEnv, ...toMarkVariables(launch.mark) };
  // Two commands can be missing, the agent's and the sandbox's that wraps it. Without the first check
  // the sandbox would start, and end with a message of its own instead of ours.
  const problem =
    findStartProblem(unwrapped, launch.cwd, plain.env["PATH"] ?? "") ??
    findStartProblem(command, cwd, env["PATH"] ?? "");
  if (problem !== null) return { problem };
  let child: ReturnType<typeof spawnInGroup>;

  try {
    child = spawnInGroup(command, args, { cwd, env }, launch.hasInput ?? true);
  } catch (error) {
    return describeStartFailure(command, error);
  }

  const exited = awaitExit(child);
  const spawned = awaitSpawn(child);
  if (child.pid === undefined) return describeStartFailure(command, await spawned); // it may not even have pipes
  // A pipe to an ended process reports an error; the exit event says it better.
  for (const stream of [child.stdin, child.stdout, child.stderr]) {
    stream?.on("error", () => undefined);
  }

  const stderrTail = collectTail(child.stderr);
  const failure = await spawned;
  if (failure !== null) return describeStartFailure(command, failure);

  return { child, stdin: child.stdin, stdout: child.stdout, exited, stderrTail };
}

const awaitExit = (child: ChildProcess): Promise<ProcessExit> =>
  new Promise((resolve) => child.once("exit", (code, signal) => resolve({ code, signal })));

/**
 * Null once it runs, else why it could not be started. It listens on: a later `error`, such as of a
 * signal that could not be sent, would end this process if nobody heard it.
 */
const awaitSpawn = (child: ChildProcess): Promise<Error | null> =>
  new Promise((resolve) => {
    child.once("spawn", () => resolve(null));
    child.on("error", resolve);
  });

const describeStartFailure = (command: string, error: unknown): { readonly problem: string } => ({
  problem: `${command} cannot be started: ${error instanceof Error ? error.message : String(error)}`,
});

/** Spawns it in its own group, so that it can be ended together with what it starts. */
function spawnInGroup(
  command: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly env: Record<string, string> },
  hasInput: boolean,
) {
  return hasInput
    ? spawn(command, args, { ...options, detached: true, stdio: ["pipe", "pipe", "pipe"] })
    : spawn(command, args, { ...options, detached: true, stdio: ["ignore", "pipe", "pipe"] });
}

/**
 * Why a command can't be started, for common mistakes: the system's own message names the wrong
 * file for some of them.
 */
function findStartProblem(command: string, cwd: string, path: string): string | null {
  if (!isFolder(cwd)) return `the folder to work in, ${cwd}, is not there`;
  if (!command.includes("/")) {
    const candidates = path.split(delimiter).map((folder) => join(folder, command));
    return candidates.some((candidate) => isExecutable(candidate))
      ? null
      : `${command} is not on the PATH`;
  }

  if (isExecutable(command)) return null;
  return exists(command) ? `${command} is not executable` : `${command} is not there`;
}

/** Whether a path names a file that may be started. */
export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

const isFolder = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
const exists = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined;

/** Returns a function that reads the end of what was printed so far. */
function collectTail(stderr: Readable): () => string {
  let tail: Buffer = Buffer.alloc(0);
  stderr.on("data", (chunk: Buffer) => {
    const combined = Buffer.concat([tail, chunk.subarray(-stderrTailBytesMax)]);
    tail = combined.subarray(-stderrTailBytesMax); // S1
  });

  return () => tail.toString("utf8");
}
