// deciding-workspace: which packages a monorepo consists of. One that is left out is no longer tested.

import { isRecord } from "../detect/manifest.ts";
import type { Deciding } from "./named.ts";

/** The prefix of these parts' names. */
export const workspaces = "workspace ";
const listMax = 2_000;

/** Each package or pattern by itself: adding one is harmless, removing one is not. */
export function listed(names: readonly unknown[]): Deciding {
  const texts = names
    .slice(0, listMax)
    .map((name) => (typeof name === "string" ? name.replace(/^\.\/(?=.)|(?<=.)\/$/g, "") : JSON.stringify(name)));
  return Object.fromEntries(texts.map((name) => [`${workspaces}${name}`, "listed"]));
}

/** Whether a new name excludes something. */
export const isNarrowing = (name: string): boolean => name.startsWith(`${workspaces}!`);

/** The `packages` of pnpm-workspace.yaml, by its lines: a full YAML parser could be kept busy by an agent's file. */
export function packagesIn(text: string): Deciding {
  const names: string[] = [];
  let isOpen = false;
  for (const line of text.split("\n")) {
    const plain = line.replace(/\s#.*$/, "").trimEnd();
    const flow = /^packages:\s*\[(.*)\]$/.exec(plain)?.[1];
    if (flow !== undefined) names.push(...flow.split(","));
    if (/^\S/.test(plain) && !plain.startsWith("-")) isOpen = /^packages:\s*$/.test(plain);
    else if (isOpen) names.push(/^\s*-\s+(.*)$/.exec(plain)?.[1] ?? "");
  }
  return listed(names.map((name) => name.trim().replaceAll(/^["']|["']$/g, "")).filter((name) => name !== ""));
}

/** The `workspaces` of package.json: a list, or an object with one. */
export function workspacesOf(value: unknown): Deciding {
  const names = isRecord(value) ? value["packages"] : value;
  return Array.isArray(names) ? listed(names) : {};
}
