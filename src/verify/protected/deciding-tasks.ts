// deciding-tasks: extracts the parts of deno.json and of Nx's project.json that decide: tasks that
// test, and settings of tools.

import { parseJsonc } from "../detect/jsonc.ts";
import { isRecord } from "../detect/manifest.ts";
import type { DecidingParts, CommandSet } from "./command-set.ts";
import { parseWorkspaces } from "./deciding-workspace.ts";

const judgingTask =
  /^(?:tests?|unit|e2e|spec|lint|checks?|type-?checks?|build|verify|validate|ci|cov|coverage|fmt|format)(?:[:._-].*)?$/;
const toolKeys = ["test", "lint", "fmt", "compilerOptions", "exclude", "nodeModulesDir"];

export function extractDenoParts(text: string, commandSet: CommandSet): DecidingParts | null {
  const manifest = parseManifest(text);
  if (manifest === null) return null;
  const usedKeys = toolKeys.filter((key) => Object.hasOwn(manifest, key));

  return {
    ...extractTaskParts(manifest["tasks"], "scripts.", commandSet),
    ...Object.fromEntries(usedKeys.map((key) => [key, JSON.stringify(manifest[key])])),
    ...parseWorkspaces(manifest["workspace"]),
  };
}

export function extractNxParts(text: string, commandSet: CommandSet): DecidingParts | null {
  const manifest = parseManifest(text);
  return manifest === null ? null : extractTaskParts(manifest["targets"], "target ", commandSet);
}

/** Tasks by their names, and those that a deciding command names. */
function extractTaskParts(tasks: unknown, prefix: string, commandSet: CommandSet): DecidingParts {
  if (!isRecord(tasks)) return {};
  const commandWords = new Set(
    commandSet.usedCommands.flatMap((command) => command.split(/[\s;&|:]+/)),
  );
  const deciding = Object.entries(tasks).filter(
    ([name]) => judgingTask.test(name) || commandWords.has(name),
  );

  return Object.fromEntries(
    deciding.map(([name, task]) => [
      `${prefix}${name}`,
      typeof task === "string" ? task : JSON.stringify(task),
    ]),
  );
}

function parseManifest(text: string): Readonly<Record<string, unknown>> | null {
  const manifest = parseJsonc(text);
  return isRecord(manifest) ? manifest : null;
}
