// missing-tools: finds tools that a project's checks need and this machine lacks, with the command
// that installs each. This is done before a run begins, so that a missing tool is never mistaken
// for a failing check.

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { findOnPath } from "../../agents/find-agents.ts";
import type { MissingTool } from "../../views/preview.ts";
import type { Tree } from "../../verify/detect/manifest.ts";
import { type Need, findNeeds } from "../../verify/detect/command-needs.ts";

const probeTimeoutMs = 5_000;

export type ToolSearch = {
  /** Where the user's packages are installed: the checkout. */
  readonly root: string;
  readonly tree: Tree;
  readonly env: Readonly<Record<string, string | undefined>>;
  /**
   * Whether packages are restored from the lock file before checks, so that none need to be
   * installed here.
   */
  readonly isRestored: boolean;
};

/** Finds the tools that are missing, each with the commands that need it. */
export async function findMissingTools(
  commands: readonly string[],
  search: ToolSearch,
): Promise<readonly MissingTool[]> {
  const needs = new Map<string, { need: Need; neededBy: string[] }>();
  for (const command of commands) {
    for (const need of findNeeds(command, search.tree)) {
      const known = needs.get(`${need.kind} ${need.name}`);
      if (known !== undefined) known.neededBy.push(command);
      else needs.set(`${need.kind} ${need.name}`, { need, neededBy: [command] });
    }
  }

  const checked = await Promise.all(
    [...needs.values()].map(async (tool) => ({
      ...tool,
      isInstalled: await isInstalled(tool.need, search),
    })),
  );
  return checked
    .filter((tool) => !tool.isInstalled)
    .map(({ need, neededBy }) => ({ name: need.name, needed_by: neededBy, install: need.install }));
}

async function isInstalled(need: Need, { root, env, isRestored }: ToolSearch): Promise<boolean> {
  if (need.kind === "program") return findOnPath(need.name, env) !== null;
  if (need.kind === "folder") return isRestored || existsSync(join(root, need.name));
  const python = findOnPath(need.python, env);
  if (python === null || isRestored) return true; // a missing interpreter is reported itself; restored modules need not be here
  // Exits with 1 if the module isn't there.
  const probe =
    "import importlib.util, sys; sys.exit(importlib.util.find_spec(sys.argv[1]) is None)";

  try {
    // Isolated: neither the project's files nor the user's packages, since checks have their own
    // HOME.
    await promisify(execFile)(python, ["-I", "-c", probe, need.name], {
      timeout: probeTimeoutMs,
      cwd: "/",
    });

    return true;
  } catch (error) {
    return (error as { code?: unknown }).code !== 1; // an interpreter that can't start says nothing about its modules
  }
}
