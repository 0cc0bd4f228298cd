// skills: installs, removes and lists the skills that teach coding agents to use autopilot, in a
// project or for the user.

import { isAbsolute } from "node:path";
import type { CommandResponse } from "../../contracts/command-response.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { requireProject } from "../../project/runs/project-paths.ts";
import { catchRefusals, refuse, respond } from "../../project/respond.ts";
import { isOwnSkill, type SkillState } from "./skill-file.ts";
import {
  listFoldersOf,
  removeFormerCommands,
  removeSkills,
  type SkillFile,
  readSkillFiles,
  writeSkills,
} from "./installed-skills.ts";
import { skillFolders } from "./skill-folders.ts";

export type SkillsInput = { readonly user?: boolean | undefined };

/** Writes what is missing or of another version; edited and foreign files are left alone. */
export function installSkills(
  context: CommandContext,
  input: SkillsInput,
): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const root = await resolveRoot(context, input);
    const files = await readSkillFiles(root, skillFolders);
    const written = await writeSkills(root, files);
    const replaced = input.user === true ? [] : await removeFormerCommands(root);
    const kept = files.filter(isKept);
    const message = describeInstalled(written, replaced, input);
    return buildResponse(root, { message, files, kept, written, replaced });
  });
}

function describeInstalled(
  written: readonly SkillFile[],
  replaced: readonly string[],
  { user }: SkillsInput,
): string {
  const parts: string[] = [];
  if (written.length > 0) {
    const folders = listFoldersOf(written).map((folder) =>
      user === true ? `~/${folder}` : folder,
    );
    parts.push(`${describeCount(written.length)} written to ${folders.join(" and ")}`);
  }

  if (replaced.length > 0) parts.push(`${replaced.join(", ")} removed, which a skill replaces`);
  return parts.length === 0 ? "Everything is there already." : `${parts.join("; ")}.`;
}

/** Removes unedited skill files only. */
export function removeInstalledSkills(
  context: CommandContext,
  input: SkillsInput,
): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const root = await resolveRoot(context, input);
    const files = await readSkillFiles(root, skillFolders);
    const removed = removeSkills(root, files);
    const message =
      removed.length === 0
        ? "There was nothing to remove."
        : `${describeCount(removed.length)} removed.`;

    const kept = files.filter(({ state }) => state === "edited");
    return {
      ...buildResponse(root, { message, files, kept, removed }),
      remediation: kept.map(({ path }) => `delete ${path} yourself if it is of no use`),
    };
  });
}

/** Shows the state of each skill file. */
export function listSkills(context: CommandContext, input: SkillsInput): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const root = await resolveRoot(context, input);
    const files = await readSkillFiles(root, skillFolders);

    const page = skillFolders.flatMap(({ path, agents }) => {
      const agentNames = agents.map(({ name }) => name).join(", ");
      const isFolder = listFoldersOf(files).includes(path);
      const lines = isFolder ? fileLines(files, path) : ["  a link to the other folder"];
      return [`${path}  (${agentNames})`, ...lines];
    });

    const installedCount = files.filter(({ state }) => isOwnSkill(state)).length;
    const needsInstall = files.some(({ state }) => state === "absent" || state === "outdated");
    const installCommand = `autopilot skills install${input.user === true ? " --user" : ""}`;
    return respond("ok", {
      message: `${installedCount} of ${files.length} skill files are installed in ${root}.`,
      page,
      remediation: needsInstall ? [installCommand] : [],
      data: skillsData(root, files),
    });
  });
}

const fileLines = (files: readonly SkillFile[], folder: string): readonly string[] =>
  files
    .filter(({ path }) => path.startsWith(`${folder}/`))
    .map(({ name, state }) => `  ${name.padEnd(20)} ${stateLabels[state]}`);

const stateLabels: Readonly<Record<SkillState, string>> = {
  absent: "not installed",
  current: "installed",
  outdated: "of another version",
  edited: "edited by you",
  foreign: "not autopilot's",
};

const isKept = ({ state }: SkillFile): boolean => state === "edited" || state === "foreign";

type Outcome = {
  readonly message: string;
  readonly files: readonly SkillFile[];
  readonly kept: readonly SkillFile[];
  readonly written?: readonly SkillFile[];
  readonly removed?: readonly SkillFile[];
  readonly replaced?: readonly string[];
};

function buildResponse(
  root: string,
  { message, files, kept, written, removed, replaced }: Outcome,
): CommandResponse {
  const pathsOf = (skills: readonly SkillFile[] | undefined): readonly string[] =>
    (skills ?? []).map(({ path }) => path);
  return respond(kept.length === 0 ? "ok" : "skill_kept", {
    message,
    warnings: kept.map(
      ({ path, state }) => `${path} is ${stateLabels[state]}, so it was left alone.`,
    ),
    data: {
      ...skillsData(root, files),
      written: pathsOf(written),
      removed: pathsOf(removed),
      kept: pathsOf(kept),
      replaced: replaced ?? [],
    },
  });
}

const skillsData = (
  root: string,
  files: readonly SkillFile[],
): Readonly<Record<string, unknown>> => ({
  root,
  skills: files.map(({ name, path, state }) => ({ name, path, state })),
});

const describeCount = (count: number): string => `${count} skill ${count === 1 ? "file" : "files"}`;

/**
 * The folder that skills are installed below: the project's root, or with `user` the home folder.
 */
async function resolveRoot(context: CommandContext, { user }: SkillsInput): Promise<string> {
  if (user !== true) return (await requireProject(context.cwd)).root;
  const home = context.env["HOME"] ?? "";
  if (!isAbsolute(home)) {
    refuse("usage", {
      message: "HOME is not set to a folder, so there is no place for skills of your own.",
    });
  }

  return home;
}
