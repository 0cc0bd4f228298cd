// held-landings: lists the queues of finished work that only a person can unblock, because the
// branch is gone, say, or its checkout has uncommitted changes.

import { type HeldBranchView, type PortfolioView, toQueueKey, type TaskView } from "./state.ts";

export type HeldLanding = { readonly held: HeldBranchView; readonly tasks: readonly TaskView[] };

/** Only queues in which a task waits. */
export function listHeldLandings(state: PortfolioView): readonly HeldLanding[] {
  const obstacles = Object.values(state.held);
  if (obstacles.length === 0) return [];
  const queued = Object.values(state.tasks).filter(({ stage }) => stage === "queued");

  return obstacles.flatMap((held) => {
    const tasks = queued.filter(
      ({ project_id }) => toQueueKey(state.projects[project_id]) === toQueueKey(held),
    );
    return tasks.length === 0 ? [] : [{ held, tasks }];
  });
}
