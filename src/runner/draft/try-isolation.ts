// try-isolation: tests the isolation that a run would have.

import type { IsolationInForce } from "../../contracts/event.ts";
import type { ProjectPaths } from "../../project/runs/project-paths.ts";
import { openIsolation } from "./open-isolation.ts";
import { createTemporaryFolder } from "../../workspace/temporary-folder.ts";
import { eraseSync } from "../../workspace/folder.ts";

const testedIsolations = new Map<string, Promise<IsolationInForce>>();

/**
 * Tests the isolation a run would have, in a temporary folder, once in this process; refuses if it
 * does not hold.
 */
export function tryIsolation(requested: string, paths: ProjectPaths): Promise<IsolationInForce> {
  const key = JSON.stringify([requested, paths.root]);
  const testing = testedIsolations.get(key) ?? testIsolation(requested, paths);
  testedIsolations.set(key, testing);

  return testing;
}

async function testIsolation(requested: string, paths: ProjectPaths): Promise<IsolationInForce> {
  const folder = await createTemporaryFolder("isolation");
  try {
    const { level, mechanism, enforced, not_enforced } = await openIsolation(
      requested,
      paths,
      folder,
    );

    return { level, mechanism, enforced: [...enforced], not_enforced: [...not_enforced] };
  } finally {
    eraseSync(folder);
  }
}
