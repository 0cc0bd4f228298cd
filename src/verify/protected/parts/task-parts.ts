// task-parts: extracts the protected parts of deno.json and of Nx's project.json: tasks that checks
// run, and settings of tools.

import { parseJsonc } from "../../detect/jsonc.ts";
import { isRecord } from "../../detect/manifest.ts";
import type { CommandSet } from "../command-set.ts";
import { testTaskName } from "./part-patterns.ts";
import type { ProtectedParts } from "./protected-parts.ts";
import { parseWorkspacesField } from "./workspace-parts.ts";

const denoToolKeys = ["test", "lint", "fmt", "compilerOptions", "exclude", "nodeModulesDir"];

/** Null if the text is no JSON object. */
export function extractDenoParts(text: string, commandSet: CommandSet): ProtectedParts | null {
  const manifest = parseManifest(text);
  if (manifest === null) return null;

  const toolSettings: Record<string, string> = {};
  for (const key of denoToolKeys) {
    if (Object.hasOwn(manifest, key)) toolSettings[key] = JSON.stringify(manifest[key]);
  }

  return {
    ...extractTasks(manifest["tasks"], "scripts.", commandSet),
    ...toolSettings,
    ...parseWorkspacesField(manifest["workspace"]),
  };
}

/** Null if the text is no JSON object. */
export function extractNxParts(text: string, commandSet: CommandSet): ProtectedParts | null {
  const manifest = parseManifest(text);
  return manifest === null ? null : extractTasks(manifest["targets"], "target ", commandSet);
}

/** The tasks that test by their names, and those that a check's command names. */
function extractTasks(tasks: unknown, prefix: string, commandSet: CommandSet): ProtectedParts {
  if (!isRecord(tasks)) return {};
  const commandWords = new Set(
    commandSet.usedCommands.flatMap((command) => command.split(/[\s;&|:]+/)),
  );
  const parts: Record<string, string> = {};

  for (const [name, task] of Object.entries(tasks)) {
    if (!testTaskName.test(name) && !commandWords.has(name)) continue;
    parts[`${prefix}${name}`] = typeof task === "string" ? task : JSON.stringify(task);
  }

  return parts;
}

function parseManifest(text: string): Readonly<Record<string, unknown>> | null {
  const manifest = parseJsonc(text);
  return isRecord(manifest) ? manifest : null;
}
