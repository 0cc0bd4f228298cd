// command-process: starts the process of a command, stops it, and waits for its exit and its last
// output.
// Invariants C1 and on: verify/run-command.ts.

import { type ChildProcess, spawn } from "node:child_process";
import type { Clock } from "../ports/clock.ts";
import type { Env } from "./check-environment.ts";
import { type Family, signalFamily } from "./processes.ts";

export type StopReason = "timeout" | "cancel";
export type Ending = {
  readonly code: number | null;
  readonly signal: string | null;
  readonly error: string | null;
};

/** How long a command may take to end after SIGTERM before it is killed. */
const graceMs = { timeout: 2_000, cancel: 300 } as const;
/** How long a killed command is waited for: a process that hangs in the kernel never ends. */
const unkillableMs = 3_000;
/** How long output is still read after the last process has ended. */
const drainMs = 500;

type Program = { readonly argv: readonly string[]; readonly cwd: string; readonly env: Env };

export function spawnDetached({ argv, cwd, env }: Program): ChildProcess {
  const [program = "/bin/false", ...args] = argv;
  // Detached: its own session, hence a group to signal and no controlling terminal. C3
  return spawn(program, args, {
    cwd,
    env: { ...env },
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    windowsHide: true,
  });
}

/** Ends the command: first by request, then by force. A second call does nothing. */
export function createTerminator(
  child: ChildProcess,
  family: Family,
  clock: Clock,
  onStop: (reason: StopReason) => void,
): (reason: StopReason) => void {
  let isStopping = false;
  return (reason) => {
    if (isStopping || child.pid === undefined) return;
    isStopping = true;
    onStop(reason);
    // Nothing to catch: signalling never fails, and what it could not end is found again when the
    // family is ended.
    signalFamily(family, "SIGTERM");
    const stopTimer = clock.after(graceMs[reason], () => signalFamily(family, "SIGKILL"));
    child.once("exit", stopTimer);
  };
}

/**
 * Waits for the command's own exit. A process that cannot be killed (a hung disk) is given up some
 * seconds after it was stopped.
 */
export function waitForExit(
  child: ChildProcess,
  clock: Clock,
  isStopping: () => boolean,
): Promise<Ending> {
  return new Promise((resolve) => {
    let waitedMs = 0;
    let cancelPoll = clock.after(unkillableMs, function poll() {
      if (isStopping()) waitedMs += unkillableMs;
      if (waitedMs > unkillableMs) {
        return resolve({ code: null, signal: null, error: "it could not be ended" });
      }

      cancelPoll = clock.after(unkillableMs, poll);
    });

    const end = (ending: Ending): void => {
      cancelPoll();
      resolve(ending);
    };
    child.once("error", (error) => end({ code: null, signal: null, error: error.message }));
    child.once("exit", (code, signal) => end({ code, signal, error: null }));
  });
}

/** Waits until both pipes are drained, but not for a foreign process that holds one open. */
export function drainPipes(child: ChildProcess, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const streams = [child.stdout, child.stderr].filter((stream) => stream !== null);
    const finish = (): void => {
      stopTimer();
      for (const stream of streams) stream.destroy();
      resolve();
    };
    const stopTimer = clock.after(drainMs, finish);
    if (streams.every((stream) => stream.readableEnded || stream.destroyed)) return finish();
    child.once("close", finish);
  });
}
