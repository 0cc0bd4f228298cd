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
import { requireProject, ensureOwnFolder } from "../project/runs/project-paths.ts";
import { requireRepository } from "../project/runs/require-repository.ts";
import type { CommandContext } from "../project/command-context.ts";
import { catchRefusals, refuse, respond } from "../project/respond.ts";
import { readSettings } from "../project/config/settings.ts";

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

/**
 * Writes what is missing: config, schemas, ignore lines (so that our files never show up as
 * changes) and skills.
 */
export function init(
  context: CommandContext,
  input: { readonly gitignore?: boolean | undefined; readonly yes?: boolean | undefined },
): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const paths = await requireProject(context.cwd);
    const repository = await requireRepository(paths.root);
    const setup = await detectSetup(context, repository);
    const page = [
      `Agents  ${setup.agents.join(", ") || "none installed"}`,
      `Checks  ${setup.checks.join(", ") || "none found"}`,
    ];

    const configPath = join(paths.folder, "config.yaml");
    const skills = await findMissingSkills(paths.root, context);
    const schemas = await findStaleSchemas(paths.root);

    const missingPaths = [
      ...(isPresent(configPath) ? [] : [".autopilot/config.yaml"]),
      ...(schemas.length === 0 ? [] : [".autopilot/schemas"]),
      ...listFoldersOf(skills),
    ];
    if (missingPaths.length > 0 && input.yes !== true && context.isTerminal) {
      for (const line of page) context.show(line);
      const answer = await context.ask(`Write ${missingPaths.join(", ")}?`, ["y", "n"]);
      if (answer !== "y") {
        return respond("ok", {
          message: "Nothing was written.",
          page: ["Nothing was written."],
          data: { done: [], ...setup },
        });
      }
    }

    const changes: string[] = [];
    refuseLinks(paths.root, missingPaths);
    ensureOwnFolder(paths);

    if (!isPresent(configPath)) {
      await writeWholeFile(paths.root, ".autopilot/config.yaml", configTemplate(setup));
      changes.push("wrote .autopilot/config.yaml");
    }

    if (schemas.length > 0) ensureOwnFolder(paths, "schemas");
    for (const [path, text] of schemas) {
      await writeFileAtomically(join(paths.root, path), Buffer.from(text), 0o644);
    }

    if (schemas.length > 0) changes.push("wrote .autopilot/schemas");
    if ((await addIgnoreLines(repository.commonDir)).length > 0) {
      changes.push("added ignore lines to .git/info/exclude");
    }

    if (input.gitignore === true && (await addToGitignore(paths.root))) {
      changes.push("added ignore lines to .gitignore");
    }

    await writeSkills(paths.root, skills);
    changes.push(...listFoldersOf(skills).map((folder) => `wrote skills to ${folder}`));
    const message =
      changes.length === 0
        ? "Nothing to write: everything is there already."
        : `Done: ${changes.join("; ")}.`;

    const gitignoreHint =
      input.gitignore === true
        ? []
        : ["autopilot init --gitignore shares the ignore lines with your team"];

    return respond("ok", {
      message,
      page: [...page, "", message],
      remediation: gitignoreHint,
      data: { done: changes, ...setup },
    });
  });
}

async function detectSetup(
  context: CommandContext,
  { root, head }: Repository,
): Promise<DetectedSetup> {
  const settings = readSettings(context, root);
  const config = settings.kind === "settings" ? settings.config : {};
  const agents = findCandidates(await listAvailability(context, config)).map(({ name }) => name);
  const { checks } = detectChecks(await loadTree(root, head.commit), config.checks);

  return { agents, checks: checks.map(({ command }) => command) };
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
    agents.some(
      ({ mark, program }) =>
        existsSync(join(root, mark)) || findOnPath(program, context.env) !== null,
    ),
  );
  return (await readSkillFiles(root, targets)).filter(({ state }) => state === "absent");
}

/** Path and text of each schema for editors that is missing or of another version. */
async function findStaleSchemas(root: string): Promise<readonly (readonly [string, string])[]> {
  const { fileSchemaNames, schemaFile, schemaText } = await import("./schemas/file-schemas.ts");
  const stale: (readonly [string, string])[] = [];

  for (const name of fileSchemaNames) {
    const [path, text] = [schemaFile(name), schemaText(name)];
    const readResult = await readBounded(root, path, schemaBytesMax);
    if (readResult.kind === "unusable") {
      refuse("workspace_unusable", {
        message: `${path} ${readResult.why}.`,
        remediation: ["move it away"],
      });
    }

    if (readResult.kind === "absent" || readResult.bytes.toString("utf8") !== text) {
      stale.push([path, text]);
    }
  }

  return stale;
}

const schemaBytesMax = 4 * 1024 * 1024;

async function addToGitignore(root: string): Promise<boolean> {
  const readResult = await readBounded(root, ".gitignore", gitignoreBytesMax);
  if (readResult.kind === "unusable") {
    return refuse("workspace_unusable", {
      message: `.gitignore ${readResult.why}.`,
      remediation: ["move it away"],
    });
  }

  const text = readResult.kind === "absent" ? "" : readResult.bytes.toString("utf8");
  const missing = ignoreLines.filter((line) => !text.split(/\r?\n/).includes(line));
  if (missing.length === 0) return false;
  await appendToFile(
    root,
    ".gitignore",
    `${text === "" || text.endsWith("\n") ? "" : "\n"}${missing.join("\n")}\n`,
  );

  return true;
}

const gitignoreBytesMax = 1024 * 1024;

/** A dangling link counts as present: writing to it would create a file somewhere else. */
const isPresent = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false }) !== undefined;
