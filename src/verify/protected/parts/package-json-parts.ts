// package-json-parts: extracts the protected parts of package.json and composer.json: the scripts
// that checks run, and settings of tools. Work that changes one of them has changed what judges it
// (judge.ts).

import { isRecord } from "../../detect/manifest.ts";
import type { CommandSet } from "../command-set.ts";
import { testScriptName } from "./part-patterns.ts";
import type { ProtectedParts } from "./protected-parts.ts";
import { isExclusion, parseWorkspacesField, workspacePartPrefix } from "./workspace-parts.ts";

/** The fields that configure a tool. */
export const toolFields: readonly string[] = [
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
/** Scripts that a package manager runs while it installs. */
const installScripts: readonly string[] = [
  "preinstall",
  "install",
  "postinstall",
  "prepare",
  "preprepare",
  "postprepare",
];
/** `npm run build`, `yarn test`: the name of the script. */
const scriptCall =
  /\b(?:npm|pnpm|yarn|bun|composer)\s+(?:-\S+\s+)*(?:run(?:-script)?\s+)?(?:-\S+\s+)*([\w:.@/-]+)/g;

export type Manifest = { readonly [key: string]: unknown };

/** Null if the text is no JSON object. */
export function extractPackageJsonParts(
  text: string,
  commandSet: CommandSet,
): ProtectedParts | null {
  const manifest = parsePackageJson(text);
  if (manifest === null) return null;
  const scripts = readScripts(manifest);
  const isProtected = createScriptFilter(scripts, commandSet);
  const parts: Record<string, string> = { ...parseWorkspacesField(manifest["workspaces"]) };

  for (const [name, script] of Object.entries(scripts)) {
    if (isProtected(name)) parts[`scripts.${name}`] = toText(script);
  }

  for (const field of toolFields) {
    if (Object.hasOwn(manifest, field)) parts[field] = toText(manifest[field]);
  }

  return parts;
}

/**
 * Returns a predicate: a script is protected for its name, or because a check's command runs it,
 * directly or through others.
 */
export function createScriptFilter(
  scripts: Manifest,
  commandSet: CommandSet,
): (name: string) => boolean {
  const reachedScripts = followScripts(scripts, commandSet.commands);
  const isRunByChecks = (name: string): boolean =>
    testScriptName.test(name) || reachedScripts.has(name);

  return (name) =>
    isRunByChecks(name) ||
    isRunByChecks(name.replace(/^(?:pre|post)/, "")) ||
    (commandSet.restores && installScripts.includes(name));
}

/** The scripts that these commands run, and those that they run in turn. */
function followScripts(scripts: Manifest, commands: readonly string[]): ReadonlySet<string> {
  const reached = new Set<string>();
  const queue = [...commands];

  for (let command = queue.pop(); command !== undefined; command = queue.pop()) {
    for (const name of findScriptNames(command)) {
      if (reached.has(name) || !Object.hasOwn(scripts, name)) continue;
      reached.add(name);
      queue.push(toText(scripts[name]));
    }
  }

  return reached;
}

/** `build` of `npm run build`, `test` of `yarn test` and `npm t`. */
function findScriptNames(command: string): readonly string[] {
  const names = [...command.matchAll(scriptCall)].map(([, name = ""]) => name);
  return names.map((name) => (name === "t" || name === "tst" ? "test" : name));
}

/**
 * Whether a new part changes what checks run: it hooks into an existing script, or into installing,
 * or a check's command runs it and it cannot fail.
 */
export function isHook(
  partName: string,
  before: ProtectedParts,
  commandSet: CommandSet,
  text: string,
): boolean {
  if (partName.startsWith(workspacePartPrefix)) return isExclusion(partName);
  const script = partName.replace(/^scripts\./, "");
  const isToolField = script === partName;
  if (isToolField) return true;

  const isRun = commandSet.commands.some((command) => findScriptNames(command).includes(script));
  if (isRun && cannotFail(text)) return true;
  if (commandSet.restores && installScripts.includes(script)) return true;

  const hookedScript = /^(?:pre|post)(.+)$/.exec(script)?.[1];
  return hookedScript !== undefined && Object.hasOwn(before, `scripts.${hookedScript}`);
}

/** `vitest run` in `vitest run && node scripts/links.js`. */
export const extendsScript = (before: string, after: string): boolean =>
  before !== "" && (after.startsWith(`${before} && `) || after.endsWith(` && ${before}`));

const scriptCharsMax = 1000;
/** `true`, `exit 0`, `echo ok && true`. */
const doesNothing =
  /^(?:true|:|exit(?: 0)?|(?:echo|printf)\b[^;&|`$]*)(?:(?:;|&&) ?(?:true|exit 0))?$/;
/** `eslint . || true`, `vitest; exit 0`. */
const ignoresFailure = /(?:\|\||;) ?(?:true|exit 0|:)$/;

/** Whether a script passes in every project. */
function cannotFail(text: string): boolean {
  const script = text.replaceAll(/\s+/g, " ").trim();
  if (script.length > scriptCharsMax) return false;
  return doesNothing.test(script) || ignoresFailure.test(script);
}

export function parsePackageJson(text: string): Manifest | null {
  try {
    const manifest: unknown = JSON.parse(text.replace(/^\ufeff/, ""));
    return isRecord(manifest) ? manifest : null;
  } catch {
    return null;
  }
}

export const readScripts = (manifest: Manifest): Manifest =>
  isRecord(manifest["scripts"]) ? manifest["scripts"] : {};

export const toText = (value: unknown): string =>
  typeof value === "string" ? value : JSON.stringify(value);
