// plan: decides what a portfolio does next, and why every other task waits. Pure: the same state,
// time and facts give the same plan.
//
// Invariants:
//   P1. No two tasks that may change the same file of one repository are under way at once.
//   P2. Priority counts first, then which project was served longest ago, then age
//       (dispatch-order.ts).
//   P3. No task starves: a task that has waited its number of dispatches (`waits_at_most`) goes
//       first, and a task that overlaps an earlier waiting one makes way for it.
//   P4. Nothing is dispatched beyond the slots of the pool, the project or the agent, nor without
//       budget.
//   P5. For every open task that is not dispatched the plan says why it waits.
//   P6. A task that names several agents continues with the next one while its own is at its
//       provider's limit; none is started at a limit.

import { listSome } from "../../kit/list-some.ts";
import { findNewlyUsedUpBudgets } from "./budget-scopes.ts";
import { dispatchCandidates } from "./decide-dispatch.ts";
import { listMerges } from "./merge-order.ts";
import { isTriedAgain, describeLastFeedback } from "./needs-person.ts";
import type { PlanAction, Plan, PlanFacts, WaitCode, WaitingTask } from "./plan-actions.ts";
import { buildIdleQuestion, wasAsked } from "./questions.ts";
import { whyDelayed } from "./retry-delays.ts";
import { listOpenBlocks, type PortfolioView, toQueueKey, type TaskView } from "./state.ts";
import { listTaskAgents, findFreeAgent, isStillAhead, listRunningTasks } from "./under-way.ts";

/** `facts`: everything that isn't in the journal. */
export function plan(state: PortfolioView, facts: PlanFacts): Plan {
  const actions: PlanAction[] = [];
  const waiting: WaitingTask[] = [];
  const candidates: TaskView[] = [];
  const blocks = mapQuestions(state);
  const running = listRunningTasks(state);

  for (const task of Object.values(state.tasks)) {
    if (task.status === "done" || task.status === "canceled") continue;
    const decision = decideTask(state, task, facts, blocks);
    if ("action" in decision) actions.push(decision.action);
    else if ("candidate" in decision) candidates.push(task);
    else waiting.push({ task_id: task.task_id, ...decision });
  }

  const round = dispatchCandidates(state, facts, { running, candidates });
  waiting.push(...round.waiting);
  actions.push(...round.dispatches);
  actions.push(...listMerges(state, running, facts));
  for (const ended of findNewlyUsedUpBudgets(state, facts.now)) {
    actions.push({ do: "tell_budget", ended });
  }

  actions.push(...askAboutIdleProjects(state));
  return { actions, waiting }; // P5
}

type TaskDecision =
  | { readonly action: PlanAction }
  | { readonly candidate: true }
  | Omit<WaitingTask, "task_id">;

/** What one task needs, regardless of slots, budgets and other tasks' files. */
function decideTask(
  state: PortfolioView,
  task: TaskView,
  facts: PlanFacts,
  blocks: ReadonlyMap<string, string>,
): TaskDecision {
  const { task_id } = task;

  switch (task.status) {
    case "proposed":
      return wait("proposed", `it is only proposed; autopilot portfolio ready ${task_id}`);
    case "blocked_human": {
      const question = task.waits_for ?? blocks.get(task_id) ?? "a question";
      return wait("block", `it waits for an answer to ${question}`);
    }
    case "failed":
      return decideFailedTask(task);
    case "needs_adjustment":
      return decideReturnedTask(task);
    case "running":
      return decideRunningTask(state, task, facts);
    default:
      return decideReadyTask(state, task, whyDelayed(task, facts.now), blocks);
  }
}

const wait = (code: WaitCode, because: string): TaskDecision => ({ code, because });

function decideFailedTask(task: TaskView): TaskDecision {
  const { task_id, failures } = task;
  if (isTriedAgain(task)) {
    return { action: { do: "retry", task_id, because: "it failed once" } };
  }

  const failedText = `it failed ${failures} times${describeLastFeedback(task)}`;
  return wait("needs_person", `${failedText}; autopilot portfolio retry ${task_id}`);
}

function decideReturnedTask(task: TaskView): TaskDecision {
  const { task_id } = task;
  if (isTriedAgain(task)) {
    const because = "it goes back to its agent with what the merge showed";
    return { action: { do: "retry", task_id, because } };
  }

  const needText = `it needs you${describeLastFeedback(task)}`;
  const remedy = `autopilot portfolio retry ${task_id}, or edit it first`;
  return wait("needs_person", `${needText}; ${remedy}`);
}

function decideRunningTask(state: PortfolioView, task: TaskView, facts: PlanFacts): TaskDecision {
  const { task_id, run_id, stage } = task;
  if (stage === "queued") return decideQueuedTask(state, task, facts);
  if (stage === "resting") return decideRestingTask(state, task, facts);
  if (run_id !== null && facts.withoutWorker.has(task_id)) {
    return { action: { do: "release", task_id, run_id } };
  }

  return wait("working", `${run_id ?? "its run"} works on it`);
}

function decideQueuedTask(state: PortfolioView, task: TaskView, facts: PlanFacts): TaskDecision {
  const queue = toQueueKey(state.projects[task.project_id]);
  const journaledObstacle = state.held[queue]?.because;
  const obstacle =
    facts.obstacleByQueue === undefined ? journaledObstacle : facts.obstacleByQueue.get(queue);
  const red = facts.redTargetByQueue?.get(queue);
  const isHeldByRed = red?.tasks.has(task.task_id) === true;

  const because = isHeldByRed ? red.because : obstacle;
  if (because !== undefined) return wait("landing", `landing waits for you: ${because}`);

  const waitText = "its work is done and waits to be merged";
  if (journaledObstacle === undefined) return wait("merging", waitText);
  return wait("merging", `${waitText}; the last try was held up: ${journaledObstacle}`);
}

function decideRestingTask(state: PortfolioView, task: TaskView, facts: PlanFacts): TaskDecision {
  const delayed = whyDelayed(task, facts.now);
  if (delayed !== null) return wait("delayed", delayed);

  const { delay, rests_until } = task;
  if (delay !== null || rests_until === null) return { candidate: true };
  if (!isStillAhead(rests_until, facts.now)) return { candidate: true };

  const agents = listTaskAgents(state, task, facts.agent);
  if (findFreeAgent(state, agents, facts.now) !== null) return { candidate: true }; // P6

  return wait("resting", `${task.rest_because ?? "its run rests"}; it goes on at ${rests_until}`);
}

function decideReadyTask(
  state: PortfolioView,
  task: TaskView,
  delayed: string | null,
  blocks: ReadonlyMap<string, string>,
): TaskDecision {
  const { task_id, project_id } = task;
  const project = state.projects[project_id];
  if (state.paused) return wait("paused", "the portfolio is paused; autopilot portfolio resume");
  if (project === undefined || project.paused) {
    return wait("paused", `its project is paused; autopilot portfolio resume ${project_id}`);
  }

  if (project.repository === null) {
    const remedy = `autopilot portfolio edit ${project_id} --repo DIR`;
    return wait("no_repository", `${project_id} names no repository; ${remedy}`);
  }

  const dependency = whyDependenciesHold(state, task);
  if (dependency !== null) return dependency;

  const block = blocks.get(task_id) ?? blocks.get(project_id);
  if (block !== undefined) return wait("block", `${block} waits for an answer`);
  if (delayed !== null) return wait("delayed", delayed);

  return { candidate: true };
}

/** Null if every dependency is done. */
function whyDependenciesHold(
  state: PortfolioView,
  { dependencies }: TaskView,
): TaskDecision | null {
  const canceled = dependencies.find((id) => state.tasks[id]?.status === "canceled");
  if (canceled !== undefined) {
    return wait("dependency_canceled", `it depends on ${canceled}, which is canceled`);
  }

  const missing = dependencies.filter((id) => state.tasks[id]?.status !== "done");
  if (missing.length === 0) return null;
  return wait("dependencies", `it depends on ${listSome(missing)}`);
}

/** The first open question of each task or project that waits for one. */
function mapQuestions(state: PortfolioView): ReadonlyMap<string, string> {
  const questions = new Map<string, string>();
  for (const { block_id, task_id, project_id } of listOpenBlocks(state)) {
    const blockedId = task_id ?? project_id;
    if (blockedId !== null && !questions.has(blockedId)) questions.set(blockedId, block_id);
  }

  return questions;
}

/** Asks a person once about each project whose tasks are all over: was that all? */
function askAboutIdleProjects(state: PortfolioView): readonly PlanAction[] {
  const idle = Object.values(state.projects).filter((project) => isIdle(state, project));
  const unasked = idle.filter(
    (project) => !wasAsked(state, "idle", buildIdleQuestion(state, project)),
  );

  return unasked.map(({ project_id }) => ({ do: "ask_idle", project_id }));
}

function isIdle(
  state: PortfolioView,
  { paused, objective, tasks }: PortfolioView["projects"][string],
): boolean {
  if (paused || objective === "" || tasks.length === 0) return false;
  return tasks.every((id) => ["done", "canceled"].includes(state.tasks[id]?.status ?? "done"));
}
