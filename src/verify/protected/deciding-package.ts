// deciding-package: extracts the parts of package.json and composer.json that decide what a check
// does (the scripts that checks run, settings of tools), and puts the earlier ones back into a later
// file. Work that changes one of them has changed what judges it (judge.ts).

import { isRecord } from "../detect/manifest.ts";
import { isNarrowing, workspacePrefix, parseWorkspaces } from "./deciding-workspace.ts";
import type { DecidingParts, CommandSet } from "./command-set.ts";

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
/** Scripts that test by their name, even if no command runs them. */
const judgingScript =
  /^(?:pre|post)?(?:tests?|unit|e2e|spec|lint|checks?|type-?checks?|types|tsc|build|verify|validate|ci|cov|cover|coverage|format|fmt)(?:[:._-].*)?$/;
/** Scripts that a package manager runs while it installs. */
const lifecycle = ["preinstall", "install", "postinstall", "prepare", "preprepare", "postprepare"];

type Manifest = { readonly [key: string]: unknown };

/** Null if the text is no JSON object. */
export function extractPackageParts(text: string, commandSet: CommandSet): DecidingParts | null {
  const manifest = parseManifest(text);
  if (manifest === null) return null;
  const scripts = readScripts(manifest);
  const isJudging = createJudgingFilter(scripts, commandSet);

  return Object.fromEntries([
    ...Object.entries(parseWorkspaces(manifest["workspaces"])),
    ...Object.entries(scripts).flatMap(([name, script]) =>
      isJudging(name) ? [[`scripts.${name}`, toText(script)] as const] : [],
    ),
    ...toolKeys.flatMap((key) =>
      Object.hasOwn(manifest, key) ? [[key, toText(manifest[key])] as const] : [],
    ),
  ]);
}

/** Whether a script passes in every project: `true`, `echo ok`, `eslint . || true`. */
function cannotFail(text: string): boolean {
  const script = text.replaceAll(/\s+/g, " ").trim();
  if (script.length > scriptCharsMax) return false;
  return /^(?:true|:|exit(?: 0)?|(?:echo|printf)\b[^;&|`$]*)(?:(?:;|&&) ?(?:true|exit 0))?$|(?:\|\||;) ?(?:true|exit 0|:)$/.test(
    script,
  );
}
const scriptCharsMax = 1000;

/**
 * Whether a new script changes what is run: it hooks into an existing one, or into restoring, or a
 * deciding command runs it and it cannot fail.
 */
export function isHook(
  name: string,
  before: DecidingParts,
  commandSet: CommandSet,
  text = "",
): boolean {
  if (name.startsWith(workspacePrefix)) return isNarrowing(name);
  const script = name.replace(/^scripts\./, "");
  if (script === name) return true; // a tool's settings
  if (
    cannotFail(text) &&
    commandSet.commands.some((command) => findScriptNames(command).includes(script))
  ) {
    return true;
  }

  if (commandSet.restores && lifecycle.includes(script)) return true;
  const hookedScript = /^(?:pre|post)(.+)$/.exec(script)?.[1];
  return hookedScript !== undefined && Object.hasOwn(before, `scripts.${hookedScript}`);
}

/**
 * The later file with the earlier one's deciding parts; null if impossible. `withPackages`: with
 * the earlier dependencies too, because the lock file is the earlier one.
 */
export function mergePackage(
  before: string,
  after: string,
  commandSet: CommandSet,
  withPackages: boolean,
): string | null {
  const [baseManifest, laterManifest] = [parseManifest(before), parseManifest(after)];
  if (baseManifest === null || laterManifest === null) return null;
  const baseParts = extractPackageParts(before, commandSet) ?? {};
  const [baseScripts, laterScripts] = [readScripts(baseManifest), readScripts(laterManifest)];
  const isJudging = createJudgingFilter(baseScripts, commandSet);
  const isHarmlessNew = (name: string, script: unknown): boolean =>
    !Object.hasOwn(baseScripts, name) &&
    !isHook(`scripts.${name}`, baseParts, commandSet, toText(script));

  const scripts = [
    ...Object.entries(laterScripts).filter(
      ([name, script]) => !isJudging(name) || isHarmlessNew(name, script),
    ),
    ...Object.entries(baseScripts).filter(([name]) => isJudging(name)),
  ];

  const areFewer = hasFewerWorkspaces(
    parseWorkspaces(baseManifest["workspaces"]),
    parseWorkspaces(laterManifest["workspaces"]),
  );
  const baseKeys = [
    ...toolKeys,
    ...(areFewer ? ["workspaces"] : []),
    ...(withPackages ? dependencyKeys : []),
  ];

  const merged = [
    ...Object.entries(laterManifest).filter(
      ([key]) => !baseKeys.includes(key) && key !== "scripts",
    ),
    ...baseKeys.flatMap((key) =>
      Object.hasOwn(baseManifest, key) ? [[key, baseManifest[key]] as const] : [],
    ),
    ...(scripts.length === 0 ? [] : [["scripts", Object.fromEntries(scripts)] as const]),
  ];

  return `${JSON.stringify(Object.fromEntries(merged), null, 2)}\n`;
}

const hasFewerWorkspaces = (before: DecidingParts, after: DecidingParts): boolean =>
  Object.keys(before).some((name) => after[name] === undefined) ||
  Object.keys(after).some((name) => isNarrowing(name) && before[name] === undefined);

/**
 * Returns a predicate: a script judges by its name, or because a deciding command runs it, directly
 * or through others.
 */
function createJudgingFilter(scripts: Manifest, commandSet: CommandSet): (name: string) => boolean {
  const reachedScripts = new Set<string>();
  for (const queue = [...commandSet.commands]; queue.length > 0;) {
    for (const name of findScriptNames(queue.pop() ?? "")) {
      if (reachedScripts.has(name) || !Object.hasOwn(scripts, name)) continue;
      reachedScripts.add(name);
      queue.push(toText(scripts[name]));
    }
  }

  const isJudgingName = (name: string): boolean =>
    judgingScript.test(name) || reachedScripts.has(name);
  return (name) =>
    isJudgingName(name) ||
    isJudgingName(name.replace(/^(?:pre|post)/, "")) ||
    (commandSet.restores && lifecycle.includes(name));
}

/** `build` of `npm run build`, `test` of `yarn test` and `npm t`. */
function findScriptNames(command: string): readonly string[] {
  return [
    ...command.matchAll(
      /\b(?:npm|pnpm|yarn|bun|composer)\s+(?:-\S+\s+)*(?:run(?:-script)?\s+)?(?:-\S+\s+)*([\w:.@/-]+)/g,
    ),
  ].flatMap(([, name = ""]) => (name === "t" || name === "tst" ? ["test"] : [name]));
}

function parseManifest(text: string): Manifest | null {
  try {
    const manifest: unknown = JSON.parse(text.replace(/^\ufeff/, ""));
    return isRecord(manifest) ? manifest : null;
  } catch {
    return null;
  }
}

const readScripts = (manifest: Manifest): Manifest =>
  isRecord(manifest["scripts"]) ? manifest["scripts"] : {};
const toText = (value: unknown): string =>
  typeof value === "string" ? value : JSON.stringify(value);
