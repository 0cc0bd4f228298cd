// new-commands: finds what a check's command asks for and the base has not: the rule behind `make
// check-all`, the script behind `npm run lint`. Nothing of the base can judge in its place.

import type { Difference } from "../ports/workspace.ts";
import { listMakeTargets, makefileNames, parseScripts } from "./gates/named-commands.ts";
import { findRequestedTargets } from "./protected/parts/makefile-parts.ts";

type ReadText = (side: "base" | "work", path: string) => Promise<string | null>;
type Changed = readonly Pick<Difference, "path">[];

/** `make check-all`, `npm run lint`, in backticks. */
export async function findNewCommands(
  command: string,
  differences: Changed,
  readText: ReadText,
): Promise<readonly string[]> {
  return [
    ...(await listNewTargets(command, differences, readText)),
    ...(await listNewScripts(command, differences, readText)),
  ];
}

async function listNewTargets(
  command: string,
  differences: Changed,
  readText: ReadText,
): Promise<readonly string[]> {
  const path = makefileNames.find((name) => differences.some((one) => one.path === name));
  if (path === undefined) return [];
  const before = new Set(listMakeTargets((await readText("base", path)) ?? ""));
  const now = new Set(listMakeTargets((await readText("work", path)) ?? ""));
  return findRequestedTargets({ commands: [command] })
    .filter((target) => now.has(target) && !before.has(target))
    .map((target) => `\`make ${target}\``);
}

async function listNewScripts(
  command: string,
  differences: Changed,
  readText: ReadText,
): Promise<readonly string[]> {
  if (!differences.some(({ path }) => path === "package.json")) return [];
  const before = new Set(parseScripts((await readText("base", "package.json")) ?? "{}"));
  const now = new Set(parseScripts((await readText("work", "package.json")) ?? "{}"));
  return [...command.matchAll(/\b(npm|pnpm|yarn|bun)\s+(run\s+)?(?:-\S+\s+)*([\w:.-]+)/g)]
    .filter(([, , , name = ""]) => now.has(name) && !before.has(name))
    .map(([, program = "", run = "", name = ""]) => `\`${program} ${run}${name}\``);
}
