// command: runs one command, bounded in time, output, environment and child processes. Whatever it does, the result is a value.
//
// Invariants:
//   C1. It ends: by itself, at its time limit, or within a second of being cancelled.
//   C2. When it returns, no process of the command is left; if one could not be ended, the result says so.
//   C3. It has no terminal, and its input is empty.
//   C4. It sees the listed environment only (environment.ts), and its output is kept within bounds (output.ts).
//   C5. The variables of our reporter (reporter/) are not part of the environment that is compared.

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import type { CheckStatus, Expectation } from "../contracts/evidence.ts";
import type { Hash } from "../contracts/ids.ts";
import { type Answer, openAnswer } from "../kit/answer.ts";
import type { Redactor } from "../kit/redact.ts";
import type { Clock } from "../ports/clock.ts";
import { type Env, environmentFor, envHashOf } from "./environment.ts";
import type { TestOutput } from "./test-output.ts";
import { explain } from "./explain.ts";
import { collectOutput, type Output, outputLimits } from "./output.ts";
import { endFamily, type Family, familyOf, signalFamily } from "./processes.ts";
import type { RecordReader } from "./reporter/record.ts";
import { openReporter, type Reporter } from "./reporter/reporter.ts";
import { type MakeFolder, openScratch } from "./scratch.ts";

export type Launch = {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Env;
  /** What it needs beside its folder and its HOME. */
  readonly readable?: readonly string[];
  readonly writable?: readonly string[];
};
/** Wraps a command in an isolation; returns what is really started. */
export type Wrap = (launch: Launch) => Launch;

/**
 * Called before a command starts with the mark of its processes (`NAME=value` in their environment), so that a guardian ends them if this
 * process dies. The returned function is called when they are gone.
 */
export type Guard = (word: string) => () => void;

export type CommandRequest = {
  readonly command: string;
  readonly cwd: string;
  readonly clock: Clock;
  readonly timeoutMs?: number;
  /** What its output must match; without it the exit code decides. */
  readonly expect?: Expectation;
  readonly cancel?: AbortSignal;
  readonly wrap?: Wrap;
  /** Further variables, such as the path of a restored cache. */
  readonly env?: Env;
  readonly guard?: Guard;
  /** Where the command's own HOME and TMPDIR are created; default: the system's temporary folder. */
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
  /** Processes that remained when the command itself had ended, and how many of them could not be ended. */
  readonly leftBehind: number;
  readonly survivors: number;
  /** One sentence for a person; empty if the exit code says it all. */
  readonly note: string;
  /** What came over our own channel; null if there was none. */
  readonly record: RecordReader | null;
};

export const commandTimeoutMs = 10 * 60_000;
const graceMs = { timeout: 2_000, cancel: 300 } as const;
const unkillableMs = 3_000;
const closeMs = 500;

type Ending = { readonly code: number | null; readonly signal: string | null; readonly error: string | null };

export async function runCommand(request: CommandRequest): Promise<CommandResult> {
  const scratch = await openScratch(request.scratch);
  try {
    const reporter = request.isRecorded === true ? await openReporter(scratch.folder, request.cwd) : null;
    try {
      const result = await run(request, scratch.folder, reporter);
      return { ...result, record: (await reporter?.close()) ?? null };
    } catch (error) {
      await reporter?.close(); // a failed isolation leaves no pipe open
      throw error;
    }
  } finally {
    await scratch.close();
  }
}

function launchOf(request: CommandRequest, scratch: string, reporter: Reporter | null = null): Launch {
  const extra = request.env === undefined ? {} : { extra: request.env };
  const env = environmentFor({ from: process.env, hasFolder: existsSync, scratch, ...extra });
  const needs = reporter === null ? {} : { readable: reporter.readable, writable: reporter.writable };
  const plain: Launch = { argv: ["/bin/sh", "-c", request.command], cwd: request.cwd, env, ...needs };
  return request.wrap === undefined ? plain : request.wrap(plain);
}

/** The hash of the environment a command would have; null if that is known only once it starts. */
export function envHashFor(request: CommandRequest): Hash | null {
  try {
    return envHashOf(launchOf(request, request.cwd).env);
  } catch {
    return null;
  }
}

async function run(request: CommandRequest, scratch: string, reporter: Reporter | null): Promise<Omit<CommandResult, "record">> {
  const { clock, cancel, timeoutMs = commandTimeoutMs } = request;
  const launch = launchOf(request, scratch, reporter);
  const output = collectOutput(outputLimits, request.redactor);
  const answer = request.expect === undefined ? null : openAnswer(request.expect);
  const startedAt = clock.now();
  const beganMs = clock.monotonicMs();

  let why: "timeout" | "cancel" | null = cancel?.aborted === true ? "cancel" : null;
  let ending: Ending = { code: null, signal: null, error: null };
  let ended = { found: 0, left: 0 };
  const impossible = impossibleOf(launch);
  if (why === null && impossible !== null) ending = { code: null, signal: null, error: impossible };
  else if (why === null) {
    const word = `HOME=${launch.env["HOME"] ?? scratch}`;
    const release = request.guard?.(word);
    const child = start(reporter === null ? launch : { ...launch, env: reporter.environment(launch.env) }); // C5
    child.stdout?.on("data", output.add).on("error", () => undefined);
    child.stderr?.on("data", output.add).on("error", () => undefined);
    if (request.testOutput !== undefined) {
      child.stdout?.on("data", request.testOutput.readStdout);
      child.stderr?.on("data", request.testOutput.readStderr);
    }
    if (answer !== null) {
      child.stdout?.on("data", answer.said);
      child.stderr?.on("data", answer.complained);
    }
    const family = familyOf(child.pid ?? 0, word);
    const cut = cutter(child, family, clock, (reason) => (why ??= reason));
    const stopTimer = clock.after(timeoutMs, () => cut("timeout")); // C1
    const onAbort = (): void => cut("cancel");
    cancel?.addEventListener("abort", onAbort, { once: true });
    ending = await endingOf(child, clock, () => why !== null);
    stopTimer();
    cancel?.removeEventListener("abort", onAbort);
    // A command that was not started has no processes, and without descriptors not even pipes.
    if (child.pid !== undefined) {
      ended = await endFamily(family); // C2
      await closed(child, clock);
    }
    release?.();
  }

  const durationMs = Math.max(0, Math.round(clock.monotonicMs() - beganMs));
  const { status, words: message } = answeredBy(answer, statusOf(why, ending), ending);
  const taken = output.take();
  const reported = explain({ status, ending, timeoutMs, leftBehind: ended.found, survivors: ended.left, output: taken });
  const note = [message, reported].filter((sentence) => sentence !== "").join("; ");
  return {
    status,
    exitCode: ending.code,
    signal: ending.signal,
    startedAt,
    durationMs,
    argv: launch.argv,
    envHash: envHashOf(launch.env),
    output: taken,
    leftBehind: ended.found,
    survivors: ended.left,
    note,
  };
}

/** Cases in which the system would fail with a misleading error, or throw. */
function impossibleOf({ argv, cwd, env }: Launch): string | null {
  if (!existsSync(cwd)) return `the folder ${cwd} does not exist`;
  const texts = [...argv, cwd, ...Object.keys(env), ...Object.values(env)];
  return texts.some((text) => text.includes("\0")) ? "the command line holds a NUL character" : null;
}

function start({ argv, cwd, env }: Launch): ChildProcess {
  const [program = "/bin/false", ...args] = argv;
  // Detached: its own session, hence a group to signal and no controlling terminal (C3).
  return spawn(program, args, { cwd, env: { ...env }, detached: true, stdio: ["ignore", "pipe", "pipe"], windowsHide: true });
}

/** Ends the command: first by request, then by force. A second call does nothing. */
function cutter(
  child: ChildProcess,
  family: Family,
  clock: Clock,
  note: (reason: "timeout" | "cancel") => void,
): (reason: "timeout" | "cancel") => void {
  let isCut = false;
  return (reason) => {
    if (isCut || child.pid === undefined) return;
    isCut = true;
    note(reason);
    // Nothing to catch: signalling never fails, and what it could not end is found again in the sweep (C2).
    signalFamily(family, "SIGTERM");
    const stopTimer = clock.after(graceMs[reason], () => signalFamily(family, "SIGKILL"));
    child.once("exit", stopTimer);
  };
}

/** The command's own exit. One that cannot be killed (a hung disk) is given up some seconds after it was cancelled. */
function endingOf(child: ChildProcess, clock: Clock, isCut: () => boolean): Promise<Ending> {
  return new Promise((resolve) => {
    let waitedMs = 0;
    let stopLooking = clock.after(unkillableMs, function look() {
      if (isCut()) waitedMs += unkillableMs;
      if (waitedMs > unkillableMs) return resolve({ code: null, signal: null, error: "it could not be ended" });
      stopLooking = clock.after(unkillableMs, look);
    });
    const end = (ending: Ending): void => {
      stopLooking();
      resolve(ending);
    };
    child.once("error", (error) => end({ code: null, signal: null, error: error.message }));
    child.once("exit", (code, signal) => end({ code, signal, error: null }));
  });
}

/** Waits until both pipes are drained, but not for a foreign process that holds one open. */
function closed(child: ChildProcess, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const streams = [child.stdout, child.stderr].filter((stream) => stream !== null);
    const done = (): void => {
      stop();
      for (const stream of streams) stream.destroy();
      resolve();
    };
    const stop = clock.after(closeMs, done);
    if (streams.every((stream) => stream.readableEnded || stream.destroyed)) return done();
    child.once("close", done);
  });
}

/** An expectation of the output decides, but only for a command that ended by itself. */
function answeredBy(
  answer: Answer | null,
  status: CommandResult["status"],
  { code }: Ending,
): { readonly status: CommandResult["status"]; readonly words: string } {
  if (answer === null || (status !== "passed" && status !== "failed")) return { status, words: "" };
  const { isMet, words: message } = answer.judge(code);
  return { status: isMet ? "passed" : "failed", words: message };
}

function statusOf(why: "timeout" | "cancel" | null, { code, error }: Ending): CommandResult["status"] {
  if (why === "cancel") return "cancelled";
  if (why === "timeout") return "timed_out";
  if (error !== null) return "not_runnable";
  if (code === 127) return "not_found";
  if (code === 126) return "not_runnable";
  return code === 0 ? "passed" : "failed";
}
