// process: starts, watches and ends the process of one benchmark. It outlives the runner: its exit
// code is in a file, and the next runner finds that, or the running process.
//
// Invariants:
//   P1. A process is known by a mark in its environment that no other ever had; nothing without the
//       mark is signalled.
//   P2. Without a sign of life for `hangMs` it is hung: it and all it started are ended. Signs are
//       what it prints and the logs of its own run.
//   P3. An interrupt of ours ends it; a kill of ours does not.
//   P4. Nothing of it outlives its end: background processes (`setsid`, a server) are ended before
//       its result is read. One that also clears its environment is found as long as it is in the
//       session, by the runner that started it.

import { randomUUID } from "node:crypto";
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { readOwnFile } from "../../project/own-file.ts";
import { endFamily, type Family, listLivingProcesses } from "../../verify/processes.ts";

export type ProcessLaunch = {
  /** Where its logs and its exit code go. */
  readonly folder: string;
  readonly cwd: string;
  readonly command: string;
  readonly env: Readonly<Record<string, string | undefined>>;
};
export type ProcessEnd =
  | { readonly kind: "exited"; readonly code: number }
  | { readonly kind: "hung" }
  | { readonly kind: "died" }
  | { readonly kind: "interrupted" };

const markVariable = "CALIBRATION_MARK";
/** No process has this group, so that only the mark counts. */
const noGroup = 2_147_483_647;
const pollMs = 100;
/**
 * Whether a process still lives needs a scan of all processes, so it is checked only every so many
 * polls.
 */
const pollsPerScan = 20;

export const stdoutFile = "stdout.log";
export const stderrFile = "stderr.log";
/** Holds the command's exit code, once it has ended. */
const exitFile = "exit";
/** Holds the mark and, once it is known, the pid. */
const markFile = "started.json";

/**
 * Runs the command and writes its exit code, whole or not at all, in a session of its own: what
 * ends the runner does not end it.
 */
const wrapperScript = `sh -c "$CALIBRATION_COMMAND" >"$CALIBRATION_LOGS/${stdoutFile}" 2>"$CALIBRATION_LOGS/${stderrFile}" </dev/null
code=$?
printf '%s\\n' "$code" >"$CALIBRATION_LOGS/${exitFile}.new" && mv "$CALIBRATION_LOGS/${exitFile}.new" "$CALIBRATION_LOGS/${exitFile}"`;

/**
 * Starts a command in a session of its own. The mark is on disk before the process exists, so that
 * none is ever unknown. P1
 */
export function startProcess({ folder, cwd, command, env }: ProcessLaunch): ChildProcess {
  const mark = randomUUID();
  writeFileSync(join(folder, markFile), JSON.stringify({ mark }), { mode: 0o600 });

  const child = spawn("/bin/sh", ["-c", wrapperScript], {
    cwd,
    env: { ...env, [markVariable]: mark, CALIBRATION_COMMAND: command, CALIBRATION_LOGS: folder },
    detached: true,
    stdio: "ignore",
  });
  child.on("error", () => undefined); // it has no pid and no exit code then, and counts as died

  if (child.pid !== undefined) {
    writeFileSync(join(folder, markFile), JSON.stringify({ mark, pid: child.pid }), {
      mode: 0o600,
    });
  }

  return child;
}

/** The code it ended with; null while it has not. */
export function readExitCode(folder: string): number | null {
  const code = Number(readOwnFile(join(folder, exitFile), 64)?.trim() || Number.NaN); // an empty text would be 0
  return Number.isInteger(code) ? code : null;
}

/** Whether anything of it still lives. */
export const isAtWork = (folder: string): boolean => {
  const family = readFamily(folder);
  return family !== null && listLivingProcesses(family).length > 0; // P1
};

/**
 * Ends everything that bears the mark. `leader`: the process itself, if it was started here and its
 * pid cannot have been reused.
 */
export async function endProcess(folder: string, leader?: number): Promise<void> {
  const family = readFamily(folder);
  if (family !== null) await endFamily(leader === undefined ? family : { ...family, leader });
}

/**
 * The processes of a run, by their mark; without /proc, where marks cannot be read, by the recorded
 * pid. Null if none was started.
 */
function readFamily(folder: string): Family | null {
  try {
    const { mark, pid } = JSON.parse(readOwnFile(join(folder, markFile), 1024) ?? "") as {
      mark?: unknown;
      pid?: unknown;
    };
    if (typeof mark !== "string") return null;
    const hasProc = existsSync("/proc/self/environ");

    return {
      leader: !hasProc && typeof pid === "number" ? pid : noGroup,
      mark: `${markVariable}=${mark}`,
      startTick: 0,
    };
  } catch {
    return null;
  }
}

type WaitOptions = {
  readonly hangMs: number;
  readonly interrupted: AbortSignal;
  readonly child?: ChildProcess;
};

/**
 * Waits for a process that was started here, or by a runner that is gone, and ends what it left.
 */
export async function waitForProcess(
  folder: string,
  watchedFolders: readonly string[],
  wait: WaitOptions,
): Promise<ProcessEnd> {
  const ended = await pollUntilEnded(folder, watchedFolders, wait);
  await endProcess(folder, wait.child?.pid); // P4
  return ended;
}

async function pollUntilEnded(
  folder: string,
  watchedFolders: readonly string[],
  { hangMs, interrupted, child }: WaitOptions,
): Promise<ProcessEnd> {
  const startMs = Date.now();
  for (let poll = 0; ; poll++) {
    const code = readExitCode(folder);
    if (code !== null) return { kind: "exited", code };
    if (interrupted.aborted) return { kind: "interrupted" }; // P3
    const isGone =
      child === undefined
        ? poll % pollsPerScan === 0 && !isAtWork(folder)
        : child.exitCode !== null || child.signalCode !== null || child.pid === undefined;
    if (isGone) {
      const lateCode = readExitCode(folder); // it may have ended since the first look
      return lateCode === null ? { kind: "died" } : { kind: "exited", code: lateCode };
    }

    if (Date.now() - Math.max(startMs, findLastSignMs(folder, watchedFolders)) > hangMs) {
      return { kind: "hung" };
    } // P2

    await pause(pollMs, undefined, { signal: interrupted }).catch(() => undefined); // an interrupt ends the pause, and is seen above
  }
}

/** When it last printed, or its own run last wrote. */
function findLastSignMs(folder: string, roots: readonly string[]): number {
  const files = [join(folder, stdoutFile), join(folder, stderrFile), ...roots.flatMap(listRunLogs)];
  return Math.max(
    0,
    ...files.map((path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0),
  );
}

/** The logs that a run of ours in a copy writes. */
function listRunLogs(root: string): readonly string[] {
  const runs = join(root, ".autopilot", "runs");
  const journals = existsSync(runs)
    ? readdirSync(runs).map((run) => join(runs, run, "journal.jsonl"))
    : [];
  return [join(root, "quality", "run_state.jsonl"), ...journals];
}
