// read-output: runs a program for a moment and reads its output, in an empty temporary folder that
// is also its HOME.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const outputTimeoutMs = 5000;
const outputBytesMax = 64 * 1024;

/** Its output, stdout before stderr; null if it could not be started or did not end in time. */
export async function readOutput(
  path: string,
  words: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  timeoutMs: number = outputTimeoutMs,
): Promise<string | null> {
  const home = mkdtempSync(join(tmpdir(), "autopilot-version-"));
  try {
    return await spawnAndRead(
      path,
      words,
      { PATH: env["PATH"] ?? "", LANG: env["LANG"] ?? "C", HOME: home, TMPDIR: home },
      home,
      timeoutMs,
    );
  } finally {
    rmSync(home, { recursive: true, force: true, maxRetries: 3 });
  }
}

function spawnAndRead(
  path: string,
  words: readonly string[],
  env: Readonly<Record<string, string>>,
  cwd: string,
  timeoutMs: number,
): Promise<string | null> {
  return new Promise((resolve) => {
    const child = spawn(path, words, {
      cwd,
      env,
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

    child.once("exit", () => {
      clearTimeout(timer);
      end();
    });

    child.once("close", () =>
      resolve(Buffer.concat([...output.out, ...output.err]).toString("utf8")),
    );
  });
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It is gone already.
  }
}
