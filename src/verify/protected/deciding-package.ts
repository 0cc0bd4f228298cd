// deciding-package: the parts of package.json and composer.json that decide: the scripts that checks run, and what configures tools.

import { isRecord } from "../detect/manifest.ts";
import { isNarrowing, workspaces, workspacesOf } from "./deciding-workspace.ts";
import type { Deciding, Named } from "./named.ts";

const tools = [
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
const packages = [
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
const judging =
  /^(?:pre|post)?(?:tests?|unit|e2e|spec|lint|checks?|type-?checks?|types|tsc|build|verify|validate|ci|cov|cover|coverage|format|fmt)(?:[:._-].*)?$/;
const lifecycle = ["preinstall", "install", "postinstall", "prepare", "preprepare", "postprepare"];

type Manifest = { readonly [key: string]: unknown };

export function decidingPackage(text: string, named: Named): Deciding | null {
  const manifest = read(text);
  if (manifest === null) return null;
  const scripts = scriptsOf(manifest);
  const isJudging = judgingIn(scripts, named);
  return Object.fromEntries([
    ...Object.entries(workspacesOf(manifest["workspaces"])),
    ...Object.entries(scripts).flatMap(([name, script]) => (isJudging(name) ? [[`scripts.${name}`, words(script)] as const] : [])),
    ...tools.flatMap((key) => (Object.hasOwn(manifest, key) ? [[key, words(manifest[key])] as const] : [])),
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
export function isHook(name: string, before: Deciding, named: Named, text = ""): boolean {
  if (name.startsWith(workspaces)) return isNarrowing(name);
  const script = name.replace(/^scripts\./, "");
  if (script === name) return true;
  if (isPlaceholder(text) && named.commands.some((command) => namesIn(command).includes(script))) return true;
  if (named.restores && lifecycle.includes(script)) return true;
  const hooked = /^(?:pre|post)(.+)$/.exec(script)?.[1];
  return hooked !== undefined && Object.hasOwn(before, `scripts.${hooked}`);
}

/**
 * The later file with the earlier one's deciding parts, and its dependencies too if the lock file is the earlier one; null if impossible.
 */
export function mergedPackage(before: string, after: string, named: Named, withPackages: boolean): string | null {
  const [was, is] = [read(before), read(after)];
  if (was === null || is === null) return null;
  const decides = decidingPackage(before, named) ?? {};
  const isJudging = judgingIn(scriptsOf(was), named);
  const scripts = [
    ...Object.entries(scriptsOf(is)).filter(
      ([name, script]) =>
        !isJudging(name) || (!Object.hasOwn(scriptsOf(was), name) && !isHook(`scripts.${name}`, decides, named, words(script))),
    ),
    ...Object.entries(scriptsOf(was)).filter(([name]) => isJudging(name)),
  ];
  const [listed, left] = [workspacesOf(was["workspaces"]), workspacesOf(is["workspaces"])];
  const isNarrower =
    Object.keys(listed).some((name) => left[name] === undefined) ||
    Object.keys(left).some((name) => isNarrowing(name) && listed[name] === undefined);
  const taken = [...tools, ...(isNarrower ? ["workspaces"] : []), ...(withPackages ? packages : [])];
  const merged = [
    ...Object.entries(is).filter(([key]) => !taken.includes(key) && key !== "scripts"),
    ...taken.flatMap((key) => (Object.hasOwn(was, key) ? [[key, was[key]] as const] : [])),
    ...(scripts.length === 0 ? [] : [["scripts", Object.fromEntries(scripts)] as const]),
  ];
  return `${JSON.stringify(Object.fromEntries(merged), null, 2)}\n`;
}

/** By name, or because a deciding command leads there. */
function judgingIn(scripts: Manifest, named: Named): (name: string) => boolean {
  const reached = new Set<string>();
  for (const open = [...named.commands]; open.length > 0;) {
    for (const name of namesIn(open.pop() ?? "")) {
      if (reached.has(name) || !Object.hasOwn(scripts, name)) continue;
      reached.add(name);
      open.push(words(scripts[name]));
    }
  }
  const judges = (name: string): boolean => judging.test(name) || reached.has(name);
  return (name) => judges(name) || judges(name.replace(/^(?:pre|post)/, "")) || (named.restores && lifecycle.includes(name));
}

function namesIn(command: string): readonly string[] {
  return [...command.matchAll(/\b(?:npm|pnpm|yarn|bun|composer)\s+(?:-\S+\s+)*(?:run(?:-script)?\s+)?(?:-\S+\s+)*([\w:.@/-]+)/g)].flatMap(
    ([, name = ""]) => (name === "t" || name === "tst" ? ["test"] : [name]),
  );
}

function read(text: string): Manifest | null {
  try {
    const manifest: unknown = JSON.parse(text.replace(/^\ufeff/, ""));
    return isRecord(manifest) ? manifest : null;
  } catch {
    return null;
  }
}

const scriptsOf = (manifest: Manifest): Manifest => (isRecord(manifest["scripts"]) ? manifest["scripts"] : {});
const words = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
