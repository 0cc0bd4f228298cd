// decide-dispatch: decides which of the tasks that could start do, with which agent and allowance,
// and why the others wait.
// Invariants P1 and on: portfolio/planner/plan.ts.

import { Budgets } from "./budgets.ts";
import {
  openCandidateCounts,
  orderCandidates,
  type FileClaim,
  findFirstOverlapping,
  pushTo,
} from "./dispatch-order.ts";
import { mayOverlap } from "./overlap.ts";
import type { DispatchAction, PlanFacts, WaitingTask } from "./plan-actions.ts";
import { isApproved } from "./questions.ts";
import type { PortfolioView, TaskView } from "./state.ts";
import { agentName, listTaskAgents, findFreeAgent, countWorkersByAgent } from "./under-way.ts";

/** What is left to hand out while the candidates are inspected one after the other. */
type DispatchRound = {
  readonly state: PortfolioView;
  readonly facts: PlanFacts;
  readonly budgets: Budgets;
  readonly notInspected: ReturnType<typeof openCandidateCounts>;
  freeSlots: number;
  readonly runningInProject: Map<string, number>;
  readonly runningWithAgent: Map<string, number>;
  /** By repository: files of tasks under way, and files that earlier candidates wait for. */
  readonly filesInUse: Map<string, FileClaim[]>;
  readonly filesWaitedFor: Map<string, FileClaim[]>;
};

/** Decides for each candidate, in order, whether it starts now; the others wait (P1 to P4). */
export function dispatchCandidates(
  state: PortfolioView,
  facts: PlanFacts,
  {
    running,
    candidates,
  }: { readonly running: readonly TaskView[]; readonly candidates: readonly TaskView[] },
): { readonly dispatches: readonly DispatchAction[]; readonly waiting: readonly WaitingTask[] } {
  const round = startRound(state, facts, { running, candidates });
  const dispatches: DispatchAction[] = [];
  const waiting: WaitingTask[] = [];
  const inspected = new Set<string>();

  for (const task of orderCandidates(state, candidates)) {
    if (round.freeSlots <= 0) break; // the rest waits for a slot, in any order
    inspected.add(task.task_id);
    round.notInspected.markInspected(task);
    const decision = decideDispatch(round, task);
    if ("code" in decision) {
      waiting.push({ task_id: task.task_id, ...decision });
      continue;
    }

    dispatches.push(decision);
    recordDispatch(round, task, decision);
  }

  const startingCount = dispatches.length;
  const workingCount = facts.jobs - round.freeSlots - startingCount;
  const because = `the pool works on ${facts.jobs} at a time: ${workingCount} at work, ${startingCount} to start before it`;

  for (const { task_id } of candidates) {
    if (!inspected.has(task_id)) waiting.push({ task_id, code: "pool_slots", because });
  }

  return { dispatches, waiting };
}

function startRound(
  state: PortfolioView,
  facts: PlanFacts,
  {
    running,
    candidates,
  }: { readonly running: readonly TaskView[]; readonly candidates: readonly TaskView[] },
): DispatchRound {
  const runningInProject = new Map<string, number>();
  const round: DispatchRound = {
    state,
    facts,
    budgets: new Budgets(state, facts.now),
    notInspected: openCandidateCounts(state, candidates, runningInProject),
    freeSlots: facts.jobs,
    runningInProject,
    runningWithAgent: countWorkersByAgent(state, running, facts.agent),
    filesInUse: new Map(),
    filesWaitedFor: new Map(),
  };

  for (const task of running) {
    if (task.stage === "working" && facts.withoutWorker.has(task.task_id)) continue; // it is released in this very plan
    pushTo(round.filesInUse, findRepository(state, task), {
      touches: task.touches,
      task_id: task.task_id,
    });

    if (task.stage !== "working") continue;
    round.freeSlots -= 1;
    increment(round.runningInProject, task.project_id);
  }

  return round;
}

/** Whether one candidate starts, with which agent and allowance; or why it waits. */
function decideDispatch(
  round: DispatchRound,
  task: TaskView,
): DispatchAction | Omit<WaitingTask, "task_id"> {
  const { state, facts } = round;
  const project = state.projects[task.project_id];
  if (
    project === undefined ||
    (round.runningInProject.get(task.project_id) ?? 0) >= project.slots
  ) {
    return {
      code: "project_slots",
      because: `${task.project_id} runs ${project?.slots ?? 0} at a time`,
    };
  }

  const agents = listTaskAgents(state, task, facts.agent);
  const agent = findFreeAgent(state, agents, facts.now); // P6
  if (agent === null) {
    const because = `${agents.join(" and ")} ${agents.length === 1 ? "is" : "are"} at the provider's limit until ${findFirstReset(state, agents)}`;
    return { code: "resting", because };
  }

  const agentSlots = facts.perAgent[agentName(agent)];
  if (
    agentSlots !== undefined &&
    (round.runningWithAgent.get(agentName(agent)) ?? 0) >= agentSlots
  ) {
    return { code: "agent_slots", because: `${agentName(agent)} runs ${agentSlots} at a time` };
  }

  const is_resumed = task.stage === "resting"; // it still has its copy and its files
  const obstacle = is_resumed ? null : findObstacle(round, task);
  if (obstacle !== null) return obstacle;
  const is_approved = task.commit !== null && isApproved(state, task);
  const sharers = round.notInspected.sharers(task, round.freeSlots);
  const decision = is_approved ? { allowance: {} } : round.budgets.decideAllowance(task, sharers); // P4
  if ("because" in decision) return { code: "budget", because: decision.because };

  return {
    do: "dispatch",
    task_id: task.task_id,
    is_resumed,
    is_approved,
    agent,
    allowance: decision.allowance,
  };
}

/**
 * What keeps a new run from starting: a full disk, or files that another task changes (P1) or has
 * waited for longer (P3).
 */
function findObstacle(
  { state, facts, filesInUse, filesWaitedFor }: DispatchRound,
  task: TaskView,
): Omit<WaitingTask, "task_id"> | null {
  if (typeof facts.roomProblem === "string") return { code: "disk", because: facts.roomProblem };
  const repository = findRepository(state, task);
  const overlapping = (filesInUse.get(repository) ?? []).find(({ touches }) =>
    mayOverlap(touches, task.touches),
  ); // P1
  const earlier =
    overlapping === undefined
      ? findFirstOverlapping(filesWaitedFor.get(repository) ?? [], task)
      : undefined; // P3
  if (overlapping === undefined && earlier === undefined) return null;
  pushTo(filesWaitedFor, repository, task);

  return overlapping === undefined
    ? { code: "makes_way", because: `${earlier?.task_id ?? ""} waits longer for the same files` }
    : { code: "overlap", because: `${overlapping.task_id} may change the same files` };
}

function recordDispatch(
  round: DispatchRound,
  task: TaskView,
  { agent, allowance, is_resumed }: DispatchAction,
): void {
  round.budgets.reserve(task, allowance);
  round.freeSlots -= 1;
  increment(round.runningInProject, task.project_id);
  increment(round.runningWithAgent, agentName(agent));
  if (!is_resumed) pushTo(round.filesInUse, findRepository(round.state, task), task);
}

const findRepository = ({ projects }: PortfolioView, { project_id }: TaskView): string =>
  projects[project_id]?.repository ?? "";
const increment = (counts: Map<string, number>, key: string): void =>
  void counts.set(key, (counts.get(key) ?? 0) + 1);

/** The earliest time at which one of these agents is available again. */
const findFirstReset = (state: PortfolioView, agents: readonly string[]): string =>
  agents.map((agent) => state.limited[agent] ?? "").toSorted()[0] ?? "";
