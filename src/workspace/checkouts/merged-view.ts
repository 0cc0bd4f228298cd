// merged-view: reads an overlay as a whole, as the kernel shows it: mounted again in a private
// namespace while it is read.

import { spawn } from "node:child_process";
import { closeSync, constants, fstatSync, openSync, statSync } from "node:fs";
import { join } from "node:path";
import { WorkspaceFailed } from "../failure.ts";

export type MergedView = {
  /** The folder that the overlay is mounted from. */
  readonly overlayFolder: string;
  /** The folder inside `place` at which it is mounted. */
  readonly merged: string;
  /** The command line that mounts it and then runs `holdMountScript`. */
  readonly mountCommand: readonly string[];
  /** What to say if it could not be mounted, or if what was opened is not the mounted overlay. */
  readonly messages: { readonly notMounted: string; readonly notMerged: string };
};

/** Says that the mount is there, and keeps it until the process is killed or its input ends. */
export const holdMountScript = "echo ready && read -r _";

const mountTimeoutMs = 20_000;
const errorCharsMax = 300;

/**
 * Mounts the overlay, passes its root to `use`, which must be done when it returns, and ends the
 * mount.
 */
export async function withMergedView<T>(view: MergedView, use: (merged: string) => T): Promise<T> {
  const [program = "", ...args] = view.mountCommand;
  const child = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"], env: { LC_ALL: "C" } });
  let errorText = "";
  child.stderr.on(
    "data",
    (bytes: Buffer) => (errorText = (errorText + bytes.toString("utf8")).slice(0, errorCharsMax)),
  );

  child.stdin.on("error", () => undefined); // a child that could not start has closed it; its exit says so
  const exited = new Promise<void>((resolve) => {
    child.once("error", () => resolve());
    child.once("exit", () => resolve());
  });

  const timer = setTimeout(() => child.kill("SIGKILL"), mountTimeoutMs);
  try {
    const ready = new Promise<true>((resolve) => child.stdout.once("data", () => resolve(true)));
    const isReady = await Promise.race([ready, exited.then(() => false as const)]);
    if (!isReady || child.pid === undefined) {
      throw new WorkspaceFailed(
        "workspace_unusable",
        `${view.messages.notMounted}: ${errorText.trim() || "no reason was given"}`,
      );
    }

    return withOpenFolder(join("/proc", String(child.pid), "root", view.merged), view, use);
  } finally {
    child.kill("SIGKILL");
    await exited;
    clearTimeout(timer);
  }
}

/**
 * Keeps the mounted folder open while `use` reads it, so that it stays the overlay. Any other
 * folder would look as if everything in it had been deleted; so one on the same device as the
 * unmounted place is refused.
 */
function withOpenFolder<T>(
  path: string,
  { overlayFolder, messages }: MergedView,
  use: (merged: string) => T,
): T {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    if (fstatSync(descriptor).dev === statSync(overlayFolder).dev) {
      throw new WorkspaceFailed("workspace_unusable", messages.notMerged);
    }

    return use(`/proc/self/fd/${descriptor}/.`);
  } finally {
    closeSync(descriptor);
  }
}
