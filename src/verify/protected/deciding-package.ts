// deciding-package: the parts of package.json and composer.json that decide: the scripts that checks run, and what configures tools.

import { isRecord } from "../detect/manifest.ts";
import { isNarrowing, workspacePrefix, parseWorkspaces } from "./deciding-workspace.ts";
import type { Deciding, CommandSet } from "./command-set.ts";

const toolKeys = [
  "jest",
  "vitest",
  "mocha",
  "ava",
  "nyc",
  "c8",
  "tap",
  "babel",
  "eslintConfig",
  "eslintIgnore",
  "prettier",
  "stylelint",
  "xo",
  "standard",
  "wireit",
];
const dependencyKeys = [
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
const judgingScript =
  /^(?:pre|post)?(?:tests?|unit|e2e|spec|lint|checks?|type-?checks?|types|tsc|build|verify|validate|ci|cov|cover|coverage|format|fmt)(?:[:._-].*)?$/;
const lifecycle = ["preinstall", "install", "postinstall", "prepare", "preprepare", "postprepare"];

type Manifest = { readonly [key: string]: unknown };

export function decidingPackage(text: string, commandSet: CommandSet): Deciding | null {
  const manifest = parseManifest(text);
  if (manifest === null) return null;
  const scripts = scriptsOf(manifest);
  const isJudging = judgingScripts(scripts, commandSet);
  return Object.fromEntries([
    ...Object.entries(parseWorkspaces(manifest["workspaces"])),
    ...Object.entries(scripts).flatMap(([name, script]) => (isJudging(name) ? [[`scripts.${name}`, toText(script)] as const] : [])),
    ...toolKeys.flatMap((key) => (Object.hasOwn(manifest, key) ? [[key, toText(manifest[key])] as const] : [])),
  ]);
}

/** A script with the same result for every project. */
function isPlaceholder(text: string): boolean {
  const script = text.replaceAll(/\s+/g, " ").trim();
  if (script.length > placeholderCharsMax) return false;
  return /^(?:true|:|exit(?: 0)?|(?:echo|printf)\b[^;&|`$]*)(?:(?:;|&&) ?(?:true|exit 0))?$|(?:\|\||;) ?(?:true|exit 0|:)$/.test(script);
}
const placeholderCharsMax = 1000;

/**
 * Whether a new script changes what is run: it hooks into an existing one, or into restoring, or a deciding command runs it and it cannot
 * fail.
 */
export function isHook(name: string, before: Deciding, commandSet: CommandSet, text = ""): boolean {
  if (name.startsWith(workspacePrefix)) return isNarrowing(name);
  const script = name.replace(/^scripts\./, "");
  if (script === name) return true;
  if (isPlaceholder(text) && commandSet.commands.some((command) => scriptNamesIn(command).includes(script))) return true;
  if (commandSet.restores && lifecycle.includes(script)) return true;
  const hookedScript = /^(?:pre|post)(.+)$/.exec(script)?.[1];
  return hookedScript !== undefined && Object.hasOwn(before, `scripts.${hookedScript}`);
}

/**
 * The later file with the earlier one's deciding parts, and its dependencies too if the lock file is the earlier one; null if impossible.
 */
export function mergePackage(before: string, after: string, commandSet: CommandSet, withPackages: boolean): string | null {
  const [baseManifest, laterManifest] = [parseManifest(before), parseManifest(after)];
  if (baseManifest === null || laterManifest === null) return null;
  const baseParts = decidingPackage(before, commandSet) ?? {};
  const isJudging = judgingScripts(scriptsOf(baseManifest), commandSet);
  const scripts = [
    ...Object.entries(scriptsOf(laterManifest)).filter(
      ([name, script]) =>
        !isJudging(name) ||
        (!Object.hasOwn(scriptsOf(baseManifest), name) && !isHook(`scripts.${name}`, baseParts, commandSet, toText(script))),
    ),
    ...Object.entries(scriptsOf(baseManifest)).filter(([name]) => isJudging(name)),
  ];
  const [baseWorkspaces, laterWorkspaces] = [parseWorkspaces(baseManifest["workspaces"]), parseWorkspaces(laterManifest["workspaces"])];
  const isNarrower =
    Object.keys(baseWorkspaces).some((name) => laterWorkspaces[name] === undefined) ||
    Object.keys(laterWorkspaces).some((name) => isNarrowing(name) && baseWorkspaces[name] === undefined);
  const baseKeys = [...toolKeys, ...(isNarrower ? ["workspaces"] : []), ...(withPackages ? dependencyKeys : [])];
  const merged = [
    ...Object.entries(laterManifest).filter(([key]) => !baseKeys.includes(key) && key !== "scripts"),
    ...baseKeys.flatMap((key) => (Object.hasOwn(baseManifest, key) ? [[key, baseManifest[key]] as const] : [])),
    ...(scripts.length === 0 ? [] : [["scripts", Object.fromEntries(scripts)] as const]),
  ];
  return `${JSON.stringify(Object.fromEntries(merged), null, 2)}\n`;
}

/** By name, or because a deciding command leads there. */
function judgingScripts(scripts: Manifest, commandSet: CommandSet): (name: string) => boolean {
  const reachedScripts = new Set<string>();
  for (const queue = [...commandSet.commands]; queue.length > 0;) {
    for (const name of scriptNamesIn(queue.pop() ?? "")) {
      if (reachedScripts.has(name) || !Object.hasOwn(scripts, name)) continue;
      reachedScripts.add(name);
      queue.push(toText(scripts[name]));
    }
  }
  const isJudgingName = (name: string): boolean => judgingScript.test(name) || reachedScripts.has(name);
  return (name) =>
    isJudgingName(name) || isJudgingName(name.replace(/^(?:pre|post)/, "")) || (commandSet.restores && lifecycle.includes(name));
}

function scriptNamesIn(command: string): readonly string[] {
  return [...command.matchAll(/\b(?:npm|pnpm|yarn|bun|composer)\s+(?:-\S+\s+)*(?:run(?:-script)?\s+)?(?:-\S+\s+)*([\w:.@/-]+)/g)].flatMap(
    ([, name = ""]) => (name === "t" || name === "tst" ? ["test"] : [name]),
  );
}

function parseManifest(text: string): Manifest | null {
  try {
    const manifest: unknown = JSON.parse(text.replace(/^\ufeff/, ""));
    return isRecord(manifest) ? manifest : null;
  } catch {
    return null;
  }
}

const scriptsOf = (manifest: Manifest): Manifest => (isRecord(manifest["scripts"]) ? manifest["scripts"] : {});
const toText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
