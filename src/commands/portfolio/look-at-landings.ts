// look-at-landings: whether the merge queue could land now, by a look at each repository. Nothing is changed.

import type { Action } from "../../portfolio/planner/plan.ts";
import { queueOf } from "../../portfolio/planner/state.ts";
import { ownedByPortfolio } from "../../portfolio/merge/land-batch.ts";
import { whyHeld } from "../../workspace/landing/land-branch.ts";
import { findRepository } from "../../workspace/git/repository.ts";

/** By queue: what is in the way of its landing. */
export async function lookAtLandings(actions: readonly Action[]): Promise<ReadonlyMap<string, string>> {
  const held = new Map<string, string>();
  for (const action of actions) {
    if (action.do !== "merge") continue;
    const found = await findRepository(action.repository);
    const why = "failure" in found ? found.failure.detail : await whyHeld(found.repository, action.target, ownedByPortfolio);
    if (why !== null) held.set(queueOf(action), why);
  }
  return held;
}
