// try-isolation: tests the isolation a run would have, in a temporary folder, once per command.

import { rmSync } from "node:fs";
import type { IsolationInForce } from "../../contracts/event.ts";
import type { ProjectPaths } from "../../project/runs/project-paths.ts";
import { isolationFor } from "./isolation-for.ts";
import { temporaryFolder } from "../../project/runs/temporary.ts";

const tried = new Map<string, Promise<IsolationInForce>>();

/** Tests the isolation a run would have, in a temporary folder; refused if it does not hold. Once per command. */
export function tryIsolation(wanted: string, paths: ProjectPaths): Promise<IsolationInForce> {
  const key = JSON.stringify([wanted, paths.root]);
  const known = tried.get(key) ?? test(wanted, paths);
  tried.set(key, known);
  return known;
}

async function test(wanted: string, paths: ProjectPaths): Promise<IsolationInForce> {
  const folder = await temporaryFolder("isolation");
  try {
    const { level, mechanism, enforced, not_enforced } = await isolationFor(wanted, paths, folder);
    return { level, mechanism, enforced: [...enforced], not_enforced: [...not_enforced] };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
