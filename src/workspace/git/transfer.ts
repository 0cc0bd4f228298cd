// transfer: fetches and pushes commits between the user's repository and another one, through a git
// directory of the runner's own that has the same objects. The repository's configuration does not
// apply; the user's own does, for their keys and credential helpers.

import { dirname, join } from "node:path";
import { WorkspaceFailed } from "../failure.ts";
import { git } from "./git.ts";
import type { GitAnswer } from "./safe-git-call.ts";
import { createOwnGitDirectory } from "./own-git-directory.ts";
import type { Repository } from "./repository.ts";

const transferTimeoutMs = 120_000;
const cloneTimeoutMs = 1_800_000;
/** Transports that execute a program named in the URL are left out. */
const transports = ["file", "https", "ssh"];
/**
 * Those of a git that could not do it: a push or fetch that was refused, no connection, wrong
 * usage.
 */
const expectedCodes = [0, 1, 128, 129];
const shownErrorCharsMax = 500;
const allowedTransports = transports.map((name) => `protocol.${name}.allow=always`);

/** Runs a git command that may use the network, with further settings (`key=value`). */
export type Transfer = (args: readonly string[], config?: readonly string[]) => Promise<GitAnswer>;

/**
 * Opens a transfer for the repository's objects. `folder`: where the runner's git directory is, or
 * will be.
 */
export async function openTransfer(repository: Repository, folder: string): Promise<Transfer> {
  await createOwnGitDirectory(repository, folder);
  const env = {
    GIT_DIR: folder,
    GIT_OBJECT_DIRECTORY: join(repository.commonDir, "objects"),
    GIT_ALLOW_PROTOCOL: transports.join(":"),
  };

  return (args, config = []) =>
    git({
      cwd: folder,
      isOwn: true,
      config: "user",
      env,
      timeoutMs: transferTimeoutMs,
      args: [...[...allowedTransports, ...config].flatMap((line) => ["-c", line]), ...args],
      acceptedExitCodes: expectedCodes,
    });
}

/**
 * Clones a whole repository, with a branch of it checked out. Throws a WorkspaceFailed if that
 * fails.
 */
export async function cloneHub(url: string, branch: string, folder: string): Promise<void> {
  const config = allowedTransports.flatMap((line) => ["-c", line]);
  const args = [...config, "clone", "-q", "--template=", "--branch", branch, "--", url, folder];
  const env = { GIT_ALLOW_PROTOCOL: transports.join(":") };

  const answer = await git({
    cwd: dirname(folder),
    isOwn: true,
    config: "user",
    env,
    timeoutMs: cloneTimeoutMs,
    args,
    acceptedExitCodes: expectedCodes,
  }).catch((error: unknown) =>
    error instanceof WorkspaceFailed ? { code: 1, err: error.message } : Promise.reject(error),
  );
  if (answer.code === 0) return;
  throw new WorkspaceFailed(
    "hub_unreachable",
    `Cloning ${url} failed: ${answer.err.trim().replace(/\s+/g, " ").slice(0, shownErrorCharsMax)}`,
  );
}
