// make-clone: a clone of a project's hub in the portfolio's folder, for a machine that has none. It is there whole or not at all.

import { existsSync, mkdirSync, realpathSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
import { eraseSync } from "../../workspace/folder.ts";
import { cloneHub } from "../../workspace/git/transfer.ts";
import type { PortfolioView } from "../planner/state.ts";
import { readClones, writeClones } from "../store/clones.ts";
import type { PortfolioPaths } from "../store/folder.ts";

/** Named after the first project that works in it. Throws a WorkspaceFailed, `hub_unreachable`. */
export async function makeClone(
  paths: PortfolioPaths,
  { projects }: Pick<PortfolioView, "projects">,
  repository: string,
  hub: string,
): Promise<string> {
  const project = Object.values(projects).find((one) => one.repository === repository);
  const folder = join(paths.root, "clones", project?.project_id ?? "other");
  if (!existsSync(folder)) {
    const draft = `${folder}.new`;
    eraseSync(draft);
    mkdirSync(dirname(folder), { recursive: true });
    await cloneHub(hub, project?.target ?? "main", draft);
    renameSync(draft, folder);
  }
  const clone = realpathSync(folder);
  writeClones(paths, { ...readClones(paths), [repository]: clone });
  return clone;
}
