// make-clone: clones a project's repository from its hub into the portfolio's folder, on a machine
// that has none. The clone is complete or absent.

import { existsSync, mkdirSync, realpathSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
import { eraseSync } from "../../workspace/folder.ts";
import { cloneHub } from "../../workspace/git/transfer.ts";
import type { PortfolioView } from "../planner/state.ts";
import { readClones, writeClones } from "../store/clones.ts";
import type { PortfolioPaths } from "../store/folder.ts";

/**
 * The clone's folder is named after the first project that works in it. Throws a WorkspaceFailed if
 * the hub is unreachable.
 */
export async function makeClone(
  paths: PortfolioPaths,
  { projects }: Pick<PortfolioView, "projects">,
  repository: string,
  hub: string,
): Promise<string> {
  const project = Object.values(projects).find((candidate) => candidate.repository === repository);
  const folder = join(paths.root, "clones", project?.project_id ?? "other");
  if (!existsSync(folder)) {
    const temporary = `${folder}.new`;
    eraseSync(temporary);
    mkdirSync(dirname(folder), { recursive: true });
    await cloneHub(hub, project?.target ?? "main", temporary);
    renameSync(temporary, folder);
  }

  const clone = realpathSync(folder);
  writeClones(paths, { ...readClones(paths), [repository]: clone });
  return clone;
}
