// process-io: implements `CommandIo` with the real terminal and process.
//
// Invariants:
//   O1. A text is written whole before the call returns, so that nothing is lost when the process
//       ends.
//   O2. A reader that has gone away (`| head`) ends nothing but the writing, and a full disk behind
//       `> file` loses no more than what did not fit: a run must not end because a log cannot grow.
//       A response lost that way is reported at the end of the process.
//   O3. node:tty and node:readline, which cost as much as a whole quick command, are loaded only on
//       a terminal.

import { fstatSync, statSync, writeSync } from "node:fs";
import { userInfo } from "node:os";
import type { Interrupt, CommandIo } from "./io.ts";

/** Of a user's name in the journal. */
const userCharsMax = 128;
/**
 * A pipe that is full is tried again after so long; after so many times, a minute, it counts as
 * closed.
 */
const fullPipeWaitMs = 5;
const fullPipeWaitsMax = 12_000;

export function createProcessIo(): CommandIo {
  const closedStreams = { out: false, err: false };
  let writeFailure: string | null = null;
  return {
    cwd: process.cwd(),
    env: process.env,
    user: readUserName(),
    isTerminal: { in: isTerminal(0), out: isTerminal(1), err: isTerminal(2) },
    // Without a terminal, the size that terminals had for decades.
    columns: () => process.stderr.columns ?? 80,
    rows: () => process.stderr.rows ?? 24,
    write: (to, text) => {
      if (closedStreams[to]) return;
      const result = writeWhole(to === "out" ? 1 : 2, text);
      closedStreams[to] = result === "gone";
      if (to === "out" && typeof result === "object") writeFailure = result.failure;
    },
    writeFailure: () => writeFailure,
    readLine,
    onInterrupt,
    leave: (code) => process.exit(code),
  };
}

/** A file, a pipe and /dev/null are distinguished from a terminal by what kind of file they are. */
function isTerminal(fd: number): boolean {
  try {
    const stats = fstatSync(fd);
    if (
      !stats.isCharacterDevice() ||
      stats.rdev === statSync("/dev/null", { throwIfNoEntry: false })?.rdev
    ) {
      return false;
    }
  } catch {
    return false; // closed
  }

  return process.getBuiltinModule("node:tty").isatty(fd); // O3
}

/**
 * Writes all of a text, and waits while a pipe is full. `gone` if there is no reader any more; the
 * system's error if the disk refused.
 */
function writeWhole(fd: number, text: string): "whole" | "gone" | { readonly failure: string } {
  const bytes = Buffer.from(text, "utf8");
  let position = 0;
  for (let waits = 0; position < bytes.length;) {
    try {
      position += writeSync(fd, bytes, position); // O1
      waits = 0;
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : null;
      if (code === "EPIPE" || code === "EIO" || code === "EBADF" || waits >= fullPipeWaitsMax) {
        return "gone";
      } // O2

      if (code !== "EAGAIN") {
        return { failure: error instanceof Error ? error.message : String(error) };
      } // O2

      waits += 1;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, fullPipeWaitMs); // the pipe is full: let its reader read
    }
  }

  return "whole";
}

/** The user's name, as the journal records it; a container may run as a user without one. */
function readUserName(): string {
  const clean = (name: string): string =>
    name.replace(/[\u0000-\u001f\u007f]/g, "").slice(0, userCharsMax); // no control characters
  try {
    return clean(userInfo().username) || "unknown";
  } catch {
    return clean(process.env["USER"] ?? "") || `uid-${process.getuid?.() ?? "unknown"}`;
  }
}

function readLine(cancel: AbortSignal): Promise<string | null> {
  if (cancel.aborted) return Promise.resolve(null);
  // Not as a terminal: the line stays under the terminal's own editing, and Ctrl-C reaches the
  // process as a signal.
  const lines = process
    .getBuiltinModule("node:readline")
    .createInterface({ input: process.stdin, terminal: false });

  return new Promise((resolve) => {
    const end = (line: string | null): void => {
      cancel.removeEventListener("abort", onAbort);
      lines.removeAllListeners();
      lines.close();
      process.stdin.pause();
      resolve(line);
    };
    const onAbort = (): void => end(null);
    cancel.addEventListener("abort", onAbort);
    lines.once("line", end);
    lines.once("close", () => end(null));
  });
}

/**
 * The codes are 128 plus the signal's number, as shells have it. SIGHUP needs a listener, or it
 * would end the process despite `nohup`.
 */
const interrupts = {
  SIGINT: { kind: "rest", code: 130 },
  SIGTERM: { kind: "end", code: 143 },
  SIGHUP: { kind: "hangup", code: 129 },
} as const;

function onInterrupt(callback: (interrupt: Interrupt) => void): () => void {
  const listeners = Object.entries(interrupts).map(([signal, interrupt]) => ({
    signal,
    listener: () => callback(interrupt),
  }));

  for (const { signal, listener } of listeners) process.on(signal, listener);
  return () => {
    for (const { signal, listener } of listeners) process.off(signal, listener);
  };
}
