// detect-deno: detects the check, lint and test tasks of deno.json.

import { parseJsonc } from "./jsonc.ts";
import {
  type DetectedChecks,
  isRecord,
  createProjectCheck,
  type Tree,
  detectFromManifest,
  toWarning,
} from "./manifest.ts";

/** The tasks `check`, `lint` and `test` of deno.json. */
export function detectDeno(tree: Tree): DetectedChecks {
  const file = ["deno.json", "deno.jsonc"].find((name) => tree.files.has(name)) ?? "deno.json";
  return detectFromManifest(tree, file, (text) => {
    const manifest = parseJsonc(text);
    if (!isRecord(manifest)) return toWarning(file, "expected an object");
    const { tasks = {} } = manifest;
    if (!isRecord(tasks)) return toWarning(file, "tasks: expected an object");
    const usedTasks = ["check", "lint", "test"].filter((name) => Object.hasOwn(tasks, name));

    return {
      checks: usedTasks.map((name) =>
        createProjectCheck(`deno-${name}`, `deno task ${name}`, `${file} tasks.${name}`),
      ),
      warnings: [],
    };
  });
}
