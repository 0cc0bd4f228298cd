// own-git-directory: creates a bare git directory of the runner's own if missing. It appears whole,
// however many processes create it at once.

import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { rename } from "node:fs/promises";
import { join } from "node:path";
import { readErrorCode } from "../failure.ts";
import { git } from "./git.ts";
import type { Repository } from "./repository.ts";
import { erase } from "../folder.ts";

/** `root`: where git is run; `format`: the kind of hashes. */
export async function createOwnGitDirectory(
  { root, format }: Pick<Repository, "root" | "format">,
  folder: string,
): Promise<void> {
  const exists = (): boolean => existsSync(join(folder, "HEAD"));
  const init = (gitDir: string): Promise<unknown> =>
    git({
      cwd: root,
      args: [
        "init",
        "-q",
        "--bare",
        "--template=",
        `--object-format=${format}`,
        "--initial-branch=none",
        "--",
        gitDir,
      ],
    });

  if (exists()) return;
  const temporary = `${folder}.${randomBytes(6).toString("hex")}`;

  try {
    await init(temporary);
    await rename(temporary, folder);
  } catch (error) {
    if (!["ENOTEMPTY", "EEXIST"].includes(readErrorCode(error) ?? "")) throw error;
    if (!exists()) await init(folder); // what a killed process left of one, without HEAD, is completed
  } finally {
    await erase(temporary);
  }
}
