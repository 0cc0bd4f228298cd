// workspace-parts: makes each package of a monorepo a protected part: a package that is left out of
// the list is no longer tested.

import { isRecord } from "../../detect/manifest.ts";
import { maskText } from "../mask-text.ts";
import type { ProtectedParts } from "./protected-parts.ts";

/** The prefix of these parts' names. */
export const workspacePartPrefix = "workspace ";
const packagesMax = 2_000;

/** Makes each package or pattern a part of its own: adding one is harmless, removing one is not. */
export function toWorkspaceParts(names: readonly unknown[]): ProtectedParts {
  const parts: Record<string, string> = {};
  for (const name of names.slice(0, packagesMax)) {
    const text = typeof name === "string" ? trimPath(name) : JSON.stringify(name);
    parts[`${workspacePartPrefix}${text}`] = "listed";
  }

  return parts;
}

/** `packages/a` of `./packages/a/`. */
const trimPath = (path: string): string => path.replace(/^\.\/(?=.)|(?<=.)\/$/g, "");

/** Whether a part excludes packages: `workspace !packages/old`. */
export const isExclusion = (partName: string): boolean =>
  partName.startsWith(`${workspacePartPrefix}!`);

/**
 * The `packages` of pnpm-workspace.yaml, read line by line: an agent's file could keep a full YAML
 * parser busy for long.
 */
export function parsePnpmWorkspace(text: string): ProtectedParts {
  const names: string[] = [];
  let isInPackages = false;

  for (const line of text.split("\n")) {
    const content = line.replace(/\s#.*$/, "").trimEnd();
    const inlineList = /^packages:\s*\[(.*)\]$/.exec(content)?.[1];
    if (inlineList !== undefined) names.push(...inlineList.split(","));

    if (/^\S/.test(content) && !content.startsWith("-")) {
      isInPackages = /^packages:\s*$/.test(content);
    } else if (isInPackages) {
      names.push(/^\s*-\s+(.*)$/.exec(content)?.[1] ?? "");
    }
  }

  const unquotedNames = names.map((name) => name.trim().replaceAll(/^["']|["']$/g, ""));
  return toWorkspaceParts(unquotedNames.filter((name) => name !== ""));
}

/** The `workspaces` of package.json: a list, or an object with one. */
export function parseWorkspacesField(value: unknown): ProtectedParts {
  const names = isRecord(value) ? value["packages"] : value;
  return Array.isArray(names) ? toWorkspaceParts(names) : {};
}

/** `include(":app", ":lib:core")` of settings.gradle. */
export function findGradleProjects(text: string): ProtectedParts {
  const code = maskText(text, "java", "comments");
  const projects = [...code.matchAll(/["'](:[\w:.-]{1,200})["']/g)];
  return toWorkspaceParts(projects.map(([, name = ""]) => name));
}

/** `use ./tools` of go.work, and the lines of its block. */
export function findGoWorkspaces(text: string): ProtectedParts {
  const folders = [...text.matchAll(/^\s*(?:use\s+)?(\.[\w./-]{0,200})\s*$/gm)];
  return toWorkspaceParts(folders.map(([, path = ""]) => path));
}
