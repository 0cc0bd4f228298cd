// event-line: turns an entry of the journal into a line of `events/events.jsonl`: the fields the
// format requires, and the task's for dashboards.
//
// Invariants:
//   E1. A line follows from the journal alone, so the file can be made again byte for byte.
//   E2. Another tool's line stays as it came.
//   E3. `meta.autopilot_seq` marks a line as ours: it is the number of the journal's entry.

import type { PortfolioEvent } from "../../contracts/portfolio/portfolio.ts";
import type {
  PortfolioChangeName,
  PortfolioChangeOf,
  PortfolioEntry,
} from "../../contracts/portfolio/portfolio-journal.ts";
import { completeBatch } from "../planner/journal-batch.ts";
import { applyEntry } from "../planner/reduce.ts";
import { rateConfidence } from "../planner/result.ts";
import type { Portfolio, TaskView } from "../planner/state.ts";
import { isComplete } from "../planner/task-changes.ts";

export const seqKey = "autopilot_seq";

/**
 * Applies an entry and returns its line, or those of the batch that it completes. The journal's own
 * events have none.
 */
export function reduceToLines(state: Portfolio, entry: PortfolioEntry): readonly string[] {
  state.seq = entry.seq;
  return completeBatch(state, entry).flatMap((complete) => applyToLine(state, complete) ?? []);
}

function applyToLine(state: Portfolio, entry: PortfolioEntry): string | null {
  const task_id = "task_id" in entry && entry.task_id !== undefined ? entry.task_id : null;
  const blockTask =
    entry.event === "block_resolved" ? (state.blocks[entry.block_id]?.task_id ?? null) : task_id;
  const statusBefore = blockTask === null ? null : (state.tasks[blockTask]?.status ?? null);
  applyEntry(state, entry);
  if (entry.event === "line_imported") return entry.line; // E2
  const description = describeEvent(entry);
  if (description === null) return null;
  const task = blockTask === null ? undefined : state.tasks[blockTask];

  const hasNewStatus = task !== undefined && task.status !== statusBefore;
  const line: PortfolioEvent = {
    ts: entry.ts,
    event_type: entry.event,
    project_id: task?.project_id ?? findProject(state, entry),
    task_id: blockTask,
    block_id: "block_id" in entry ? (entry.block_id ?? null) : null,
    from_status: hasNewStatus ? statusBefore : null,
    to_status: hasNewStatus ? task.status : null,
    actor: toEventActor(entry.actor),
    summary: description.summary,
    evidence: [...(description.evidence ?? [])],
    meta: { [seqKey]: entry.seq, by: entry.actor, ...description.meta },
    ...(task === undefined ? {} : pickDashboardFields(task)),
  };
  return JSON.stringify(line);
}

function findProject(state: Portfolio, entry: PortfolioEntry): string | null {
  if ("project_id" in entry) return entry.project_id;
  return entry.event === "block_resolved"
    ? (state.blocks[entry.block_id]?.project_id ?? null)
    : null;
}

/** The fields of a task that the format requires for dashboards. */
export const pickDashboardFields = (task: TaskView) => ({
  priority: task.priority,
  parent_task_id: task.parent_task_id,
  worker_backend: task.worker_backend,
  worker_agent_id: task.worker_agent_id,
  worker_session_key: task.worker_session_key,
  run_id: task.run_id,
  started_at: task.started_at,
  ended_at: task.ended_at,
  verification_confidence: task.proof === null ? null : rateConfidence(task.proof),
  verification_complete: isComplete(task),
  blocked_duration_ms: task.blocked_duration_ms,
});

function toEventActor(actor: string): PortfolioEvent["actor"] {
  if (actor.startsWith("operator:")) return "human";
  if (actor.startsWith("agent:")) return "worker";
  return actor === "planner" ? "planner" : "system";
}

type EventDescription = {
  readonly summary: string;
  readonly evidence?: readonly string[];
  readonly meta?: Readonly<Record<string, unknown>>;
};

const describeEvent = (entry: PortfolioEntry): EventDescription | null => {
  const describe = describers[entry.event] as
    | ((entry: PortfolioEntry) => EventDescription)
    | undefined;
  return describe === undefined ? null : describe(entry);
};

/** What a line says, by event; an event without a row has no line. */
const describers: {
  readonly [Name in PortfolioChangeName]?: (entry: PortfolioChangeOf<Name>) => EventDescription;
} = {
  portfolio_created: (entry) => ({
    summary: `Portfolio ${entry.name} created.`,
    meta: { name: entry.name, budget: entry.budget, day_budget: entry.day_budget },
  }),
  portfolio_updated: (entry) => ({ summary: "Portfolio updated.", meta: pickChangedFields(entry) }),
  project_created: (entry) => ({
    summary: `Project ${entry.fields.name} created.`,
    meta: { ...entry.fields },
  }),
  hub_set: (entry) => ({
    summary:
      entry.hub === null ? "A repository has no hub any more." : `Work lands on ${entry.hub}.`,
    meta: { repository: entry.repository, hub: entry.hub },
  }),
  project_updated: (entry) => ({
    summary: `Project updated: ${Object.keys(entry.changes).join(", ")}.`,
    meta: { ...entry.changes },
  }),
  task_created: (entry) => ({ summary: entry.fields.objective, meta: { ...entry.fields } }),
  followup_task_created: (entry) => ({
    summary: entry.fields.objective,
    meta: { ...entry.fields },
  }),
  task_updated: (entry) => ({
    summary: `Task updated: ${Object.keys(entry.changes).join(", ")}.`,
    meta: { ...entry.changes },
  }),
  task_dispatched: (entry) => ({
    summary: `Dispatched to ${entry.worker_agent_id} as ${entry.run_id}.`,
    meta: { event_nonce: entry.event_nonce, base: entry.base },
  }),
  task_status_changed: (entry) => ({ summary: entry.because }),
  worker_result_ingested: (entry) => ({
    summary: entry.summary,
    evidence: entry.evidence,
    meta: {
      event_nonce: entry.event_nonce,
      commit: entry.commit,
      proof: entry.proof,
      claim: entry.claim,
      usage: entry.usage,
    },
  }),
  worker_rested: (entry) => ({
    summary: entry.because,
    meta: {
      until: entry.until,
      usage: entry.usage,
      ...(entry.short === undefined ? {} : { short: entry.short }),
    },
  }),
  run_limits_raised: (entry) => ({
    summary: `${entry.run_id} may use more, and goes on.`,
    meta: { allowance: entry.allowance },
  }),
  task_delayed: (entry) => ({
    summary: entry.because,
    meta: { reason: entry.reason_code, doing: entry.doing, until: entry.until },
  }),
  usage_counted: (entry) => ({
    summary: `${entry.run_id} has used ${entry.usage.tokens} tokens.`,
    meta: { usage: entry.usage },
  }),
  lease_lost: (entry) => ({ summary: entry.because, meta: { usage: entry.usage } }),
  block_opened: (entry) => ({
    summary: entry.question,
    meta: {
      question: entry.question,
      expected_action: entry.expected_action,
      impact: entry.impact,
      options: entry.options,
    },
  }),
  block_resolved: (entry) => ({ summary: entry.answer }),
  merge_queued: (entry) => ({ summary: "Waits to be merged.", meta: { commit: entry.commit } }),
  merge_verified: (entry) => ({
    summary: `${entry.tasks.length} ${entry.tasks.length === 1 ? "task" : "tasks"} proved on the merged tree.`,
    evidence: entry.evidence,
    meta: {
      repository: entry.repository,
      tasks: entry.tasks,
      from: entry.from,
      commit: entry.commit,
    },
  }),
  merge_rejected: (entry) => ({
    summary: entry.because,
    evidence: entry.evidence,
    meta: { kind: entry.kind, with: entry.with },
  }),
  landing_held: (entry) => ({
    summary:
      entry.because === null
        ? `Landing on ${entry.target} goes on.`
        : `Landing on ${entry.target} waits: ${entry.because}`,
    meta: { repository: entry.repository, target: entry.target },
  }),
  merge_landed: (entry) => ({
    summary: `Landed on ${entry.target}.`,
    meta: { commit: entry.commit, target: entry.target },
  }),
  budget_exhausted: (entry) => ({ summary: entry.because, meta: { scope: entry.scope } }),
  planner_tick: (entry) => ({
    summary: `Dispatched ${entry.dispatched.length}.`,
    meta: { dispatched: entry.dispatched, waiting: entry.waiting },
  }),
  checkpoint_compacted: (entry) => ({
    summary: "Checkpoint written.",
    meta: { window_start: entry.window_start, window_end: entry.window_end },
  }),
};

const pickChangedFields = ({
  paused,
  budget,
  day_budget,
}: PortfolioChangeOf<"portfolio_updated">) => ({
  ...(paused === undefined ? {} : { paused }),
  ...(budget === undefined ? {} : { budget }),
  ...(day_budget === undefined ? {} : { day_budget }),
});
