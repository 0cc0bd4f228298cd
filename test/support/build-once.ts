// build-once: makes dist/ before the tests that run it; does nothing when it is up to date. At the
// end it takes away what tests share, and ends what tests left running: whoever still has a
// worker's output open keeps vitest from ending.

import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

export default function setup(): () => void {
  execFileSync(process.execPath, [resolve(import.meta.dirname, "../../scripts/build.mjs")], {
    stdio: "inherit",
  });

  return () => {
    for (const name of ["cache", "cluster"]) {
      rmSync(join(tmpdir(), `autopilot-test-${name}-${process.pid}`), {
        recursive: true,
        force: true,
      });
    }

    if (process.env["TEST_NAMESPACE"] !== undefined) endOrphans();
  };
}

const roundsMax = 20;

/**
 * In a process table of the suite's own (scripts/vitest.mjs) the first process inherits what has
 * lost its parent.
 */
function endOrphans(): void {
  const named = new Set<string>();
  for (let round = 0; round < roundsMax; round++) {
    const orphans = readdirSync("/proc").filter(
      (name) => /^\d+$/.test(name) && Number(name) !== process.pid && isOrphan(name),
    );
    for (const pid of orphans) {
      const command = read(pid, "cmdline").replaceAll("\0", " ").slice(0, 300);
      const isOurs = command.includes("command-server.mjs"); // it ends by itself when its worker has
      if (!isOurs && command !== "" && !named.has(pid)) {
        process.stderr.write(`left running by a test: ${command}\n`);
      }

      named.add(pid);
      end(pid);
    }

    if (orphans.length === 0) return;
  }
}

function end(pid: string): void {
  try {
    process.kill(Number(pid), "SIGKILL");
  } catch {
    // gone by itself
  }
}

/** A process that has ended and is not waited for yet is none. */
function isOrphan(pid: string): boolean {
  const [state, parent] = read(pid, "stat")
    .replace(/^.*\) /s, "")
    .split(" ");
  return parent === "1" && state !== "Z";
}

function read(pid: string, name: string): string {
  try {
    return readFileSync(join("/proc", pid, name), "utf8");
  } catch {
    return ""; // gone
  }
}
