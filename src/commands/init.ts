// init: sets a project up: config file, ignore lines and agent slash commands; asks first on a terminal.

import { existsSync, lstatSync } from "node:fs";
import { join } from "node:path";
import { onPath } from "../agents/find.ts";
import type { Answer } from "../contracts/answer.ts";
import { detectChecks } from "../verify/detect/detect.ts";
import { addIgnoreLines, ignoreLines } from "../workspace/owned.ts";
import type { Repository } from "../workspace/git/repository.ts";
import { agentsHere, candidates } from "../runner/draft/agent-availability.ts";
import { treeAt } from "../runner/draft/checks-of.ts";
import { commandFiles } from "./command-files.ts";
import { appendToFile, readBounded, writeWholeFile } from "../playbooks/contract/whole-file.ts";
import { type ProjectPaths, homeOf, ownFolder } from "../project/runs/project-paths.ts";
import { openedRepository } from "../project/runs/opened-repository.ts";
import type { CommandContext } from "../project/command-context.ts";
import { answered, refuse, reply } from "../project/reply.ts";
import { readSettings } from "../project/config/settings.ts";

type Found = { readonly agents: readonly string[]; readonly checks: readonly string[] };

/** The config to begin with. What was found is a comment: it is found again at every start, and only what differs need be said. */
export function configTemplate({ agents, checks }: Found): string {
  const comment = (items: readonly string[], none: string): string =>
    items.length === 0 ? none : items.join(", ").replaceAll(/[\p{Cc}\u2028\u2029]/gu, " ");
  return `# autopilot's settings for this project. Every key is optional; "autopilot config" shows what is in force.
version: 1

# Agents installed here: ${comment(agents, "none")}
# agent: ${agents[0] ?? "claude"}

# Checks found in this project, run without being named here: ${comment(checks, "none")}
# checks:
#   commands: [${JSON.stringify(checks.length === 0 ? "npm test" : "make smoke")}]   # besides those found
#   timeout_minutes: 15
`;
}

/** Lays out what a project needs: a config file, and ignore lines so that our files never show up as changes. Asks first on a terminal. */
export function init(
  place: CommandContext,
  input: { readonly gitignore?: boolean | undefined; readonly yes?: boolean | undefined },
): Promise<Answer> {
  return answered(async () => {
    const home = await homeOf(place.cwd);
    const repository = await openedRepository(home.root);
    const found = await foundHere(place, repository);
    const page = [`Agents  ${found.agents.join(", ") || "none installed"}`, `Checks  ${found.checks.join(", ") || "none found"}`];
    const config = join(home.folder, "config.yaml");
    const files = commandFilesFor(home.root, place);
    const planned = [...(isThere(config) ? [] : [".autopilot/config.yaml"]), ...files.map(({ path }) => path)];
    if (planned.length > 0 && input.yes !== true && place.isTerminal) {
      for (const line of page) place.show(line);
      const answer = await place.ask(`Write ${planned.join(", ")}?`, ["yes", "no"]);
      if (answer !== "yes")
        return reply("ok", { message: "Nothing was written.", page: ["Nothing was written."], data: { done: [], ...found } });
    }
    const done: string[] = [];
    refuseLinks(home, planned);
    ownFolder(home);
    if (!isThere(config)) {
      await writeWholeFile(home.root, ".autopilot/config.yaml", configTemplate(found));
      done.push("wrote .autopilot/config.yaml");
    }
    if ((await addIgnoreLines(repository.commonDir)).length > 0) done.push("added ignore lines to .git/info/exclude");
    if (input.gitignore === true && (await addToGitignore(home.root))) done.push("added ignore lines to .gitignore");
    done.push(...(await writeCommandFiles(home.root, files)));
    const message = done.length === 0 ? "Nothing to write: everything is there already." : `Done: ${done.join("; ")}.`;
    const offer = input.gitignore === true ? [] : ["autopilot init --gitignore shares the ignore lines with your team"];
    return reply("ok", { message, page: [...page, "", message], remediation: offer, data: { done, ...found } });
  });
}

async function foundHere(place: CommandContext, { root, head }: Repository): Promise<Found> {
  const settings = readSettings(place, root);
  const config = settings.kind === "settings" ? settings.config : {};
  const agents = candidates(await agentsHere(place, config)).map(({ name }) => name);
  const { checks } = detectChecks(await treeAt(root, head.commit), config.checks);
  return { agents, checks: checks.map(({ command }) => command) };
}

/** A slash command for each agent whose folder is in the project or whose program is here; a file that is there is never touched. */
function commandFilesFor(root: string, place: CommandContext): typeof commandFiles {
  const isMeant = ({ folder, program }: (typeof commandFiles)[number]): boolean =>
    existsSync(join(root, folder)) || onPath(program, place.env) !== null;
  return commandFiles.filter((file) => isMeant(file) && !isThere(join(root, file.path)));
}

async function writeCommandFiles(root: string, found: typeof commandFiles): Promise<string[]> {
  for (const { path, text } of found) await writeWholeFile(root, path, text);
  return found.map(({ path }) => `wrote ${path}`);
}

async function addToGitignore(root: string): Promise<boolean> {
  const read = await readBounded(root, ".gitignore", gitignoreBytesMax);
  if (read.kind === "unusable") return refuse("workspace_unusable", { message: `.gitignore ${read.why}.`, remediation: ["move it away"] });
  const text = read.kind === "absent" ? "" : read.bytes.toString("utf8");
  const missing = ignoreLines.filter((line) => !text.split(/\r?\n/).includes(line));
  if (missing.length === 0) return false;
  await appendToFile(root, ".gitignore", `${text === "" || text.endsWith("\n") ? "" : "\n"}${missing.join("\n")}\n`);
  return true;
}

const gitignoreBytesMax = 1024 * 1024;

/** A link that leads nowhere is there too: writing to it would make a file somewhere else. */
const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

/** Everything is refused before anything is written: no file of ours goes through a link, or out of the repository. */
function refuseLinks({ root }: ProjectPaths, planned: readonly string[]): void {
  const linked = planned.find((path) => {
    let at = root;
    return path.split("/").some((part) => lstatSync((at = join(at, part)), { throwIfNoEntry: false })?.isSymbolicLink() === true);
  });
  if (linked !== undefined)
    refuse("workspace_unusable", {
      message: `${linked} lies behind a link, and links are not followed. Nothing was written.`,
      remediation: ["replace the link with a folder, or remove it"],
    });
}
