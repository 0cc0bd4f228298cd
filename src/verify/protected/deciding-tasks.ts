// deciding-tasks: the parts of deno.json and of Nx's project.json that decide: tasks that test, and what configures tools.

import { parseJsonc } from "../detect/jsonc.ts";
import { isRecord } from "../detect/manifest.ts";
import type { Deciding, Named } from "./named.ts";
import { workspacesOf } from "./deciding-workspace.ts";

const judging = /^(?:tests?|unit|e2e|spec|lint|checks?|type-?checks?|build|verify|validate|ci|cov|coverage|fmt|format)(?:[:._-].*)?$/;
const tools = ["test", "lint", "fmt", "compilerOptions", "exclude", "nodeModulesDir"];

export function decidingDeno(text: string, named: Named): Deciding | null {
  const manifest = read(text);
  if (manifest === null) return null;
  return {
    ...chosen(manifest["tasks"], "scripts.", named),
    ...Object.fromEntries(tools.flatMap((key) => (Object.hasOwn(manifest, key) ? [[key, JSON.stringify(manifest[key])] as const] : []))),
    ...workspacesOf(manifest["workspace"]),
  };
}

export function decidingNx(text: string, named: Named): Deciding | null {
  const manifest = read(text);
  return manifest === null ? null : chosen(manifest["targets"], "target ", named);
}

/** Tasks by their names, and those that a deciding command names. */
function chosen(tasks: unknown, prefix: string, named: Named): Deciding {
  if (!isRecord(tasks)) return {};
  const asked = new Set(named.used.flatMap((command) => command.split(/[\s;&|:]+/)));
  const found = Object.entries(tasks).filter(([name]) => judging.test(name) || asked.has(name));
  return Object.fromEntries(found.map(([name, task]) => [`${prefix}${name}`, typeof task === "string" ? task : JSON.stringify(task)]));
}

function read(text: string): Readonly<Record<string, unknown>> | null {
  const manifest = parseJsonc(text);
  return isRecord(manifest) ? manifest : null;
}
