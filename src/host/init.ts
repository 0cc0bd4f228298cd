import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { onPath } from "../agents/find.ts";
import type { Answer } from "../contracts/answer.ts";
import { addIgnoreLines, ignoreLines } from "../workspace/owned.ts";
import { commandFiles } from "./command-files.ts";
import { homeOf } from "./home.ts";
import { openedRepository } from "./opened-repository.ts";
import type { Place } from "./place.ts";
import { answered, reply } from "./reply.ts";

const template = `# autopilot's settings for this project. Every key is optional; "autopilot config" shows what is in force.
version: 1
# agent: claude
# checks:
#   commands: ["npm test"]
#   timeout_minutes: 10
`;

/** Lays out what a project needs: a config file, and ignore lines so that our files never show up as changes. */
export function init(place: Place, input: { readonly gitignore?: boolean | undefined }): Promise<Answer> {
  return answered(async () => {
    const home = await homeOf(place.cwd);
    const repository = await openedRepository(home.root);
    const done: string[] = [];
    mkdirSync(home.folder, { recursive: true, mode: 0o700 });
    const config = join(home.folder, "config.yaml");
    if (!existsSync(config)) {
      writeFileSync(config, template, { flag: "wx" });
      done.push("wrote .autopilot/config.yaml");
    }
    if ((await addIgnoreLines(repository.commonDir)).length > 0) done.push("added ignore lines to .git/info/exclude");
    if (input.gitignore === true && addToGitignore(home.root)) done.push("added ignore lines to .gitignore");
    done.push(...writeCommandFiles(home.root, place));
    const message = done.length === 0 ? "Everything is there already." : `Done: ${done.join("; ")}.`;
    const offer = input.gitignore === true ? [] : ["autopilot init --gitignore shares the ignore lines with your team"];
    return reply("ok", { message, remediation: offer, data: { done } });
  });
}

/** A slash command for each agent whose folder is in the project or whose program is here; a file that is there is never touched. */
function writeCommandFiles(root: string, place: Place): string[] {
  const isMeant = ({ folder, program }: (typeof commandFiles)[number]): boolean =>
    existsSync(join(root, folder)) || onPath(program, place.env) !== null;
  const found = commandFiles.filter((file) => isMeant(file) && !existsSync(join(root, file.path)));
  for (const { path, text } of found) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text, { flag: "wx" });
  }
  return found.map(({ path }) => `wrote ${path}`);
}

function addToGitignore(root: string): boolean {
  const path = join(root, ".gitignore");
  const text = existsSync(path) ? readFileSync(path, "utf8") : "";
  const missing = ignoreLines.filter((line) => !text.split(/\r?\n/).includes(line));
  if (missing.length === 0) return false;
  appendFileSync(path, `${text === "" || text.endsWith("\n") ? "" : "\n"}${missing.join("\n")}\n`);
  return true;
}
