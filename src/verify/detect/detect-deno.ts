// detect-deno: detects the check, lint and test tasks of deno.json.

import { parseJsonc } from "./jsonc.ts";
import { type Detected, isRecord, projectCheck, type Tree, useManifest, warning } from "./manifest.ts";

/** The tasks `check`, `lint` and `test` of deno.json. */
export function detectDeno(tree: Tree): Detected {
  const file = ["deno.json", "deno.jsonc"].find((name) => tree.files.has(name)) ?? "deno.json";
  return useManifest(tree, file, (text) => {
    const manifest = parseJsonc(text);
    if (!isRecord(manifest)) return warning(file, "expected an object");
    const { tasks = {} } = manifest;
    if (!isRecord(tasks)) return warning(file, "tasks: expected an object");
    const usedTasks = ["check", "lint", "test"].filter((name) => Object.hasOwn(tasks, name));
    return { checks: usedTasks.map((name) => projectCheck(`deno-${name}`, `deno task ${name}`, `${file} tasks.${name}`)), warnings: [] };
  });
}
