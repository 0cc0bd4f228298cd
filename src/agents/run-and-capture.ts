// run-and-capture: runs a program for a moment and captures its output, in an empty temporary
// folder that is also its HOME.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { closeAfterExit, closePipes } from "./process/close-after-exit.ts";

const timeoutMsDefault = 5000;
const outputBytesMax = 64 * 1024;

type Environment = Readonly<Record<string, string | undefined>>;

/** `env`: of it the program gets PATH and LANG alone. */
export type Program = {
  readonly path: string;
  readonly args: readonly string[];
  readonly env: Environment;
  readonly timeoutMs?: number;
};

/** Its output, stdout before stderr; null if it could not be started or did not end in time. */
export async function runAndCapture(program: Program): Promise<string | null> {
  const home = mkdtempSync(join(tmpdir(), "autopilot-version-"));
  try {
    return await captureIn(home, program);
  } finally {
    rmSync(home, { recursive: true, force: true, maxRetries: 3 });
  }
}

function captureIn(
  home: string,
  { path, args, env, timeoutMs = timeoutMsDefault }: Program,
): Promise<string | null> {
  return new Promise((resolve) => {
    const child = spawn(path, args, {
      cwd: home,
      env: { PATH: env["PATH"] ?? "", LANG: env["LANG"] ?? "C", HOME: home, TMPDIR: home },
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });

    const output: { out: Buffer[]; err: Buffer[]; bytes: number } = { out: [], err: [], bytes: 0 };
    const end = (): void => {
      // The whole group, so that no child of the program outlives it.
      if (child.pid !== undefined) killGroup(child.pid);
    };

    const timer = setTimeout(() => {
      end();
      closePipes(child);
      resolve(null);
    }, timeoutMs);

    const keep = (list: Buffer[]) => (chunk: Buffer) => {
      const bytesLeft = outputBytesMax - output.bytes;
      if (bytesLeft <= 0) return end();
      output.bytes += chunk.length;
      list.push(chunk.subarray(0, bytesLeft));
    };
    child.stdout.on("data", keep(output.out));
    child.stderr.on("data", keep(output.err));
    child.once("error", () => {
      clearTimeout(timer);
      resolve(null);
    });

    child.once("exit", end);
    closeAfterExit(child);
    child.once("close", () => {
      clearTimeout(timer);
      resolve(Buffer.concat([...output.out, ...output.err]).toString("utf8"));
    });
  });
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It is gone already.
  }
}
