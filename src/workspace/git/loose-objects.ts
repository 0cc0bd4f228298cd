// loose-objects: writes a few small objects into a repository as git itself would, each as a
// "loose" file, without starting a process.
//
// Invariants:
//   O1. An object appears whole, by one rename, under its hash; an interrupted write leaves a file
//       that git gc removes.
//   O2. An existing object is left alone: the same hash is the same content.

import { createHash, randomBytes } from "node:crypto";
import { constants, existsSync } from "node:fs";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { deflate, constants as zlib } from "node:zlib";
import type { GitSha } from "../../contracts/ids.ts";
import { readErrorCode, WorkspaceFailed } from "../failure.ts";
import type { GitContext } from "./safe-git-call.ts";
import type { ObjectFormat } from "./tree.ts";

const deflateAsync = promisify(deflate);
/** More objects are left to git, which packs them. */
const objectsMax = 40;

export type NewObject = { readonly type: "blob" | "tree" | "commit"; readonly content: Buffer };

/** Whether so many objects should be written here rather than by git. */
export const areFewObjects = (count: number): boolean => count <= objectsMax;

/** Writes an object where the call's new objects go, and returns its hash. */
export async function writeObject(
  call: GitContext,
  format: ObjectFormat,
  { type, content }: NewObject,
): Promise<GitSha> {
  const object = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content]);
  const name = createHash(format).update(object).digest("hex");
  const folder = join(findObjectFolder(call), name.slice(0, 2));
  const path = join(folder, name.slice(2));
  if (existsSync(path)) return name; // O2
  try {
    await writeObjectFile(folder, path, await deflateAsync(object, { level: zlib.Z_BEST_SPEED }));
  } catch (error) {
    const code = readErrorCode(error);
    if (code === null) throw error;
    const reason = code === "ENOSPC" || code === "EDQUOT" ? "disk_full" : "workspace_unusable";
    throw new WorkspaceFailed(reason, `An object could not be written to ${folder} (${code}).`);
  }

  return name;
}

/** Writes a file under git's name for unfinished objects, then renames it (O1). */
async function writeObjectFile(folder: string, path: string, content: Buffer): Promise<void> {
  await mkdir(folder, { recursive: true });
  const temporary = join(folder, `tmp_obj_${randomBytes(8).toString("hex")}`);

  try {
    const file = await open(
      temporary,
      constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL,
      0o444,
    );

    try {
      await file.writeFile(content);
    } finally {
      await file.close();
    }

    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Where a git with this call writes new objects. */
const findObjectFolder = ({ cwd, env }: GitContext): string =>
  env?.["GIT_OBJECT_DIRECTORY"] ?? join(env?.["GIT_DIR"] ?? cwd, "objects");
