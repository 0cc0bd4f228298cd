// deciding-workspace: lists the packages of a monorepo, as parts that decide: a package that is
// left out is no longer tested.

import { isRecord } from "../detect/manifest.ts";
import type { DecidingParts } from "./command-set.ts";

/** The prefix of these parts' names. */
export const workspacePrefix = "workspace ";
const listMax = 2_000;

/** Makes each package or pattern a part of its own: adding one is harmless, removing one is not. */
export function listWorkspaces(names: readonly unknown[]): DecidingParts {
  const texts = names
    .slice(0, listMax)
    .map((name) =>
      typeof name === "string" ? name.replace(/^\.\/(?=.)|(?<=.)\/$/g, "") : JSON.stringify(name),
    );
  return Object.fromEntries(texts.map((name) => [`${workspacePrefix}${name}`, "listed"]));
}

/** Whether a new part excludes packages: `workspace !packages/old`. */
export const isNarrowing = (name: string): boolean => name.startsWith(`${workspacePrefix}!`);

/**
 * The `packages` of pnpm-workspace.yaml, read line by line: an agent's file could keep a full YAML
 * parser busy for long.
 */
export function parsePnpmPackages(text: string): DecidingParts {
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

  return listWorkspaces(
    names.map((name) => name.trim().replaceAll(/^["']|["']$/g, "")).filter((name) => name !== ""),
  );
}

/** The `workspaces` of package.json: a list, or an object with one. */
export function parseWorkspaces(value: unknown): DecidingParts {
  const names = isRecord(value) ? value["packages"] : value;
  return Array.isArray(names) ? listWorkspaces(names) : {};
}
