// merged-view: reads a checkout as a whole, as the kernel shows it: mounted again in a private namespace while it is read.

import { spawn } from "node:child_process";
import { closeSync, constants, fstatSync, openSync, statSync } from "node:fs";
import { join } from "node:path";
import { WorkspaceFailed } from "../failure.ts";
import { findProgramOnPath } from "../isolation/program-paths.ts";
import { mergedFolder, composeMountedCheckout } from "./checkout-place.ts";

const mountTimeoutMs = 20_000;

/** Mounts the checkout, passes its root to `use` and ends the mount. */
export async function withMergedView<T>(place: string, use: (merged: string) => T): Promise<T> {
  const programs = { unshare: findProgramOnPath("unshare") ?? "unshare", mount: findProgramOnPath("mount") ?? "mount" };
  const [program = "", ...args] = composeMountedCheckout(programs, place, "echo ready && read -r _", []);
  const child = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"], env: { LC_ALL: "C" } });
  let errorText = "";
  child.stderr.on("data", (bytes: Buffer) => (errorText = (errorText + bytes.toString("utf8")).slice(0, 300)));
  child.stdin.on("error", () => undefined);
  const exited = new Promise<void>((resolve) => {
    child.once("error", () => resolve());
    child.once("exit", () => resolve());
  });
  const timer = setTimeout(() => child.kill("SIGKILL"), mountTimeoutMs);
  try {
    const ready = new Promise<true>((resolve) => child.stdout.once("data", () => resolve(true)));
    const isReady = await Promise.race([ready, exited.then(() => false as const)]);
    if (!isReady || child.pid === undefined)
      throw new WorkspaceFailed(
        "workspace_unusable",
        `What was written could not be looked at as a whole: ${errorText.trim() || "no reason was given"}`,
      );
    return useHeldOpen(join("/proc", String(child.pid), "root", mergedFolder(place)), place, use);
  } finally {
    child.kill("SIGKILL");
    await exited;
    clearTimeout(timer);
  }
}

/** Held open, so that it stays the checkout; anything else would look like a folder from which everything was deleted. */
function useHeldOpen<T>(path: string, place: string, use: (merged: string) => T): T {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    if (fstatSync(descriptor).dev === statSync(place).dev)
      throw new WorkspaceFailed("workspace_unusable", "What was written could not be looked at as one with what it was written over.");
    return use(`/proc/self/fd/${descriptor}/.`);
  } finally {
    closeSync(descriptor);
  }
}
