// reduce: folds the entries of a portfolio's journal into its state. One function for each event; a
// missing one does not compile.
//
// Invariants:
//   R1. A task changes its status only as `portfolioTransitions` allows (task-changes.ts); another
//       tool's own tasks as that tool says.
//   R2. What a run used is charged once: an entry has the run's whole usage, and only the part that
//       is new counts. It is charged while the run works, when it rests, and before another run
//       takes its place.
//   R3. A task of ours that is done or canceled keeps that status: `portfolioTransitions` allows no
//       other.
//   R4. A project or task that is created is new, and whatever an entry refers to exists.
//   R5. Changes that were written together count together, or not at all.

import {
  type PortfolioChange,
  type PortfolioChangeName,
  type PortfolioChangeOf,
  type PortfolioEntry,
  portfolioChangeNames,
} from "../../contracts/portfolio/portfolio-journal.ts";
import { invariant } from "../../kit/invariant.ts";
import { toBudgetDay } from "./budget-scopes.ts";
import { completeBatch } from "./journal-batch.ts";
import { setHub } from "./hubs.ts";
import { applyImportedLine } from "./imported-line.ts";
import { computeMetrics } from "../views/metrics.ts";
import { noUsage, type Portfolio, type Task, toQueueKey } from "./state.ts";
import {
  addTask,
  registerDependent,
  charge,
  deepCopy,
  dropBatchesWith,
  endRun,
  joinFeedback,
  extendAllowance,
  mayTransition,
  transition,
  msBetween,
  getProject,
  raiseAllowance,
  removeFromBatches,
  reopenBudget,
  runInputFields,
  type Stamp,
  getTask,
  markChanged,
  markProjectChanged,
  markWaitingChanged,
} from "./task-changes.ts";

type Reducers = {
  readonly [Name in PortfolioChangeName]: (
    state: Portfolio,
    change: PortfolioChangeOf<Name>,
    stamp: Stamp,
  ) => void;
};

const knownEvents: ReadonlySet<string> = new Set(portfolioChangeNames);

export function reduce(state: Portfolio, entry: PortfolioEntry): void {
  state.seq = entry.seq;
  for (const complete of completeBatch(state, entry)) applyEntry(state, complete); // R5
}

/** Applies one entry. The journal's own events, such as a cut tail, change nothing here. */
export function applyEntry(state: Portfolio, entry: PortfolioEntry): void {
  if (!knownEvents.has(entry.event)) return;
  const apply = reducers[entry.event] as (
    state: Portfolio,
    change: PortfolioChange,
    stamp: Stamp,
  ) => void;
  apply(state, entry, entry);
}

const reducers: Reducers = {
  portfolio_created: (state, { name, budget, day_budget }, { ts }) =>
    void Object.assign(state, { name, budget, day_budget, created_at: ts }),
  portfolio_updated: (state, { paused, budget, day_budget }) => {
    state.paused = paused ?? state.paused;
    state.budget = budget ?? state.budget;
    state.day_budget = day_budget ?? state.day_budget;
    if (budget !== undefined) reopenBudget(state, "portfolio");
    if (day_budget !== undefined) {
      state.exhausted = state.exhausted.filter((scope) => !scope.startsWith("day:"));
    }
  },
  project_created: (state, { project_id, fields }, { seq, ts }) => {
    invariant(state.projects[project_id] === undefined, `R4: ${project_id} is new`);
    state.projects[project_id] = {
      ...deepCopy(fields),
      project_id,
      created_at: ts,
      changed: seq,
      last_dispatch: 0,
      spent: noUsage(),
      tasks: [],
    };
  },
  hub_set: setHub,
  project_updated: (state, { project_id, changes }, stamp) => {
    const project = getProject(state, project_id);
    Object.assign(project, deepCopy(changes));
    project.changed = stamp.seq;
    if (changes.budget !== undefined) reopenBudget(state, `project:${project_id}`);
    markWaitingChanged(state, project, changes, stamp);
  },
  task_created: (state, { task_id, project_id, status, fields }, stamp) =>
    addTask(state, { task_id, project_id, parent_task_id: null, status, fields }, stamp),
  followup_task_created: (state, { task_id, project_id, parent_task_id, status, fields }, stamp) =>
    addTask(state, { task_id, project_id, parent_task_id, status, fields }, stamp),
  task_updated: (state, { task_id, changes }, stamp) => {
    const task = getTask(state, task_id);
    const oldPriority = task.priority;
    Object.assign(task, deepCopy(changes));

    if (Object.keys(changes).some((key) => runInputFields.has(key))) {
      task.is_edited = task.run_id !== null;
    }

    if (task.is_edited) endRun(task);
    if (changes.dependencies !== undefined) registerDependent(state, task);
    if (task.status === "ready" && oldPriority !== task.priority) {
      state.ready[oldPriority] = (state.ready[oldPriority] ?? 0) - 1;
      state.ready[task.priority] = (state.ready[task.priority] ?? 0) + 1;
    }

    markChanged(state, task, stamp);
  },
  task_dispatched: (state, change, stamp) => {
    const task = getTask(state, change.task_id);
    if (task.stage === "resting") markChanged(state, task, stamp);
    else transition(state, task, "running", stamp);

    const isResumed = task.run_id === change.run_id;
    state.dispatches += 1;
    getProject(state, task.project_id).last_dispatch = state.dispatches;
    Object.assign(task, {
      stage: "working",
      run_id: change.run_id,
      event_nonce: change.event_nonce,
      worker_backend: change.worker_backend,
      worker_agent_id: change.worker_agent_id,
      worker_session_key: change.worker_session_key,
      chosen: change.agent ?? null,
      base: change.base,
      tip: change.tip ?? task.tip,
      copy: change.copy,
      conflicts: [...(change.conflicts ?? (isResumed ? task.conflicts : []))],
      rests_until: null,
      rest_because: null,
      ended_at: null,
      short: null,
    });

    if (isResumed) return extendAllowance(task, change.allowance ?? {});
    task.attempt += 1;
    task.started_at = stamp.ts;
    task.ingested = false;
    task.is_edited = false;
    task.run_spent = noUsage();
    task.allowance = deepCopy(change.allowance ?? null);
    task.proof = null;
    task.claim = null;
    task.commit = null;
  },
  task_status_changed: (state, { task_id, to_status, because, block_id }, stamp) => {
    const task = getTask(state, task_id);
    if (task.status === "needs_adjustment" && to_status === "ready") task.adjustments += 1;
    transition(state, task, to_status, stamp);
    dropBatchesWith(state, task_id);
    if (to_status === "canceled") task.summary = because;
    const block = state.blocks[block_id ?? ""];
    if (to_status !== "blocked_human" || block?.resolved_at !== null) return;
    task.waits_for = block.block_id;
    block.tasks[task_id] = { changed: task.changed, since: stamp.ts };
  },
  worker_result_ingested: (state, change, stamp) => {
    const task = getTask(state, change.task_id);
    invariant(
      !task.ingested && task.run_id === change.run_id,
      `R2: the result of ${change.run_id} is taken in once`,
    );

    charge(state, task, change.usage, stamp.ts);
    task.ingested = true;
    task.allowance = null;
    task.delay = null;
    task.commit = change.commit;
    task.proof = deepCopy(change.proof);
    task.claim = change.claim === null ? null : deepCopy(change.claim);
    task.summary = change.summary;
    task.evidence = [...change.evidence];
    task.ended_at = stamp.ts;
    task.finished = stamp.seq;
    if (change.to_status === "running") return markChanged(state, task, stamp);
    if (change.to_status !== "done") task.feedback = joinFeedback(change.summary, change.evidence);
    task.returned_by = "worker";
    transition(state, task, change.to_status, stamp);
  },
  worker_rested: (state, { task_id, because, until, usage, short }, stamp) => {
    const task = getTask(state, task_id);
    charge(state, task, usage, stamp.ts);
    task.stage = "resting";
    task.delay = null;
    task.short = short === undefined ? null : deepCopy(short);
    if (short !== undefined) transition(state, task, "ready", stamp); // it holds no slot and no paths while it waits for a budget
    if (task.chosen !== null && until !== null) state.limited[task.chosen] = until;
    task.rests_until = until;
    task.rest_because = because;
    markChanged(state, task, stamp);
  },
  run_limits_raised: (state, { task_id, run_id, allowance }, stamp) => {
    const task = getTask(state, task_id);
    invariant(task.run_id === run_id, `R2: ${run_id} is the run of ${task_id}`);
    task.short = null;
    if (task.allowance !== null) raiseAllowance(task, allowance);
    markChanged(state, task, stamp);
  },
  usage_counted: (state, { task_id, run_id, usage }, stamp) => {
    const task = getTask(state, task_id);
    invariant(task.run_id === run_id, `R2: ${run_id} is the run of ${task_id}`);
    charge(state, task, usage, stamp.ts);
    markChanged(state, task, stamp);
  },
  task_delayed: (state, { task_id, reason_code, doing, because, until }, stamp) => {
    const task = getTask(state, task_id);
    const { delay } = task;
    const isSame = delay !== null && delay.reason === reason_code && delay.doing === doing;
    const { since, tries } = isSame ? delay : { since: stamp.ts, tries: 0 };

    task.delay = { reason: reason_code, doing, because, since, tries: tries + 1, until };
    if (task.status === "running") task.stage = "resting"; // it gives up its slot, but keeps its files and its place in the order
    markChanged(state, task, stamp);
  },
  lease_lost: (state, { task_id, usage }, stamp) => {
    const task = getTask(state, task_id);
    charge(state, task, usage, stamp.ts);
    transition(state, task, "ready", stamp);
  },
  block_opened: (state, change, stamp) => {
    const { block_id, project_id, task_id } = change;
    state.blocks[block_id] = createBlock(change, stamp);

    const task = task_id === null ? undefined : state.tasks[task_id];
    if (task !== undefined && mayTransition(task.status, "blocked_human")) {
      transition(state, task, "blocked_human", stamp);
    } else if (task !== undefined) {
      markChanged(state, task, stamp);
    }

    markProjectChanged(state, project_id, stamp);
  },
  block_resolved: (state, { block_id, answer }, stamp) => {
    const block = state.blocks[block_id];
    invariant(block?.resolved_at === null, `R4: ${block_id} is open`);
    block.resolved_at = stamp.ts;
    block.answer = answer;

    const waitedMs = msBetween(block.opened_at, stamp.ts);
    state.totals.blocks_resolved += 1;
    state.totals.block_ms += waitedMs;
    markProjectChanged(state, block.project_id, stamp);

    const task = block.task_id === null ? undefined : state.tasks[block.task_id];
    if (task === undefined) return;
    task.blocked_duration_ms = (task.blocked_duration_ms ?? 0) + waitedMs;
    if (task.status !== "blocked_human" || hasOpenQuestion(state, task)) {
      return markChanged(state, task, stamp);
    }

    const answered = `${block.question}\nAnswer: ${answer}`;
    task.feedback = task.feedback === null ? answered : `${task.feedback}\n\n${answered}`;
    transition(state, task, "ready", stamp);
  },
  merge_queued: (state, { task_id, commit }, stamp) => {
    const task = getTask(state, task_id);
    task.stage = "queued";
    task.commit = commit;
    markChanged(state, task, stamp);
  },
  merge_verified: (state, { repository, tasks, from, commit }) => {
    state.batches = [
      ...state.batches.filter((batch) => batch.repository !== repository),
      { repository, tasks: [...tasks], from, commit },
    ];
  },
  merge_rejected: (state, { task_id, because, evidence, with: others }, stamp) => {
    const task = getTask(state, task_id);
    dropBatchesWith(state, task_id);
    const besideText = others.length === 0 ? "" : ` (beside ${others.join(", ")})`;
    task.feedback = joinFeedback(`${because}${besideText}`, evidence);

    task.evidence = [...task.evidence, ...evidence];
    task.returned_by = "queue";
    transition(state, task, "needs_adjustment", stamp);
  },
  landing_held: (state, { repository, target, because, command }, { seq, ts }) => {
    const queue = toQueueKey({ repository, target });
    if (because === null) {
      delete state.held[queue];
    } else {
      state.held[queue] = {
        repository,
        target,
        because,
        command,
        since: state.held[queue]?.since ?? ts,
      };
    }

    for (const project of Object.values(state.projects)) {
      if (toQueueKey(project) === queue) project.changed = seq;
    }
  },
  merge_landed: (state, { task_id, commit }, stamp) => {
    const task = getTask(state, task_id);
    delete state.held[toQueueKey(state.projects[task.project_id])];
    removeFromBatches(state, task_id);
    task.landed = commit;
    transition(state, task, "done", stamp);
  },
  budget_exhausted: (state, { scope, project_id }, { ts }) => {
    const keys = {
      day: `day:${toBudgetDay(ts)}`,
      project: `project:${project_id ?? ""}`,
      portfolio: "portfolio",
    };
    state.exhausted.push(keys[scope]);
  },
  planner_tick: (state, { waiting }, { ts }) => {
    state.heartbeat = ts;
    state.waiting = { ...waiting };
  },
  checkpoint_compacted: (state, { window_start, window_end }, { ts }) => {
    const project_count = Object.keys(state.projects).length;
    const task_count = Object.keys(state.tasks).length;
    const doneCount = state.totals.tasks_completed_total;
    const summary = `${project_count} projects, ${task_count} tasks, ${doneCount} done.`;

    state.checkpoints.push({
      ts,
      window_start,
      window_end,
      summary,
      key_metrics: { project_count, task_count, ...computeMetrics(state) },
    });
  },
  line_imported: (state, { line }, stamp) => applyImportedLine(state, line, stamp),
};

const createBlock = (
  block: PortfolioChangeOf<"block_opened">,
  { ts }: Stamp,
): Portfolio["blocks"][string] => ({
  block_id: block.block_id,
  project_id: block.project_id,
  task_id: block.task_id,
  question: block.question,
  expected_action: block.expected_action,
  impact: block.impact,
  options: { ...block.options },
  content: block.content,
  about: block.about ?? "",
  asked_by: block.asked_by === null ? null : { ...block.asked_by },
  replaces: block.replaces ?? null,
  tasks: {},
  opened_at: ts,
  resolved_at: null,
  answer: null,
});

const hasOpenQuestion = ({ blocks }: Portfolio, { task_id }: Task): boolean =>
  Object.values(blocks).some((block) => block.task_id === task_id && block.resolved_at === null);
