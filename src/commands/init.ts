// init: sets a project up: config file, schemas for editors, ignore lines and skills for the agents
// found; asks first on a terminal.

import { existsSync, lstatSync } from "node:fs";
import { join } from "node:path";
import { findOnPath } from "../agents/find-agents.ts";
import type { CommandResponse } from "../contracts/command-response.ts";
import { detectChecks } from "../verify/detect/detect.ts";
import { writeFileAtomically } from "../workspace/folder.ts";
import { addIgnoreLines, ignoreLines } from "../workspace/owned-paths.ts";
import type { Repository } from "../workspace/git/repository.ts";
import { listAvailability, findCandidates } from "../runner/draft/agent-availability.ts";
import { loadTree } from "../runner/draft/collect-checks.ts";
import {
  listFoldersOf,
  refuseLinks,
  type SkillFile,
  readSkillFiles,
  writeSkills,
} from "./skills/installed-skills.ts";
import { skillFolders } from "./skills/skill-folders.ts";
import { appendToFile, readBounded, writeWholeFile } from "../playbooks/contract/whole-file.ts";
import {
  ensureOwnFolder,
  type ProjectPaths,
  requireProject,
} from "../project/runs/project-paths.ts";
import { requireRepository } from "../project/runs/require-repository.ts";
import type { CommandContext } from "../project/command-context.ts";
import { catchRefusals, refuse, respond } from "../project/respond.ts";
import { readSettings } from "../project/config/settings.ts";

const configPath = ".autopilot/config.yaml";
const schemasPath = ".autopilot/schemas";
const schemaBytesMax = 4 * 1024 * 1024;
const gitignoreBytesMax = 1024 * 1024;

type SchemaFile = { readonly path: string; readonly text: string };
type DetectedSetup = { readonly agents: readonly string[]; readonly checks: readonly string[] };

/**
 * The initial config. Detected values are comments: they are detected again at every start, and
 * only differences need to be written.
 */
export function configTemplate({ agents, checks }: DetectedSetup): string {
  // A line break in a detected name would end the comment, and the rest would be read as YAML.
  const commentText = (items: readonly string[], none: string): string =>
    items.length === 0 ? none : items.join(", ").replaceAll(/[\p{Cc}\u2028\u2029]/gu, " ");
  return `# yaml-language-server: $schema=schemas/config.json
# autopilot's settings for this project. Every key is optional; "autopilot config" shows what is in force.
version: 1

# Agents installed here: ${commentText(agents, "none")}
# agent: ${agents[0] ?? "claude"}

# Checks found in this project, run without being named here: ${commentText(checks, "none")}
# checks:
#   commands: [${JSON.stringify(checks.length === 0 ? "npm test" : "make smoke")}]   # besides those found
#   timeout_minutes: 15
`;
}

type InitInput = {
  readonly gitignore?: boolean | undefined;
  readonly yes?: boolean | undefined;
};

/** The paths and texts of what is to be written. */
type MissingFiles = {
  readonly isConfigMissing: boolean;
  readonly schemas: readonly SchemaFile[];
  readonly skills: readonly SkillFile[];
  /** What of it is named to a person, and must not be a link. */
  readonly paths: readonly string[];
};

/**
 * Writes what is missing: config, schemas, ignore lines (so that our files never show up as
 * changes) and skills.
 */
export function init(context: CommandContext, input: InitInput): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const paths = await requireProject(context.cwd);
    const repository = await requireRepository(paths.root);
    const setup = await detectSetup(context, repository);
    const setupLines = [
      `Agents  ${setup.agents.join(", ") || "none installed"}`,
      `Checks  ${setup.checks.join(", ") || "none found"}`,
    ];

    const missing = await findMissingFiles(context, paths);
    if (!(await mayWrite(context, input, setupLines, missing.paths))) {
      return respond("ok", {
        message: "Nothing was written.",
        page: ["Nothing was written."],
        data: { done: [], ...setup },
      });
    }

    const changes: string[] = [];
    refuseLinks(paths.root, missing.paths);
    ensureOwnFolder(paths);
    changes.push(...(await writeConfig(paths, missing, setup)));
    changes.push(...(await writeSchemas(paths, missing)));
    changes.push(...(await writeIgnoreLines(repository, paths, input)));
    await writeSkills(paths.root, missing.skills);
    const skillFolderPaths = listFoldersOf(missing.skills);
    changes.push(...skillFolderPaths.map((folder) => `wrote skills to ${folder}`));

    const message =
      changes.length === 0
        ? "Nothing to write: everything is there already."
        : `Done: ${changes.join("; ")}.`;
    const gitignoreHint = "autopilot init --gitignore shares the ignore lines with your team";
    return respond("ok", {
      message,
      page: [...setupLines, "", message],
      remediation: input.gitignore === true ? [] : [gitignoreHint],
      data: { done: changes, ...setup },
    });
  });
}

async function findMissingFiles(
  context: CommandContext,
  { root, folder }: ProjectPaths,
): Promise<MissingFiles> {
  const skills = await findMissingSkills(root, context);
  const schemas = await findStaleSchemas(root);
  const isConfigMissing = !isPresent(join(folder, "config.yaml"));

  const paths: string[] = [];
  if (isConfigMissing) paths.push(configPath);
  if (schemas.length > 0) paths.push(schemasPath);
  paths.push(...listFoldersOf(skills));
  return { isConfigMissing, schemas, skills, paths };
}

/** Asks on a terminal, if there is anything to write. */
async function mayWrite(
  context: CommandContext,
  { yes }: InitInput,
  setupLines: readonly string[],
  missingPaths: readonly string[],
): Promise<boolean> {
  if (missingPaths.length === 0 || yes === true || !context.isTerminal) return true;

  for (const line of setupLines) context.show(line);
  const answer = await context.ask(`Write ${missingPaths.join(", ")}?`, ["y", "n"]);
  return answer === "y";
}

// Each of the functions below writes one thing, and returns what it did in words.

async function writeConfig(
  { root }: ProjectPaths,
  { isConfigMissing }: MissingFiles,
  setup: DetectedSetup,
): Promise<readonly string[]> {
  if (!isConfigMissing) return [];
  await writeWholeFile(root, configPath, configTemplate(setup));
  return [`wrote ${configPath}`];
}

async function writeSchemas(
  paths: ProjectPaths,
  { schemas }: MissingFiles,
): Promise<readonly string[]> {
  if (schemas.length === 0) return [];
  ensureOwnFolder(paths, "schemas");
  for (const { path, text } of schemas) {
    await writeFileAtomically(join(paths.root, path), Buffer.from(text), 0o644);
  }

  return [`wrote ${schemasPath}`];
}

async function writeIgnoreLines(
  { commonDir }: Repository,
  { root }: ProjectPaths,
  { gitignore }: InitInput,
): Promise<readonly string[]> {
  const changes: string[] = [];
  const addedLines = await addIgnoreLines(commonDir);
  if (addedLines.length > 0) changes.push("added ignore lines to .git/info/exclude");
  if (gitignore === true && (await addToGitignore(root))) {
    changes.push("added ignore lines to .gitignore");
  }

  return changes;
}

async function detectSetup(
  context: CommandContext,
  { root, head }: Repository,
): Promise<DetectedSetup> {
  const settings = readSettings(context, root);
  const config = settings.kind === "settings" ? settings.config : {};
  const candidates = findCandidates(await listAvailability(context, config));
  const tree = await loadTree(root, head.commit);
  const { checks } = detectChecks(tree, config.checks);

  return {
    agents: candidates.map(({ name }) => name),
    checks: checks.map(({ command }) => command),
  };
}

/**
 * Skills for each agent whose folder is in the project or whose program is installed; an existing
 * file is never touched.
 */
async function findMissingSkills(
  root: string,
  context: CommandContext,
): Promise<readonly SkillFile[]> {
  const targets = skillFolders.filter(({ agents }) =>
    agents.some(({ mark, program }) => {
      const isUsedHere = existsSync(join(root, mark));
      return isUsedHere || findOnPath(program, context.env) !== null;
    }),
  );

  const skills = await readSkillFiles(root, targets);
  return skills.filter(({ state }) => state === "absent");
}

/** The schemas for editors that are missing or of another version. */
async function findStaleSchemas(root: string): Promise<readonly SchemaFile[]> {
  const { fileSchemaNames, schemaFile, schemaText } = await import("./schemas/file-schemas.ts");
  const stale: SchemaFile[] = [];

  for (const name of fileSchemaNames) {
    const path = schemaFile(name);
    const text = schemaText(name);
    const present = await readOwnText(root, path, schemaBytesMax);
    if (present !== text) stale.push({ path, text });
  }

  return stale;
}

/** Null if the file is absent; refuses one that cannot be read. */
async function readOwnText(root: string, path: string, bytesMax: number): Promise<string | null> {
  const readResult = await readBounded(root, path, bytesMax);
  if (readResult.kind === "unusable") {
    return refuse("workspace_unusable", {
      message: `${path} ${readResult.why}.`,
      remediation: ["move it away"],
    });
  }

  return readResult.kind === "absent" ? null : readResult.bytes.toString("utf8");
}

async function addToGitignore(root: string): Promise<boolean> {
  const text = (await readOwnText(root, ".gitignore", gitignoreBytesMax)) ?? "";
  const presentLines = text.split(/\r?\n/);
  const missing = ignoreLines.filter((line) => !presentLines.includes(line));
  if (missing.length === 0) return false;

  const lineBreak = text === "" || text.endsWith("\n") ? "" : "\n";
  await appendToFile(root, ".gitignore", `${lineBreak}${missing.join("\n")}\n`);
  return true;
}

/** A dangling link counts as present: writing to it would create a file somewhere else. */
const isPresent = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false }) !== undefined;
