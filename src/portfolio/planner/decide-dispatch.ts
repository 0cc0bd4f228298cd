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

/** Why a task waits. */
type Obstacle = Omit<WaitingTask, "task_id">;

type TasksOfRound = {
  readonly running: readonly TaskView[];
  readonly candidates: readonly TaskView[];
};

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
  tasks: TasksOfRound,
): { readonly dispatches: readonly DispatchAction[]; readonly waiting: readonly WaitingTask[] } {
  const round = startRound(state, facts, tasks);
  const dispatches: DispatchAction[] = [];
  const waiting: WaitingTask[] = [];
  const inspected = new Set<string>();

  for (const task of orderCandidates(state, tasks.candidates)) {
    if (round.freeSlots <= 0) break; // the rest waits for a slot, in any order
    inspected.add(task.task_id);
    round.notInspected.markInspected(task);

    const decision = decideDispatch(round, task);
    if ("code" in decision) {
      waiting.push({ task_id: task.task_id, ...decision });
    } else {
      dispatches.push(decision);
      recordDispatch(round, task, decision);
    }
  }

  const because = describeFullPool(round, dispatches.length);
  for (const { task_id } of tasks.candidates) {
    if (!inspected.has(task_id)) waiting.push({ task_id, code: "pool_slots", because });
  }

  return { dispatches, waiting };
}

function describeFullPool({ facts, freeSlots }: DispatchRound, startingCount: number): string {
  const workingCount = facts.jobs - freeSlots - startingCount;
  const countsText = `${workingCount} at work, ${startingCount} to start before it`;
  return `the pool works on ${facts.jobs} at a time: ${countsText}`;
}

function startRound(
  state: PortfolioView,
  facts: PlanFacts,
  { running, candidates }: TasksOfRound,
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
    const { task_id, touches, stage } = task;
    if (stage === "working" && facts.withoutWorker.has(task_id)) continue; // it is released in this very plan

    pushTo(round.filesInUse, findRepository(state, task), { touches, task_id });
    if (stage !== "working") continue;
    round.freeSlots -= 1;
    increment(round.runningInProject, task.project_id);
  }

  return round;
}

/** Whether one candidate starts, with which agent and allowance; or why it waits. */
function decideDispatch(round: DispatchRound, task: TaskView): DispatchAction | Obstacle {
  const { state } = round;
  const fullProject = whyProjectFull(round, task);
  if (fullProject !== null) return fullProject;

  const agent = chooseAgent(round, task);
  if (typeof agent !== "string") return agent;

  const is_resumed = task.stage === "resting"; // it still has its copy and its files
  const obstacle = is_resumed ? null : findObstacle(round, task);
  if (obstacle !== null) return obstacle;

  const is_approved = task.commit !== null && isApproved(state, task);
  const sharers = round.notInspected.sharers(task, round.freeSlots);
  const decision = is_approved ? { allowance: {} } : round.budgets.decideAllowance(task, sharers); // P4
  if ("because" in decision) return { code: "budget", because: decision.because };

  const { allowance } = decision;
  return { do: "dispatch", task_id: task.task_id, is_resumed, is_approved, agent, allowance };
}

/** Null if the task's project has a free slot (P4). */
function whyProjectFull(
  { state, runningInProject }: DispatchRound,
  { project_id }: TaskView,
): Obstacle | null {
  const slots = state.projects[project_id]?.slots ?? 0;
  const running = runningInProject.get(project_id) ?? 0;
  if (running < slots) return null;
  return { code: "project_slots", because: `${project_id} runs ${slots} at a time` };
}

/** The agent that works on the task now (P6); or why none can, which may have no free slot (P4). */
function chooseAgent(
  { state, facts, runningWithAgent }: DispatchRound,
  task: TaskView,
): string | Obstacle {
  const agents = listTaskAgents(state, task, facts.agent);
  const agent = findFreeAgent(state, agents, facts.now);
  if (agent === null) {
    const agentsText = `${agents.join(" and ")} ${agents.length === 1 ? "is" : "are"}`;
    const reset = findFirstReset(state, agents);
    return { code: "resting", because: `${agentsText} at the provider's limit until ${reset}` };
  }

  const name = agentName(agent);
  const slots = facts.perAgent[name];
  const running = runningWithAgent.get(name) ?? 0;
  if (slots === undefined || running < slots) return agent;
  return { code: "agent_slots", because: `${name} runs ${slots} at a time` };
}

/**
 * What keeps a new run from starting: a full disk, or files that another task changes (P1) or has
 * waited for longer (P3).
 */
function findObstacle(
  { state, facts, filesInUse, filesWaitedFor }: DispatchRound,
  task: TaskView,
): Obstacle | null {
  if (typeof facts.roomProblem === "string") return { code: "disk", because: facts.roomProblem };

  const repository = findRepository(state, task);
  const underWay = filesInUse.get(repository) ?? [];
  const overlapping = underWay.find(({ touches }) => mayOverlap(touches, task.touches));
  if (overlapping !== undefined) {
    pushTo(filesWaitedFor, repository, task);
    return { code: "overlap", because: `${overlapping.task_id} may change the same files` }; // P1
  }

  const earlier = findFirstOverlapping(filesWaitedFor.get(repository) ?? [], task);
  if (earlier !== undefined) {
    pushTo(filesWaitedFor, repository, task);
    return { code: "makes_way", because: `${earlier.task_id} waits longer for the same files` }; // P3
  }

  return null;
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

function increment(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** The earliest time at which one of these agents is available again. */
const findFirstReset = (state: PortfolioView, agents: readonly string[]): string =>
  agents.map((agent) => state.limited[agent] ?? "").toSorted()[0] ?? "";
