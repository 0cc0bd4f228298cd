// under-way: which tasks are running, which agents may work on a task, and which of those are at
// their provider's limit.

import { parseIsoTime } from "../../kit/iso-time.ts";
import type { PortfolioView, TaskView } from "./state.ts";

/**
 * Running tasks: at work, resting, or waiting to be merged. No overlapping task starts beside them.
 */
export const listRunningTasks = (state: PortfolioView): readonly TaskView[] =>
  Object.values(state.tasks).filter(({ status }) => status === "running");

/** How many workers each agent has. */
export function countWorkersByAgent(
  state: PortfolioView,
  running: readonly TaskView[],
  defaultAgent: string,
): Map<string, number> {
  const counts = new Map<string, number>();
  for (const task of running) {
    const name = agentName(
      task.chosen ?? listTaskAgents(state, task, defaultAgent)[0] ?? defaultAgent,
    );
    if (task.stage === "working") counts.set(name, (counts.get(name) ?? 0) + 1);
  }

  return counts;
}

/**
 * The agents that may work on a task, in order: `codex,claude`. The task's own word counts, then
 * its project's.
 */
export function listTaskAgents(
  { projects }: Pick<PortfolioView, "projects">,
  { agent, project_id }: Pick<TaskView, "agent" | "project_id">,
  defaultAgent: string,
): readonly string[] {
  const names = (agent ?? projects[project_id]?.agent ?? defaultAgent)
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  return names.length === 0 ? [defaultAgent] : names;
}

/** The first of them that is not at its provider's limit; null if all are. */
export const findFreeAgent = (
  state: PortfolioView,
  agents: readonly string[],
  now: string,
): string | null => agents.find((agent) => !isStillAhead(state.limited[agent] ?? "", now)) ?? null;

/**
 * No provider's limit lasts longer. A later reset was written before the clock was set back, and
 * doesn't count.
 */
const limitMsMax = 8 * 86_400_000;

/** Whether a reset is still to come. */
export const isStillAhead = (until: string, now: string, msMax: number = limitMsMax): boolean =>
  until > now &&
  (parseIsoTime(until) ?? Number.POSITIVE_INFINITY) - (parseIsoTime(now) ?? 0) <= msMax;

/** An agent's name in the settings: `scripted:FILE` is `scripted`. */
export const agentName = (agent: string): string => agent.split(":", 1)[0] ?? agent;
