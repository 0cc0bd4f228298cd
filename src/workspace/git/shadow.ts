// shadow: opens the runner's own git directory for a run, which no agent sees. It borrows the
// user's objects. Trees, indexes and work-tree operations use it, so that neither the user's nor an
// agent's configuration applies.
//
// Invariants:
//   H1. Its info/attributes turns off every filter, and it has no configuration of anybody's.
//       Conversions that are built into git (line endings, encodings, $Id$) apply as the tree's own
//       attributes say: a checkout is what a fresh clone shows.
//   H2. Ignore rules outside the tree are copied once, when the run begins: later edits don't
//       count. Untracked installed packages are added whenever the run is opened.

import { existsSync } from "node:fs";
import { chmod, cp, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { BytePath } from "./byte-path.ts";
import { readErrorCode } from "../failure.ts";
import { erase, readSmallFile, writeFileAtomically } from "../folder.ts";
import type { GitContext } from "./safe-git-call.ts";
import { composeInstalledRules } from "./installed-folders.ts";
import type { GitPlaces } from "./git-places.ts";
import type { Repository } from "./repository.ts";
import type { ObjectFormat } from "./tree.ts";
import { readUserConfig } from "./user-config.ts";
import { openUserView } from "./user-view.ts";

export type Shadow = {
  readonly gitDir: string;
  readonly format: ObjectFormat;
  /** For private indexes and other short-lived files. */
  readonly scratch: string;
  /** Calls that write objects, if any, into the shadow. */
  readonly call: GitContext & { readonly env: Readonly<Record<string, string>> };
  /** Calls whose objects belong in the user's repository, because a branch will refer to them. */
  readonly callIntoUser: GitContext & { readonly env: Readonly<Record<string, string>> };
};

const excludesBytesMax = 1 << 20;

/** Filters off, for every path: the attributes file with the highest precedence. */
export const withoutFilters = "* -filter\n";

export type ShadowOptions = {
  readonly repository: Repository;
  /**
   * The repository with the user's ignore rules and installed packages; another one if the run
   * works in a copy.
   */
  readonly user: GitPlaces;
  readonly runDir: string;
  /** Folders of installed packages in the user's checkout. */
  readonly installed: readonly BytePath[];
  /** New objects stay in the shadow, and the user's repository is unchanged. */
  readonly isApart: boolean;
};

/**
 * Opens the run's shadow; the first time it is created, later it is adapted to where the repository
 * is now.
 */
export async function openShadow(options: ShadowOptions): Promise<Shadow> {
  const { repository, user, runDir, installed, isApart } = options;
  const gitDir = join(runDir, "git");
  const scratch = join(runDir, "scratch");
  const objects = join(repository.commonDir, "objects");
  await mkdir(scratch, { recursive: true, mode: 0o700 });

  if (existsSync(gitDir)) {
    await borrowFrom(gitDir, objects);
    await writeFileAtomically(join(gitDir, "info", "attributes"), withoutFilters); // H1
    await addInstalledRules(user, gitDir, installed);
  } else {
    await createShadow(options, gitDir, objects);
  }

  const call = { cwd: runDir, isOwn: true, env: { GIT_DIR: gitDir } } as const;
  return {
    gitDir,
    format: repository.format,
    scratch,
    call,
    callIntoUser: isApart
      ? call
      : { cwd: runDir, isOwn: true, env: { GIT_DIR: gitDir, GIT_OBJECT_DIRECTORY: objects } },
  };
}

async function createShadow(
  { repository, user, installed }: ShadowOptions,
  gitDir: string,
  objects: string,
): Promise<void> {
  const unfinished = `${gitDir}.draft`;
  await erase(unfinished); // of a process that was killed

  for (const name of ["info", "objects/info", "objects/pack", "refs/heads", "refs/tags"]) {
    await mkdir(join(unfinished, name), { recursive: true });
  }

  await writeFile(join(unfinished, "HEAD"), "ref: refs/heads/none\n");
  const extension =
    repository.format === "sha1" ? "" : `[extensions]\n\tobjectFormat = ${repository.format}\n`;
  const core = `[core]\n\trepositoryformatversion = ${extension === "" ? 0 : 1}\n\tfilemode = true\n\tbare = true\n`;
  await writeFile(join(unfinished, "config"), `${core}${extension}`);

  await borrowFrom(unfinished, objects);
  await writeFile(join(unfinished, "info", "attributes"), withoutFilters); // H1
  await writeFile(
    join(unfinished, "info", "exclude"),
    `${await readExcludes(user)}${await composeInstalledRules(user, installed)}`,
  ); // H2

  const shallow = join(repository.commonDir, "shallow");
  if (existsSync(shallow)) await cp(shallow, join(unfinished, "shallow"));
  await chmod(unfinished, 0o700);
  await rename(unfinished, gitDir);
}

/**
 * Adds rules for packages that were installed while the run was paused, so that they are available
 * to its checks.
 */
async function addInstalledRules(
  user: GitPlaces,
  gitDir: string,
  installed: readonly BytePath[],
): Promise<void> {
  const path = join(gitDir, "info", "exclude");
  const rules = await readFile(path, "utf8"); // throws if it can't be read: the copied rules must not be lost (H2)
  const existingLines = rules.split("\n");
  const installedLines = (await composeInstalledRules(user, installed)).split("\n");
  const newRules = installedLines.filter((line) => line !== "" && !existingLines.includes(line));
  if (newRules.length > 0) await writeFileAtomically(path, `${rules}${newRules.join("\n")}\n`);
}

/** Records where the user's objects are; that changes if the repository is moved or renamed. */
async function borrowFrom(gitDir: string, objects: string): Promise<void> {
  const path = join(gitDir, "objects", "info", "alternates");
  // A path with special characters must be quoted as git does, else a newline in it would end the
  // line.
  const line = `${quotePath(objects)}\n`;
  if ((await readTextOrEmpty(path)) !== line) await writeFileAtomically(path, line);
}

/** The user's ignore rules outside the tree: their global file, then the repository's own. */
async function readExcludes(user: GitPlaces): Promise<string> {
  // Only from the user's own config: a repository's could name any file of theirs, and the agent
  // sees what is copied here.
  const configured = await readUserConfig(await openUserView(user), [
    "--type=path",
    "--get",
    "core.excludesFile",
  ]);

  const fallback = join(
    process.env["XDG_CONFIG_HOME"] || join(process.env["HOME"] || "/nonexistent", ".config"),
    "git",
    "ignore",
  );
  const global = configured?.replace(/\0$/, "") ?? fallback;
  const texts = [
    await readTextOrEmpty(global),
    await readTextOrEmpty(join(user.commonDir, "info", "exclude")),
  ];

  return texts.map((text) => (text === "" || text.endsWith("\n") ? text : `${text}\n`)).join("");
}

async function readTextOrEmpty(path: string): Promise<string> {
  try {
    return readSmallFile(path, excludesBytesMax)?.toString("utf8") ?? "";
  } catch (error) {
    if (readErrorCode(error) !== null) return "";
    throw error;
  }
}

/**
 * A path as git reads it in a list of alternates: between double quotes, with octal escapes, if it
 * has special characters.
 */
export function quotePath(path: string): string {
  if (/^[\x20-\x7e]+$/.test(path) && !/[":\\]/.test(path)) return path;
  const escaped = Buffer.from(path, "utf8")
    .toString("latin1")
    .replaceAll(
      /[^\x20-\x7e]|["\\]/g,
      (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, "0")}`,
    );

  return `"${escaped}"`;
}
