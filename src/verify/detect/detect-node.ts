// detect-node: detects the scripts of package.json and the package manager to run them with.

import {
  type DetectedChecks,
  type DetectWarning,
  isRecord,
  createProjectCheck,
  type Tree,
  detectFromManifest,
  toWarning,
} from "./manifest.ts";

const file = "package.json";
const scriptNames = ["typecheck", "lint", "build", "test"] as const;
const lockFiles = [
  ["pnpm-lock.yaml", "pnpm"],
  ["yarn.lock", "yarn"],
  ["bun.lock", "bun"],
  ["bun.lockb", "bun"],
  ["package-lock.json", "npm"],
  ["npm-shrinkwrap.json", "npm"],
] as const;

/** The scripts of package.json, run with the package manager that the lock file names. */
export function detectNode(tree: Tree): DetectedChecks {
  return detectFromManifest(tree, file, (text) => {
    const manifest: unknown = JSON.parse(text);
    if (!isRecord(manifest)) return toWarning(file, "expected an object");
    const { scripts = {}, packageManager } = manifest;
    if (!isRecord(scripts)) return toWarning(file, "scripts: expected an object");
    const { manager, warnings } = choosePackageTool(tree, packageManager);
    const nonTextScripts = scriptNames.filter(
      (name) => Object.hasOwn(scripts, name) && typeof scripts[name] !== "string",
    );

    const checks = scriptNames
      .filter((name) => Object.hasOwn(scripts, name) && isUsableScript(scripts[name]))
      .map((name) =>
        createProjectCheck(
          `${manager}-${name}`,
          `${manager} run ${name}`,
          `${file} scripts.${name}`,
        ),
      );

    return {
      checks,
      warnings: [
        ...warnings,
        ...nonTextScripts.map((name) => ({ file, reason: `scripts.${name}: expected text` })),
      ],
    };
  });
}

/** npm writes a test script that always fails into every new package; it means nothing. */
function isUsableScript(script: unknown): boolean {
  return (
    typeof script === "string" && script.trim() !== "" && !script.includes("no test specified")
  );
}

/**
 * By the lock file; if there are several, by the one that `packageManager` confirms. Without a lock
 * file `packageManager` decides.
 */
function choosePackageTool(
  tree: Tree,
  declared: unknown,
): { readonly manager: string; readonly warnings: readonly DetectWarning[] } {
  const lockTools = [
    ...new Set(lockFiles.filter(([lock]) => tree.files.has(lock)).map(([, manager]) => manager)),
  ];

  const declaredTool =
    typeof declared === "string" ? /^(npm|pnpm|yarn|bun)@/.exec(declared)?.[1] : undefined;
  const confirmedTool = lockTools.find((manager) => manager === declaredTool);
  const manager = confirmedTool ?? lockTools[0] ?? declaredTool ?? "npm";
  const isAmbiguous = lockTools.length > 1 && confirmedTool === undefined;

  return {
    manager,
    warnings: isAmbiguous
      ? [{ file, reason: `lock files of ${lockTools.join(" and ")}; ${manager} is used` }]
      : [],
  };
}
