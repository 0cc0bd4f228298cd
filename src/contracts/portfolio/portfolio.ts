// portfolio: schemas of the files of `.openclaw-autopilot/` in their published format: the events,
// the checkpoints, and the data at the head of each snapshot.
//
// Invariants:
//   P1. A field that the format calls nullable is required and may be null.
//   P2. Fields beyond these are tolerated, and so is an event type that the format does not list:
//       it calls its list the common ones.
//   P3. Fields that only a dashboard needs may be left out of an event or a snapshot; if present,
//       they have the right type.

import * as v from "valibot";

const text = v.string();
const texts = v.array(text);
const nullable = v.nullable;

/** The paths of everything, below a portfolio's folder. */
export const portfolioFolder = ".openclaw-autopilot";
export const portfolioFiles = {
  portfolio: "portfolio.md",
  projects: "projects",
  tasks: "tasks",
  events: "events/events.jsonl",
  checkpoints: "events/checkpoints.jsonl",
} as const;

/** ISO 8601 with its zone: the format does not require UTC. */
export const PortfolioTime = v.pipe(
  text,
  v.regex(
    /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})$/,
    "expected an ISO time with its zone: 2026-02-27T09:30:00Z",
  ),
);

export const ProjectId = v.pipe(text, v.regex(/^proj-[^\s/]+$/, "expected proj-<slug>"));
export const TaskId = v.pipe(
  text,
  v.regex(/^task-[^\s/]+-[^\s/-]+$/, "expected task-<slug>-<shortid>"),
);
export const BlockId = v.pipe(
  text,
  v.regex(/^block-[^\s/]+-[^\s/-]+$/, "expected block-<timestamp>-<shortid>"),
);

export const portfolioTaskStatuses = [
  "proposed",
  "ready",
  "running",
  "blocked_human",
  "needs_adjustment",
  "failed",
  "done",
  "canceled",
] as const;
export type PortfolioTaskStatus = (typeof portfolioTaskStatuses)[number];
const Status = v.picklist(portfolioTaskStatuses);

/**
 * The transitions of a task. The format lists the statuses but no transitions between them; these
 * are ours.
 */
export const portfolioTransitions: Readonly<
  Record<PortfolioTaskStatus, readonly PortfolioTaskStatus[]>
> = {
  proposed: ["ready", "canceled"],
  ready: ["running", "blocked_human", "canceled"],
  running: ["done", "failed", "needs_adjustment", "blocked_human", "ready", "canceled"],
  blocked_human: ["ready", "canceled"],
  needs_adjustment: ["ready", "failed", "canceled"],
  failed: ["ready", "canceled"],
  done: [],
  canceled: [],
};

export const portfolioActors = ["planner", "worker", "human", "system"] as const;
export const portfolioEventTypes = [
  "project_created",
  "task_created",
  "task_dispatched",
  "task_status_changed",
  "worker_result_ingested",
  "block_opened",
  "block_resolved",
  "checkpoint_compacted",
  "planner_tick",
] as const;

/** What the format wants every task snapshot and related event to keep for dashboards. */
const dashboard = {
  priority: v.optional(nullable(v.union([v.number(), text]))),
  parent_task_id: v.optional(nullable(TaskId)),
  worker_backend: v.optional(nullable(text)),
  worker_agent_id: v.optional(nullable(text)),
  worker_session_key: v.optional(nullable(text)),
  run_id: v.optional(nullable(text)),
  started_at: v.optional(nullable(PortfolioTime)),
  ended_at: v.optional(nullable(PortfolioTime)),
  verification_confidence: v.optional(nullable(v.union([v.number(), text]))),
  verification_complete: v.optional(nullable(v.boolean())),
  blocked_duration_ms: v.optional(nullable(v.pipe(v.number(), v.minValue(0)))),
}; // P3

/** One line of `events/events.jsonl`. */
export const PortfolioEvent = v.looseObject({
  ts: PortfolioTime,
  event_type: text, // P2
  project_id: nullable(ProjectId), // P1
  task_id: nullable(TaskId),
  block_id: nullable(BlockId),
  from_status: nullable(Status),
  to_status: nullable(Status),
  actor: v.picklist(portfolioActors),
  summary: text,
  evidence: v.array(v.unknown()),
  meta: v.optional(nullable(v.looseObject({}))),
  ...dashboard,
});
export type PortfolioEvent = v.InferOutput<typeof PortfolioEvent>;

/** One line of `events/checkpoints.jsonl`. */
export const PortfolioCheckpoint = v.looseObject({
  ts: PortfolioTime,
  scope: v.picklist(["portfolio", "project"]),
  scope_id: v.union([v.literal("portfolio"), ProjectId]),
  window_start: PortfolioTime,
  window_end: PortfolioTime,
  summary: text,
  key_metrics: v.looseObject({}),
});
export type PortfolioCheckpoint = v.InferOutput<typeof PortfolioCheckpoint>;

const Texts = v.union([texts, text]);

/** The data at the head of `tasks/<task_id>.md`. */
export const PortfolioTaskSnapshot = v.looseObject({
  task_id: TaskId,
  project_id: ProjectId,
  status: Status,
  objective: v.optional(text),
  acceptance_criteria: v.optional(v.union([v.array(v.unknown()), text])),
  dependencies: v.optional(Texts),
  evidence: v.optional(v.union([v.array(v.unknown()), text])),
  ...dashboard,
});
export type PortfolioTaskSnapshot = v.InferOutput<typeof PortfolioTaskSnapshot>;

/** The data at the head of `projects/<project_id>.md`. */
export const PortfolioProjectSnapshot = v.looseObject({
  project_id: ProjectId,
  name: text,
  priority: v.optional(nullable(v.union([v.number(), text]))),
  objective: v.optional(text),
  current_phase: v.optional(nullable(text)),
});
export type PortfolioProjectSnapshot = v.InferOutput<typeof PortfolioProjectSnapshot>;

/** The data at the head of `portfolio.md`. */
export const PortfolioSnapshot = v.looseObject({
  planner_heartbeat_at: v.optional(nullable(PortfolioTime)),
});
export type PortfolioSnapshot = v.InferOutput<typeof PortfolioSnapshot>;
