// run-command: runs one command, bounded in time, output, environment and child processes. It never
// throws for what the command does.
//
// Invariants:
//   C1. It ends: by itself, at its time limit, or soon after it was cancelled. Only a process that
//       hangs in the kernel takes seconds longer, and is then given up (command-process.ts).
//   C2. When it returns, no process of the command is left; if one could not be ended, the result
//       says so.
//   C3. It has no terminal, and its input is empty (command-process.ts).
//   C4. It sees the listed environment only (check-environment.ts), and its output is kept within
//       bounds (bounded-output.ts).
//   C5. The variables of our reporter (reporter/) are not part of the environment that is compared.

import { existsSync } from "node:fs";
import type { CheckStatus, Expectation } from "../contracts/evidence.ts";
import type { Hash } from "../contracts/ids.ts";
import { openAnswer, type OutputJudge } from "../kit/answer.ts";
import type { Redactor } from "../kit/redact.ts";
import type { Clock } from "../ports/clock.ts";
import { type Env, composeCheckEnvironment, hashEnvironment } from "./check-environment.ts";
import { listFolderPaths, type TestOutput } from "./read-test-output.ts";
import { describeCommandEnd } from "./describe-command-end.ts";
import { collectOutput, type Output, outputLimits } from "./bounded-output.ts";
import {
  createTerminator,
  drainPipes,
  type Ending,
  spawnDetached,
  type StopReason,
  waitForExit,
} from "./command-process.ts";
import { endFamily, identifyFamily } from "./processes.ts";
import type { RecordReader } from "./reporter/test-record.ts";
import { openReporter, type Reporter } from "./reporter/reporter.ts";
import { type MakeFolder, openScratch } from "./scratch.ts";

export type Launch = {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Env;
  /** Paths it needs besides its folder and its HOME. */
  readonly readable?: readonly string[];
  readonly writable?: readonly string[];
};
/** Wraps a command in an isolation; the returned launch is what is started. */
export type Wrap = (launch: Launch) => Launch;

/**
 * Called before a command starts with the mark of its processes (`NAME=value` in their
 * environment), so that a guardian ends them if this process dies. The returned function is called
 * when they are gone.
 */
export type Guard = (mark: string) => () => void;

export type CommandRequest = {
  readonly command: string;
  readonly cwd: string;
  readonly clock: Clock;
  readonly timeoutMs?: number;
  /** What its output must match; without it the exit code decides. */
  readonly expect?: Expectation;
  readonly cancel?: AbortSignal;
  readonly wrap?: Wrap;
  /** The path at which `wrap` shows `cwd` to the command, if it is another one. */
  readonly shownAs?: string;
  /** Further variables, such as the path of a restored cache. */
  readonly env?: Env;
  readonly guard?: Guard;
  /**
   * Where the command's own HOME and TMPDIR are created; default: the system's temporary folder.
   */
  readonly scratch?: MakeFolder;
  /** Redacts what the command prints; without it, only what looks like a secret. */
  readonly redactor?: Redactor;
  /** Receives everything it prints, per stream. */
  readonly testOutput?: TestOutput;
  /** Whether its test runners also report over our own channel. */
  readonly isRecorded?: boolean;
};

export type CommandResult = {
  readonly status: CheckStatus | "cancelled";
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly startedAt: string;
  readonly durationMs: number;
  readonly argv: readonly string[];
  readonly envHash: string;
  readonly output: Output;
  /**
   * Processes that remained when the command itself had ended, and how many of them could not be
   * ended.
   */
  readonly leftBehind: number;
  readonly survivors: number;
  /** One sentence for a person; empty if the exit code is enough. */
  readonly note: string;
  /** What our reporter's channel received; null without one. */
  readonly record: RecordReader | null;
};

export const commandTimeoutMs = 10 * 60_000;

/** Runs the command in a private HOME and TMPDIR, which are removed afterwards. */
export async function runCommand(request: CommandRequest): Promise<CommandResult> {
  const scratch = await openScratch(request.scratch);
  try {
    const reporter =
      request.isRecorded === true
        ? await openReporter(scratch.folder, listFolderPaths(request.cwd, request))
        : null;

    try {
      return {
        ...(await runInScratch(request, scratch.folder, reporter)),
        record: (await reporter?.close()) ?? null,
      };
    } catch (error) {
      await reporter?.close(); // a failed isolation leaves no pipe open
      throw error;
    }
  } finally {
    await scratch.close();
  }
}

function buildLaunch(
  request: CommandRequest,
  scratch: string,
  reporter: Reporter | null = null,
): Launch {
  const extra = request.env === undefined ? {} : { extra: request.env };
  const env = composeCheckEnvironment({
    inherited: process.env,
    hasFolder: existsSync,
    scratch,
    ...extra,
  }); // C4
  const reporterFiles =
    reporter === null ? {} : { readable: reporter.readable, writable: reporter.writable };

  const unwrapped: Launch = {
    argv: ["/bin/sh", "-c", request.command],
    cwd: request.cwd,
    env,
    ...reporterFiles,
  };
  return request.wrap === undefined ? unwrapped : request.wrap(unwrapped);
}

/** The hash of the environment a command would have; null if that is known only once it starts. */
export function predictEnvHash(request: CommandRequest): Hash | null {
  try {
    return hashEnvironment(buildLaunch(request, request.cwd).env); // any folder does: HOME and TMPDIR are not hashed
  } catch {
    return null; // the isolation could not say how it would start the command
  }
}

async function runInScratch(
  request: CommandRequest,
  scratch: string,
  reporter: Reporter | null,
): Promise<Omit<CommandResult, "record">> {
  const { clock, timeoutMs = commandTimeoutMs } = request;
  const launch = buildLaunch(request, scratch, reporter);
  const output = collectOutput(outputLimits, request.redactor);
  const answer = request.expect === undefined ? null : openAnswer(request.expect);
  const startedAt = clock.now();
  const startedMs = clock.monotonicMs();

  const listeners = [{ onStdout: output.add, onStderr: output.add }];
  if (request.testOutput !== undefined) {
    listeners.push({
      onStdout: request.testOutput.readStdout,
      onStderr: request.testOutput.readStderr,
    });
  }

  if (answer !== null) listeners.push({ onStdout: answer.addStdout, onStderr: answer.addStderr });

  const { stopReason, ending, leftovers } = await superviseUnlessBlocked(request, {
    launch: reporter === null ? launch : { ...launch, env: reporter.environment(launch.env) }, // C5
    mark: `HOME=${launch.env["HOME"] ?? scratch}`,
    listeners,
  });

  const durationMs = Math.max(0, Math.round(clock.monotonicMs() - startedMs));
  const { status, message } = applyExpectation(answer, toStatus(stopReason, ending), ending);
  const collected = output.take();
  const { found: leftBehind, left: survivors } = leftovers;

  const explanation = describeCommandEnd({
    status,
    ending,
    timeoutMs,
    leftBehind,
    survivors,
    output: collected,
  });
  const note = [message, explanation].filter((sentence) => sentence !== "").join("; ");
  return {
    status,
    exitCode: ending.code,
    signal: ending.signal,
    startedAt,
    durationMs,
    argv: launch.argv,
    envHash: hashEnvironment(launch.env),
    output: collected,
    leftBehind,
    survivors,
    note,
  };
}

type Supervised = {
  readonly stopReason: StopReason | null;
  readonly ending: Ending;
  readonly leftovers: { readonly found: number; readonly left: number };
};

const notStarted = (stopReason: StopReason | null, error: string | null): Supervised => ({
  stopReason,
  ending: { code: null, signal: null, error },
  leftovers: { found: 0, left: 0 },
});

type StreamListener = {
  readonly onStdout: (chunk: Buffer) => void;
  readonly onStderr: (chunk: Buffer) => void;
};
/** `mark`: what only this command's processes have in their environment. */
type Supervision = {
  readonly launch: Launch;
  readonly mark: string;
  readonly listeners: readonly StreamListener[];
};

/**
 * Starts nothing if the request was cancelled already, or the system would fail with a misleading
 * error.
 */
async function superviseUnlessBlocked(
  request: CommandRequest,
  supervision: Supervision,
): Promise<Supervised> {
  if (request.cancel?.aborted === true) return notStarted("cancel", null);
  const obstacle = findStartObstacle(supervision.launch);
  return obstacle === null ? supervise(request, supervision) : notStarted(null, obstacle);
}

/** Starts the command and returns when it and all of its processes are gone. */
async function supervise(
  { clock, cancel, guard, timeoutMs = commandTimeoutMs }: CommandRequest,
  { launch, mark, listeners }: Supervision,
): Promise<Supervised> {
  const release = guard?.(mark);
  const child = spawnDetached(launch);
  for (const stream of [child.stdout, child.stderr]) stream?.on("error", () => undefined); // a broken pipe only ends the output
  for (const { onStdout, onStderr } of listeners) {
    child.stdout?.on("data", onStdout);
    child.stderr?.on("data", onStderr);
  }

  let stopReason: StopReason | null = null;
  const family = identifyFamily(child.pid ?? 0, mark);
  const terminate = createTerminator(child, family, clock, (reason) => (stopReason ??= reason));
  const stopTimer = clock.after(timeoutMs, () => terminate("timeout")); // C1
  const onAbort = (): void => terminate("cancel");
  cancel?.addEventListener("abort", onAbort, { once: true });
  const ending = await waitForExit(child, clock, () => stopReason !== null);
  stopTimer();
  cancel?.removeEventListener("abort", onAbort);

  let leftovers = { found: 0, left: 0 };
  // A command that was not started has no processes, and without descriptors not even pipes.
  if (child.pid !== undefined) {
    leftovers = await endFamily(family); // C2
    await drainPipes(child, clock);
  }

  release?.();
  return { stopReason, ending, leftovers };
}

function findStartObstacle({ argv, cwd, env }: Launch): string | null {
  if (!existsSync(cwd)) return `the folder ${cwd} does not exist`;
  const texts = [...argv, cwd, ...Object.keys(env), ...Object.values(env)];
  return texts.some((text) => text.includes("\0"))
    ? "the command line holds a NUL character"
    : null;
}

/** An expectation of the output decides, but only for a command that ended by itself. */
function applyExpectation(
  answer: OutputJudge | null,
  status: CommandResult["status"],
  { code }: Ending,
): { readonly status: CommandResult["status"]; readonly message: string } {
  if (answer === null || (status !== "passed" && status !== "failed")) {
    return { status, message: "" };
  }

  const { isMet, message } = answer.judge(code);
  return { status: isMet ? "passed" : "failed", message };
}

function toStatus(stopReason: StopReason | null, { code, error }: Ending): CommandResult["status"] {
  if (stopReason === "cancel") return "cancelled";
  if (stopReason === "timeout") return "timed_out";
  if (error !== null) return "not_runnable";
  if (code === 127) return "not_found"; // a shell's code for an unknown command
  if (code === 126) return "not_runnable"; // a shell's code for a file that cannot be executed

  return code === 0 ? "passed" : "failed";
}
