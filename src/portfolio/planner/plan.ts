// plan: what a portfolio does next, and why everything else waits. Pure: the same state, time and facts give the same plan.
//
// Invariants:
//   P1. No two tasks that may change the same file of one repository are under way at once.
//   P2. Priority first, then the project that was served longest ago, then age.
//   P3. No task starves: a task that has waited its number of dispatches goes first, and what overlaps an earlier task that waits makes
//       way.
//   P4. Nothing is dispatched beyond the slots of the pool, the project or the agent, nor without budget.
//   P5. For every open task that is not dispatched the plan says why it waits.
//   P6. A task that names several agents continues with the next one while its own is at its provider's limit; none is started at a limit.

import type { PortfolioBudget } from "../../contracts/portfolio-journal.ts";
import { type Ended, endedBudgets, openBudgets } from "./budgets.ts";
import { whyDelayed } from "./retry-delays.ts";
import { type Busy, candidatesLeft, firstAhead, inOrder, push } from "./dispatch-order.ts";
import { isTriedAgain, lastFeedback } from "./needs-person.ts";
import { type LandingFacts, type MergeAction, merges } from "./merges.ts";
import { mayOverlap } from "./overlap.ts";
import { idleQuestion, isApproved, isAsked } from "./questions.ts";
import { openBlocks, type PortfolioView, queueOf, type TaskView } from "./state.ts";
import { agentName, agentsOf, freeAgent, isAhead, unfinished, workersByAgent } from "./under-way.ts";

export type PlanFacts = LandingFacts & {
  readonly now: string;
  readonly jobs: number;
  /** Tasks whose worker is gone although the journal says it works. Runs of two copies may share one name. */
  readonly gone: ReadonlySet<string>;
  /** `agents.<name>.max_parallel`. */
  readonly perAgent: Readonly<Record<string, number>>;
  readonly agent: string;
  /** Why nothing new may start, where the disk is full of copies. */
  readonly noRoom?: string | null;
};

export type WaitCode =
  | "proposed"
  | "paused"
  | "no_repository"
  | "needs_person"
  | "dependencies"
  | "dependency_canceled"
  | "block"
  | "budget"
  | "overlap"
  | "makes_way"
  | "project_slots"
  | "agent_slots"
  | "pool_slots"
  | "disk"
  | "resting"
  | "delayed"
  | "agent"
  | "merging"
  | "landing"
  | "working";

export type Waiting = { readonly task_id: string; readonly code: WaitCode; readonly because: string };
export type Action =
  | { readonly do: "release"; readonly task_id: string; readonly run_id: string }
  | { readonly do: "retry"; readonly task_id: string; readonly because: string }
  | {
      readonly do: "dispatch";
      readonly task_id: string;
      readonly is_resumed: boolean;
      readonly is_approved: boolean;
      readonly agent: string;
      /** What its run may use: nothing else may use it meanwhile. */
      readonly allowance: PortfolioBudget;
    }
  | MergeAction
  | { readonly do: "tell_budget"; readonly ended: Ended }
  | { readonly do: "ask_idle"; readonly project_id: string };
export type Plan = { readonly actions: readonly Action[]; readonly waiting: readonly Waiting[] };

export function plan(state: PortfolioView, facts: PlanFacts): Plan {
  const actions: Action[] = [];
  const waiting: Waiting[] = [];
  const candidates: TaskView[] = [];
  const blocks = blockedBy(state);
  const running = unfinished(state);
  for (const task of Object.values(state.tasks)) {
    if (task.status === "done" || task.status === "canceled") continue;
    const mark = decideTask(state, task, facts, blocks);
    if ("action" in mark) actions.push(mark.action);
    else if ("candidate" in mark) candidates.push(task);
    else waiting.push({ task_id: task.task_id, ...mark });
  }
  choose(state, running, candidates, facts, actions, waiting);
  actions.push(
    ...merges(state, running, facts),
    ...endedBudgets(state, facts.now).map((ended): Action => ({ do: "tell_budget", ended })),
    ...idle(state),
  );
  return { actions, waiting }; // P5
}

type TaskDecision = { readonly action: Action } | { readonly candidate: true } | Omit<Waiting, "task_id">;

/** The state of one task by itself, independent of others. */
function decideTask(state: PortfolioView, task: TaskView, facts: PlanFacts, blocks: ReadonlyMap<string, string>): TaskDecision {
  const wait = (code: WaitCode, because: string): TaskDecision => ({ code, because });
  switch (task.status) {
    case "proposed":
      return wait("proposed", `it is only proposed; autopilot portfolio ready ${task.task_id}`);
    case "blocked_human":
      return wait("block", `it waits for an answer to ${task.waits_for ?? blocks.get(task.task_id) ?? "a question"}`);
    case "failed":
      if (isTriedAgain(task)) return { action: { do: "retry", task_id: task.task_id, because: "it failed once" } };
      return wait("needs_person", `it failed ${task.failures} times${lastFeedback(task)}; autopilot portfolio retry ${task.task_id}`);
    case "needs_adjustment":
      if (isTriedAgain(task))
        return { action: { do: "retry", task_id: task.task_id, because: "it goes back to its agent with what the merge showed" } };
      return wait("needs_person", `it needs you${lastFeedback(task)}; autopilot portfolio retry ${task.task_id}, or edit it first`);
    case "running":
      if (task.stage === "queued") {
        const queue = queueOf(state.projects[task.project_id]);
        const before = state.held[queue]?.because;
        const red = facts.red?.get(queue);
        const why = red?.tasks.has(task.task_id) === true ? red.because : facts.held === undefined ? before : facts.held.get(queue);
        if (why !== undefined) return wait("landing", `landing waits for you: ${why}`);
        return wait(
          "merging",
          `its work is done and waits to be merged${before === undefined ? "" : `; the last try was held up: ${before}`}`,
        );
      }
      if (task.stage === "resting") {
        const delayed = whyDelayed(task, facts.now);
        if (delayed !== null) return wait("delayed", delayed);
        if (task.delay !== null || task.rests_until === null || !isAhead(task.rests_until, facts.now)) return { candidate: true };
        if (freeAgent(state, agentsOf(state, task, facts.agent), facts.now) !== null) return { candidate: true }; // P6
        return wait("resting", `${task.rest_because ?? "its run rests"}; it goes on at ${task.rests_until}`);
      }
      if (task.run_id !== null && facts.gone.has(task.task_id))
        return { action: { do: "release", task_id: task.task_id, run_id: task.run_id } };
      return wait("working", `${task.run_id ?? "its run"} works on it`);
    default:
      return decideReadyTask(state, task, whyDelayed(task, facts.now), blocks);
  }
}

function decideReadyTask(state: PortfolioView, task: TaskView, delayed: string | null, blocks: ReadonlyMap<string, string>): TaskDecision {
  const project = state.projects[task.project_id];
  const wait = (code: WaitCode, because: string): TaskDecision => ({ code, because });
  if (state.paused) return wait("paused", "the portfolio is paused; autopilot portfolio resume");
  if (project === undefined || project.paused)
    return wait("paused", `its project is paused; autopilot portfolio resume ${task.project_id}`);
  if (project.repository === null)
    return wait("no_repository", `${task.project_id} names no repository; autopilot portfolio edit ${task.project_id} --repo DIR`);
  const canceled = task.dependencies.find((id) => state.tasks[id]?.status === "canceled");
  if (canceled !== undefined) return wait("dependency_canceled", `it depends on ${canceled}, which is canceled`);
  const missing = task.dependencies.filter((id) => state.tasks[id]?.status !== "done");
  if (missing.length > 0) return wait("dependencies", `it depends on ${listed(missing)}`);
  const block = blocks.get(task.task_id) ?? blocks.get(task.project_id);
  if (block !== undefined) return wait("block", `${block} waits for an answer`);
  if (delayed !== null) return wait("delayed", delayed);
  return { candidate: true };
}

/** By task or project: the question that holds it up. */
function blockedBy(state: PortfolioView): ReadonlyMap<string, string> {
  const held = new Map<string, string>();
  for (const { block_id, task_id, project_id } of openBlocks(state)) {
    const whom = task_id ?? project_id;
    if (whom !== null && !held.has(whom)) held.set(whom, block_id);
  }
  return held;
}

/** Who of those that could start does. P1 to P4. */
function choose(
  state: PortfolioView,
  running: readonly TaskView[],
  candidates: readonly TaskView[],
  facts: PlanFacts,
  actions: Action[],
  waiting: Waiting[],
): void {
  const busy = new Map<string, Busy[]>();
  const before = new Map<string, Busy[]>();
  const inProject = new Map<string, number>();
  const inAgent = workersByAgent(state, running, facts.agent);
  const budgets = openBudgets(state, facts.now);
  const behind = candidatesLeft(state, candidates, inProject);
  let free = facts.jobs;
  for (const task of running) {
    const repository = state.projects[task.project_id]?.repository ?? "";
    if (task.stage === "working" && facts.gone.has(task.task_id)) continue; // it is released in this very plan
    push(busy, repository, { touches: task.touches, task_id: task.task_id });
    if (task.stage !== "working") continue;
    free -= 1;
    inProject.set(task.project_id, (inProject.get(task.project_id) ?? 0) + 1);
  }
  const wait = (task: TaskView, code: WaitCode, because: string): void => void waiting.push({ task_id: task.task_id, code, because });
  const consideredTasks = new Set<string>();
  for (const task of inOrder(state, candidates)) {
    if (free <= 0) break; // the rest waits for a slot, in any order
    consideredTasks.add(task.task_id);
    behind.pass(task);
    const project = state.projects[task.project_id];
    const repository = project?.repository ?? "";
    const agents = agentsOf(state, task, facts.agent);
    const chosen = freeAgent(state, agents, facts.now); // P6
    const agent = agentName(chosen ?? agents[0] ?? facts.agent);
    if (project === undefined || (inProject.get(task.project_id) ?? 0) >= project.slots) {
      wait(task, "project_slots", `${task.project_id} runs ${project?.slots ?? 0} at a time`);
      continue;
    }
    if (chosen === null) {
      wait(
        task,
        "resting",
        `${agents.join(" and ")} ${agents.length === 1 ? "is" : "are"} at the provider's limit until ${firstReset(state, agents)}`,
      );
      continue;
    }
    const atOnce = facts.perAgent[agent];
    if (atOnce !== undefined && (inAgent.get(agent) ?? 0) >= atOnce) {
      wait(task, "agent_slots", `${agent} runs ${atOnce} at a time`);
      continue;
    }
    const isResumed = task.stage === "resting";
    if (!isResumed && typeof facts.noRoom === "string") {
      wait(task, "disk", facts.noRoom);
      continue;
    }
    const overlapping = isResumed ? undefined : (busy.get(repository) ?? []).find(({ touches }) => mayOverlap(touches, task.touches)); // P1
    const ahead = before.get(repository) ?? [];
    if (overlapping !== undefined) {
      wait(task, "overlap", `${overlapping.task_id} may change the same files`);
      push(before, repository, task);
      continue;
    }
    const earlier = isResumed ? undefined : firstAhead(ahead, task); // P3
    if (earlier !== undefined) {
      wait(task, "makes_way", `${earlier.task_id} waits longer for the same files`);
      push(before, repository, task);
      continue;
    }
    const is_approved = task.commit !== null && isApproved(state, task);
    const grant = is_approved ? { allowance: {} } : budgets.grant(task, behind.sharers(task, free)); // P4
    if ("because" in grant) {
      wait(task, "budget", grant.because);
      continue;
    }
    const { allowance } = grant;
    budgets.reserve(task, allowance);
    actions.push({ do: "dispatch", task_id: task.task_id, is_resumed: isResumed, is_approved, agent: chosen, allowance });
    free -= 1;
    inProject.set(task.project_id, (inProject.get(task.project_id) ?? 0) + 1);
    inAgent.set(agent, (inAgent.get(agent) ?? 0) + 1);
    if (!isResumed) push(busy, repository, task);
  }
  const starting = actions.filter((action) => action.do === "dispatch").length;
  const because = `the pool works on ${facts.jobs} at a time: ${facts.jobs - free - starting} at work, ${starting} to start before it`;
  for (const task of candidates) if (!consideredTasks.has(task.task_id)) wait(task, "pool_slots", because);
}

const firstReset = (state: PortfolioView, agents: readonly string[]): string =>
  agents.map((one) => state.limited[one] ?? "").toSorted()[0] ?? "";

/** Projects whose tasks are all over: a person is asked once whether that was all. */
function idle(state: PortfolioView): readonly Action[] {
  return Object.values(state.projects).flatMap((project): Action[] => {
    const { project_id, tasks, objective, paused } = project;
    if (paused || objective === "" || tasks.length === 0) return [];
    const isOver = tasks.every((id) => ["done", "canceled"].includes(state.tasks[id]?.status ?? "done"));
    return !isOver || isAsked(state, "idle", idleQuestion(state, project)) ? [] : [{ do: "ask_idle", project_id }];
  });
}

const namesShown = 3;
const listed = (ids: readonly string[]): string =>
  `${ids.slice(0, namesShown).join(", ")}${ids.length > namesShown ? ` and ${ids.length - namesShown} more` : ""}`;
