// own-git-directory: creates the runner's own bare git directory if missing. It exists whole or not at all, however many processes create
// it at once.

import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { rename } from "node:fs/promises";
import { join } from "node:path";
import { readErrorCode } from "../failure.ts";
import { git } from "./git.ts";
import type { Repository } from "./repository.ts";
import { erase } from "../folder.ts";

export async function createOwnGitDirectory({ root, format }: Pick<Repository, "root" | "format">, folder: string): Promise<void> {
  const exists = (): boolean => existsSync(join(folder, "HEAD"));
  const init = (gitDir: string): Promise<unknown> =>
    git({
      cwd: root,
      args: ["init", "-q", "--bare", "--template=", `--object-format=${format}`, "--initial-branch=none", "--", gitDir],
    });
  if (exists()) return;
  const draft = `${folder}.${randomBytes(6).toString("hex")}`;
  try {
    await init(draft);
    await rename(draft, folder);
  } catch (error) {
    if (!["ENOTEMPTY", "EEXIST"].includes(readErrorCode(error) ?? "")) throw error;
    if (!exists()) await init(folder); // left incomplete by a killed process
  } finally {
    await erase(draft);
  }
}
