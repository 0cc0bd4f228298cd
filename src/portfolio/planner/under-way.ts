// under-way: which tasks are being worked on, and what they hold.

import type { PortfolioView, TaskView } from "./state.ts";

/** Tasks that hold their paths: at work, resting, or waiting to be merged. */
export const unfinished = (state: PortfolioView): readonly TaskView[] =>
  Object.values(state.tasks).filter(({ status }) => status === "running");

/** How many workers each agent has. */
export function workersByAgent(running: readonly TaskView[], standard: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { stage, agent } of running) {
    const name = agentName(agent ?? standard);
    if (stage === "working") counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

/** An agent's name in the settings: `scripted:FILE` is `scripted`. */
export const agentName = (agent: string): string => agent.split(":", 1)[0] ?? agent;
