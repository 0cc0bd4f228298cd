// restore-package-json: puts the protected parts of the base's package.json or composer.json back
// into a later one, so that checks run as they did.

import type { CommandSet } from "../command-set.ts";
import {
  createScriptFilter,
  extractPackageJsonParts,
  isHook,
  type Manifest,
  parsePackageJson,
  readScripts,
  toolFields,
  toText,
} from "./package-json-parts.ts";
import type { ProtectedParts } from "./protected-parts.ts";
import { isExclusion, parseWorkspacesField } from "./workspace-parts.ts";

/** The fields from which dependencies are installed. */
const dependencyFields: readonly string[] = [
  "dependencies",
  "devDependencies",
  "optionalDependencies",
  "peerDependencies",
  "bundleDependencies",
  "overrides",
  "resolutions",
  "pnpm",
  "workspaces",
  "packageManager",
  "require",
  "require-dev",
];

/**
 * Null if one of the texts is no JSON object. `withDependencies`: restores dependencies too, because
 * the lock file is the base's.
 */
export function restorePackageJson(
  before: string,
  after: string,
  commandSet: CommandSet,
  withDependencies: boolean,
): string | null {
  const base = parsePackageJson(before);
  const later = parsePackageJson(after);
  if (base === null || later === null) return null;

  const baseParts = extractPackageJsonParts(before, commandSet) ?? {};
  const scripts = restoreScripts(readScripts(base), readScripts(later), baseParts, commandSet);
  const restoredFields = [
    ...toolFields,
    ...(hasFewerWorkspaces(base, later) ? ["workspaces"] : []),
    ...(withDependencies ? dependencyFields : []),
  ];

  const keptEntries = Object.entries(later).filter(
    ([field]) => field !== "scripts" && !restoredFields.includes(field),
  );
  const baseEntries = restoredFields
    .filter((field) => Object.hasOwn(base, field))
    .map((field) => [field, base[field]] as const);
  const scriptEntries = scripts.length === 0 ? [] : [["scripts", Object.fromEntries(scripts)]];

  const restored: unknown = Object.fromEntries([...keptEntries, ...baseEntries, ...scriptEntries]);
  return `${JSON.stringify(restored, null, 2)}\n`;
}

/** The later scripts that no check runs, and the base's that checks run. */
function restoreScripts(
  base: Manifest,
  later: Manifest,
  baseParts: ProtectedParts,
  commandSet: CommandSet,
): readonly (readonly [string, unknown])[] {
  const isProtected = createScriptFilter(base, commandSet);
  const isHarmlessAddition = (name: string, script: unknown): boolean =>
    !Object.hasOwn(base, name) && !isHook(`scripts.${name}`, baseParts, commandSet, toText(script));

  const laterScripts = Object.entries(later).filter(
    ([name, script]) => !isProtected(name) || isHarmlessAddition(name, script),
  );
  const baseScripts = Object.entries(base).filter(([name]) => isProtected(name));
  return [...laterScripts, ...baseScripts];
}

/** Whether the later manifest drops or excludes packages of the workspace. */
function hasFewerWorkspaces(base: Manifest, later: Manifest): boolean {
  const before = parseWorkspacesField(base["workspaces"]);
  const after = parseWorkspacesField(later["workspaces"]);

  return (
    Object.keys(before).some((name) => after[name] === undefined) ||
    Object.keys(after).some((name) => isExclusion(name) && before[name] === undefined)
  );
}
