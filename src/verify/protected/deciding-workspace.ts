// deciding-workspace: which packages a repository of several is made of. One that is left out is not tested any more.

import { isRecord } from "../detect/manifest.ts";
import type { Deciding } from "./named.ts";

/** What the names of these parts begin with. */
export const workspaces = "workspace ";
const listMax = 2_000;

/** Each package or pattern by itself: one more is nobody's loss, one less is. */
export function listed(names: readonly unknown[]): Deciding {
  const texts = names
    .slice(0, listMax)
    .map((name) => (typeof name === "string" ? name.replace(/^\.\/(?=.)|(?<=.)\/$/g, "") : JSON.stringify(name)));
  return Object.fromEntries(texts.map((name) => [`${workspaces}${name}`, "listed"]));
}

/** Whether a name that was not there leaves something out. */
export const isNarrowing = (name: string): boolean => name.startsWith(`${workspaces}!`);

/** The `packages` of pnpm-workspace.yaml, by its lines: a reader of all of YAML could be kept busy by whoever wrote the file. */
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

/** The `workspaces` of package.json: a list, or an object that holds one. */
export function workspacesOf(value: unknown): Deciding {
  const names = isRecord(value) ? value["packages"] : value;
  return Array.isArray(names) ? listed(names) : {};
}
