// transfer: moves commits between the user's repository and another one, through our own git directory that borrows its objects. No
// configuration of the project's repository applies; the user's own does, for their keys and helpers.

import { join } from "node:path";
import { git, type GitAnswer } from "./git.ts";
import { createOwnGitDirectory } from "./own-git-directory.ts";
import type { Repository } from "./repository.ts";

const transferMs = 120_000;
/** Transports that execute a program named in the URL are left out. */
const transports = ["file", "https", "ssh"];

export type Transfer = (args: readonly string[], config?: readonly string[]) => Promise<GitAnswer>;

/** `folder`: where that git directory is, or will be. */
export async function openTransfer(repository: Repository, folder: string): Promise<Transfer> {
  await createOwnGitDirectory(repository, folder);
  const env = {
    GIT_DIR: folder,
    GIT_OBJECT_DIRECTORY: join(repository.commonDir, "objects"),
    GIT_ALLOW_PROTOCOL: transports.join(":"),
  };
  const allowed = transports.map((name) => `protocol.${name}.allow=always`);
  return (args, config = []) =>
    git({
      cwd: folder,
      isOwn: true,
      config: "user",
      env,
      timeoutMs: transferMs,
      args: [...[...allowed, ...config].flatMap((line) => ["-c", line]), ...args],
      codes: [0, 1, 128, 129],
    });
}
