// portfolio-journal: schemas of a portfolio's journal events, and of the projects and tasks in them. The files of `.openclaw-autopilot/`
// are generated from these.
//
// Invariants:
//   Q1. An event says what happened and nothing that follows from earlier ones: the reducer derives
//       the rest.
//   Q2. `usage` is what a run has used in total so far, so that an event recorded twice charges
//       nothing twice.

import * as v from "valibot";
import { HubAddress } from "../git-address.ts";
import { GitSha, RunId } from "../ids.ts";
import { BlockId, PortfolioTime, portfolioTaskStatuses, ProjectId, TaskId } from "./portfolio.ts";
import { evidenceCharsMax } from "../forge/pull-request.ts";
import { ShortLimit } from "../run-parts.ts";
import { WorkerResult } from "./worker-result.ts";

const text = v.string();
const texts = v.array(text);
const amount = v.pipe(v.number(), v.finite(), v.minValue(0));
const Status = v.picklist(portfolioTaskStatuses);

export const prioritiesMax = 5;
export const Priority = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(prioritiesMax));
export const priorityDefault = 3;

/** Limits of what a task, a project, a portfolio or one of its days may use. */
export const PortfolioBudget = v.strictObject({
  tokens: v.optional(amount),
  usd: v.optional(amount),
});
export type PortfolioBudget = v.InferOutput<typeof PortfolioBudget>;
/** Tokens and US dollars; of a run always its total so far (Q2). */
export const PortfolioUsage = v.strictObject({ tokens: amount, usd: amount });
export type PortfolioUsage = v.InferOutput<typeof PortfolioUsage>;

export const Criterion = v.strictObject({ text, command: v.nullable(text) });
export type Criterion = v.InferOutput<typeof Criterion>;

/**
 * A person's definition of a project; `repository` is null if another tool's project names none.
 */
export const ProjectFields = v.strictObject({
  name: text,
  objective: text,
  repository: v.nullable(text),
  target: text,
  priority: Priority,
  slots: v.pipe(v.number(), v.integer(), v.minValue(1)),
  budget: PortfolioBudget,
  accept_unproved: v.boolean(),
  paused: v.boolean(),
  /** The agent for tasks that name none: `codex`, or several in order. */
  agent: v.optional(v.nullable(text)),
});
export type ProjectFields = v.InferOutput<typeof ProjectFields>;

/** A person's definition of a task. `touches` empty: it may change anything. */
export const TaskFields = v.strictObject({
  objective: text,
  acceptance_criteria: v.array(Criterion),
  dependencies: v.array(TaskId),
  touches: texts,
  priority: Priority,
  budget: PortfolioBudget,
  agent: v.nullable(text),
  flow: v.nullable(text),
  isolation: v.nullable(text),
  /** The issue it was imported from: its URL and its text, which is untrusted. */
  link: v.optional(v.pipe(text, v.maxLength(2_000))),
  quoted: v.optional(v.pipe(text, v.maxLength(evidenceCharsMax))),
});
export type TaskFields = v.InferOutput<typeof TaskFields>;

/** The runner's own result for a task's criteria. */
export const TaskProof = v.strictObject({
  criteria: v.pipe(v.number(), v.integer(), v.minValue(0)),
  proved: v.pipe(v.number(), v.integer(), v.minValue(0)),
  checks_attempted: texts,
  checks_passed: texts,
  checks_failed: texts,
});
export type TaskProof = v.InferOutput<typeof TaskProof>;

const projectKey = { project_id: ProjectId };
const taskKey = { task_id: TaskId };
const runKey = { run_id: RunId };
/** What the events of a new task say. */
const creationFields = {
  ...taskKey,
  project_id: ProjectId,
  status: v.picklist(["proposed", "ready"]),
  fields: TaskFields,
};

/** Each event's own fields, by its name (Q1). */
export const portfolioChanges = {
  portfolio_created: v.strictObject({
    name: text,
    budget: PortfolioBudget,
    day_budget: PortfolioBudget,
  }),
  portfolio_updated: v.strictObject({
    paused: v.optional(v.boolean()),
    budget: v.optional(PortfolioBudget),
    day_budget: v.optional(PortfolioBudget),
  }),
  project_created: v.strictObject({ ...projectKey, fields: ProjectFields }),
  /** A repository has one hub, and a hub one repository. Null: it has none any more. */
  hub_set: v.strictObject({ repository: text, hub: v.nullable(HubAddress) }),
  project_updated: v.strictObject({ ...projectKey, changes: v.partial(ProjectFields) }),
  task_created: v.strictObject(creationFields),
  followup_task_created: v.strictObject({ ...creationFields, parent_task_id: TaskId }),
  task_updated: v.strictObject({ ...taskKey, changes: v.partial(TaskFields) }),
  task_dispatched: v.strictObject({
    ...taskKey,
    ...runKey,
    event_nonce: text,
    worker_backend: text,
    worker_agent_id: text,
    worker_session_key: text,
    /** Which of the agents that may work on it, as the list names it. */
    agent: v.optional(text),
    base: GitSha,
    /** The target branch's commit when the copy was made: the base of the work. */
    tip: v.optional(GitSha),
    copy: text,
    /** Files in which a conflict was left for the agent. */
    conflicts: v.optional(texts),
    /** What its run may use. Reserved until the run is over. */
    allowance: v.optional(PortfolioBudget),
  }),
  /**
   * `block_id`: the question about a cause that holds up several tasks; this one waits for its
   * answer.
   */
  task_status_changed: v.strictObject({
    ...taskKey,
    to_status: Status,
    because: text,
    block_id: v.optional(BlockId),
  }),
  worker_result_ingested: v.strictObject({
    ...taskKey,
    ...runKey,
    event_nonce: text,
    to_status: Status,
    commit: v.nullable(GitSha),
    proof: TaskProof,
    claim: v.nullable(WorkerResult),
    summary: text,
    evidence: texts,
    usage: PortfolioUsage,
  }),
  worker_rested: v.strictObject({
    ...taskKey,
    ...runKey,
    because: text,
    until: v.nullable(PortfolioTime),
    usage: PortfolioUsage,
    /**
     * The limits of the run that leave no room for another turn: its work is kept, and it goes on
     * once they are raised.
     */
    short: v.optional(v.array(ShortLimit)),
  }),
  /**
   * Limits at which a run rested were raised in its own journal. `allowance`: what it may use in
   * all now.
   */
  run_limits_raised: v.strictObject({ ...taskKey, ...runKey, allowance: PortfolioBudget }),
  /** What a run has used so far, if nothing else that is written then says so. */
  usage_counted: v.strictObject({ ...taskKey, ...runKey, usage: PortfolioUsage }),
  /**
   * Starting a task, or taking its result in, failed for the reason that the line names, and is
   * tried again.
   */
  task_delayed: v.strictObject({
    ...taskKey,
    doing: v.picklist(["start", "result"]),
    because: text,
    until: PortfolioTime,
  }),
  lease_lost: v.strictObject({ ...taskKey, ...runKey, because: text, usage: PortfolioUsage }),
  block_opened: v.strictObject({
    block_id: BlockId,
    project_id: v.nullable(ProjectId),
    task_id: v.nullable(TaskId),
    question: text,
    expected_action: text,
    impact: text,
    options: v.record(text, text),
    content: text,
    /** The facts that an answer agrees to, beyond the words shown. */
    about: v.optional(text),
    asked_by: v.nullable(v.strictObject({ run_id: RunId, block: text })),
    /**
     * The question that this one was asked in place of, because what that was about had changed.
     */
    replaces: v.optional(BlockId),
  }),
  block_resolved: v.strictObject({ block_id: BlockId, answer: text, content: text }),
  merge_queued: v.strictObject({ ...taskKey, ...runKey, commit: GitSha }),
  merge_verified: v.strictObject({
    repository: text,
    tasks: v.array(TaskId),
    from: GitSha,
    commit: GitSha,
    evidence: texts,
  }),
  merge_rejected: v.strictObject({
    ...taskKey,
    kind: v.picklist(["conflict", "checks"]),
    with: v.array(TaskId),
    because: text,
    evidence: texts,
  }),
  /** Finished work waits for a person to let it land; `because` null: it goes on. */
  landing_held: v.strictObject({
    repository: text,
    target: text,
    because: v.nullable(text),
    command: text,
  }),
  merge_landed: v.strictObject({ ...taskKey, commit: GitSha, target: text }),
  budget_exhausted: v.strictObject({
    scope: v.picklist(["portfolio", "day", "project"]),
    project_id: v.nullable(ProjectId),
    because: text,
  }),
  planner_tick: v.strictObject({
    dispatched: v.array(TaskId),
    waiting: v.record(text, v.number()),
  }),
  checkpoint_compacted: v.strictObject({ window_start: PortfolioTime, window_end: PortfolioTime }),
  /** A line that another tool wrote into the events file, byte for byte. */
  line_imported: v.strictObject({ line: text }),
} as const;

export type PortfolioChangeName = keyof typeof portfolioChanges;
export const portfolioChangeNames = Object.keys(portfolioChanges) as readonly PortfolioChangeName[];

type FieldsOf<Name extends PortfolioChangeName> = v.InferOutput<(typeof portfolioChanges)[Name]>;
/**
 * One change, as it is passed to the journal. `actor`: `operator:<user>`, `agent:<name>`,
 * `planner`, `system`.
 */
export type PortfolioChange = {
  [Name in PortfolioChangeName]: {
    readonly event: Name;
    readonly actor: string;
    readonly reason_code: string;
  } & Readonly<FieldsOf<Name>>;
}[PortfolioChangeName];
export type PortfolioChangeOf<Name extends PortfolioChangeName> = Extract<
  PortfolioChange,
  { readonly event: Name }
>;
/**
 * The position of a change among those written with it. They count only together, once the last of
 * them is in the journal.
 */
export const BatchPart = v.strictObject({
  at: v.pipe(v.number(), v.integer(), v.minValue(1)),
  of: v.pipe(v.number(), v.integer(), v.minValue(2)),
});
/** The same as the journal returns it. */
export type PortfolioEntry = PortfolioChange & {
  readonly seq: number;
  readonly ts: string;
  readonly part?: Readonly<v.InferOutput<typeof BatchPart>>;
};

/**
 * What is wrong with a change; null if nothing is. Journal lines are validated with this when they
 * are written.
 */
export function findChangeFault(change: PortfolioChange): string | null {
  const { event, actor: _actor, reason_code: _code, ...fields } = change;
  const result = v.safeParse(portfolioChanges[event], fields);
  if (result.success) return null;
  const [issue] = result.issues;

  return `${event}.${v.getDotPath(issue) ?? ""}: ${issue.message}`;
}
