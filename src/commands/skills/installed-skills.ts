// installed-skills: reads, writes and removes the skill files below one root: a project, or the
// user's home.

import { lstatSync, realpathSync, rmdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { readBounded, writeWholeFile } from "../../playbooks/contract/whole-file.ts";
import { version } from "../../project/runs/product.ts";
import { refuse } from "../../project/respond.ts";
import { embeddedSkills } from "./embedded.ts";
import { formerCommands } from "./former-commands.ts";
import { isOwnSkill, type SkillState, classifySkill, stampSkill } from "./skill-file.ts";
import { type SkillFolder, skillFolders } from "./skill-folders.ts";

export type SkillFile = {
  readonly name: string;
  /** Relative to the root. */
  readonly path: string;
  readonly text: string;
  readonly state: SkillState;
};

const skillBytesMax = 256 * 1024;

/** Every skill in each of these folders, and what is at its path. */
export async function readSkillFiles(
  root: string,
  folders: readonly SkillFolder[],
): Promise<readonly SkillFile[]> {
  for (const { path } of folders) refuseFileInTheWay(root, `${path}/SKILL.md`);
  const files = folders
    .filter(({ path }) => !isLinkToOther(root, path))
    .flatMap((folder) =>
      Object.entries(embeddedSkills).map(([name, text]) => ({
        name,
        path: `${folder.path}/${name}/SKILL.md`,
        text: stampSkill(text, version),
      })),
    );
  refuseLinks(
    root,
    files.map(({ path }) => path),
  );

  return Promise.all(
    files.map(async (file) => ({
      ...file,
      state: classifySkill(await readTextOrNull(root, file.path), file.text),
    })),
  );
}

/**
 * Whether the folder is a link to the other skill folder, as in many projects: its skills are there
 * already.
 */
function isLinkToOther(root: string, path: string): boolean {
  if (lstatSync(join(root, path), { throwIfNoEntry: false })?.isSymbolicLink() !== true) {
    return false;
  }

  const others = skillFolders
    .filter((folder) => folder.path !== path)
    .map((folder) => join(root, folder.path));

  try {
    const real = realpathSync(join(root, path));
    return others.some((other) => lstatSync(other).isDirectory() && real === realpathSync(other));
  } catch {
    return false; // a dangling link, refused like any other
  }
}

/** The folders these files are in. */
export const listFoldersOf = (files: readonly SkillFile[]): readonly string[] =>
  skillFolders
    .map(({ path }) => path)
    .filter((folder) => files.some(({ path }) => path.startsWith(`${folder}/`)));

/** Writes the skills that are missing or of another version, and returns them. */
export async function writeSkills(
  root: string,
  files: readonly SkillFile[],
): Promise<readonly SkillFile[]> {
  const toWrite = files.filter(({ state }) => state === "absent" || state === "outdated");
  for (const { path, text } of toWrite) await writeWholeFile(root, path, text);
  return toWrite;
}

/** Removes our unedited files, and the folders that become empty. */
export function removeSkills(root: string, files: readonly SkillFile[]): readonly SkillFile[] {
  const ownFiles = files.filter(({ state }) => isOwnSkill(state));
  for (const { path } of ownFiles) removeFile(root, path);
  return ownFiles;
}

/**
 * Removes the slash commands that earlier versions wrote, since a skill of the same name replaces
 * them. An edited one stays.
 */
export async function removeFormerCommands(root: string): Promise<readonly string[]> {
  const removed: string[] = [];
  for (const { path, text } of formerCommands) {
    const file = await readBounded(root, path, skillBytesMax);
    if (file.kind !== "read" || file.bytes.toString("utf8") !== text) continue;
    removeFile(root, path);
    removed.push(path);
  }

  return removed;
}

/**
 * Called before anything is written: refuses paths that lead through a link, since they could lead
 * out of the root.
 */
export function refuseLinks(root: string, paths: readonly string[]): void {
  for (const path of paths) refuseFileInTheWay(root, path);
  const linkedPath = paths.find((path) => leadsThroughLink(root, path));
  if (linkedPath !== undefined) {
    refuse("workspace_unusable", {
      message: `${linkedPath} lies behind a link, and links are not followed. Nothing was written.`,
      remediation: ["replace the link with a folder, or remove it"],
    });
  }
}

function leadsThroughLink(root: string, path: string): boolean {
  let current = root;
  for (const part of path.split("/")) {
    current = join(current, part);
    if (lstatSync(current, { throwIfNoEntry: false })?.isSymbolicLink() === true) return true;
  }

  return false;
}

/**
 * Refuses if a file is where a folder of the path must be. Links are the business of `refuseLinks`.
 */
function refuseFileInTheWay(root: string, path: string): void {
  let current = "";
  for (const part of path.split("/").slice(0, -1)) {
    current = current === "" ? part : `${current}/${part}`;
    const stat = lstatSync(join(root, current), { throwIfNoEntry: false });
    if (stat === undefined || stat.isSymbolicLink()) return;
    if (!stat.isDirectory()) {
      refuse("workspace_unusable", {
        message: `${current} is a file, and a folder is expected there. Nothing was changed.`,
        remediation: [`move ${current} away, then give the command again`],
      });
    }
  }
}

async function readTextOrNull(root: string, path: string): Promise<string | null> {
  const file = await readBounded(root, path, skillBytesMax);
  if (file.kind === "absent") return null;
  if (file.kind === "read") return file.bytes.toString("utf8");

  return refuse("workspace_unusable", {
    message: `${path} ${file.why}. Nothing was changed.`,
    remediation: ["move it away"],
  });
}

/** Removes a file, and then its folders as long as they are empty. */
function removeFile(root: string, path: string): void {
  rmSync(join(root, path));
  for (let folder = dirname(path); folder !== "."; folder = dirname(folder)) {
    try {
      rmdirSync(join(root, folder));
    } catch (error) {
      if (!["ENOTEMPTY", "EEXIST"].includes((error as NodeJS.ErrnoException).code ?? "")) {
        throw error;
      }

      return;
    }
  }
}
