// own-hub: checks that a hub is of this clone's repository before anything is sent to it. A copy of
// the right hub has the same branches and passes; a run's own commits tell them apart later
// (hub.ts, X5).

import { refuse } from "../project/respond.ts";
import type { Repository } from "../workspace/git/repository.ts";
import type { Hub } from "./hub.ts";
import { readRepositoryId } from "./repository-id.ts";

/** Refuses a hub without this branch, and one whose branch is another repository's. */
export async function requireHubBranch(
  clone: Repository,
  hub: Hub,
  url: string,
  branch: string,
): Promise<void> {
  const tip = await hub.readTip(branch);
  if (tip !== null) return requireOwnCommit(clone, url, branch, tip);
  refuse("hub_unusable", {
    message: `${url} has no branch ${branch}, where the work is to land.`,
    remediation: [`git push ${url} ${branch}, or name another hub (AUTOPILOT_HUB)`],
  });
}

/**
 * Refuses a hub without any branch, and one whose branch of the same name is another repository's.
 * With other branches only it may be ours.
 */
export async function requireOwnHub(clone: Repository, hub: Hub, url: string): Promise<void> {
  const branches = await hub.branches();
  const branch = clone.branch ?? "main";
  if (branches.length === 0 || branches.includes(branch)) {
    await requireHubBranch(clone, hub, url, branch);
  }
}

export async function requireOwnCommit(
  clone: Repository,
  url: string,
  branch: string,
  tip: string,
): Promise<void> {
  if ((await readRepositoryId(clone, tip)) === (await readRepositoryId(clone))) return;
  refuse("hub_unusable", {
    message: `${branch} of ${url} is a branch of another repository than ${clone.root}.`,
    remediation: [
      "name the hub of this repository (AUTOPILOT_HUB, or portfolio edit PROJECT --hub URL)",
    ],
  });
}
