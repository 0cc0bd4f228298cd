// held-landings: queues of finished work that a person must let through: the branch is gone, or its checkout has uncommitted changes.

import { type HeldView, type PortfolioView, queueOf, type TaskView } from "./state.ts";

export type HeldLanding = { readonly held: HeldView; readonly tasks: readonly TaskView[] };

/** Those that something waits behind. */
export function heldLandings(state: PortfolioView): readonly HeldLanding[] {
  const holds = Object.values(state.held);
  if (holds.length === 0) return [];
  const queued = Object.values(state.tasks).filter(({ stage }) => stage === "queued");
  return holds.flatMap((held) => {
    const tasks = queued.filter(({ project_id }) => queueOf(state.projects[project_id]) === queueOf(held));
    return tasks.length === 0 ? [] : [{ held, tasks }];
  });
}
