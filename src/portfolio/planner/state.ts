// state: the state of a portfolio, folded from its journal. Plain data; only `reduce` changes it,
// in place.

import type { ShortLimit } from "../../core/state.ts";
import type { PortfolioTaskStatus } from "../../contracts/portfolio/portfolio.ts";
import type { WorkerResult } from "../../contracts/portfolio/worker-result.ts";
import type {
  PortfolioBudget,
  PortfolioEntry,
  PortfolioUsage,
  ProjectFields,
  TaskProof,
  TaskFields,
} from "../../contracts/portfolio/portfolio-journal.ts";

export type Project = ProjectFields & {
  project_id: string;
  created_at: string;
  /** The journal's line that last changed this project or one of its tasks. */
  changed: number;
  /**
   * How many dispatches there had been when one of its tasks was last dispatched: who waited
   * longest is next.
   */
  last_dispatch: number;
  spent: PortfolioUsage;
  tasks: string[];
};

/**
 * What a running task is doing: its run works, its run rests (a limit, a parked provider), or it
 * waits to be merged.
 */
export type Stage = "working" | "resting" | "queued";

/** Why a task waits for its surroundings: an unreachable store or hub, a full disk. */
export type Delay = {
  reason: string;
  /** What could not be done: starting it, or taking its result in. */
  doing: "start" | "result";
  because: string;
  since: string;
  tries: number;
  until: string;
};

export type Task = TaskFields & {
  task_id: string;
  project_id: string;
  parent_task_id: string | null;
  /** Another tool reported it, and it was not taken up here. */
  is_imported: boolean;
  status: PortfolioTaskStatus;
  stage: Stage | null;
  created: number;
  created_at: string;
  changed: number;
  changed_at: string;
  /**
   * How many dispatches there had been when it became ready, and how many may pass before it goes
   * first.
   */
  ready_at_dispatch: number;
  waits_at_most: number;
  attempt: number;
  failures: number;
  adjustments: number;
  /** The result of the last attempt, for the next one. */
  feedback: string | null;
  /** Who gave it back: its own run, or the merge queue. */
  returned_by: "worker" | "queue" | null;
  worker_backend: string | null;
  worker_agent_id: string | null;
  worker_session_key: string | null;
  /** Which of its agents works on it, as the list names it. */
  chosen: string | null;
  run_id: string | null;
  event_nonce: string | null;
  /** Whether the run's result has been taken in. */
  ingested: boolean;
  /** What its run was begun with has changed since, so the run is not resumed. */
  is_edited: boolean;
  base: string | null;
  /** The commit of the target branch that its work is based on. */
  tip: string | null;
  copy: string | null;
  /** Files of the copy in which a conflict was left for the agent. */
  conflicts: string[];
  rests_until: string | null;
  rest_because: string | null;
  /** Kept until the task gets on, so that tries are counted. */
  delay: Delay | null;
  started_at: string | null;
  ended_at: string | null;
  commit: string | null;
  finished: number;
  proof: TaskProof | null;
  claim: WorkerResult | null;
  summary: string | null;
  evidence: string[];
  blocked_duration_ms: number | null;
  /** The question about a cause that blocks it, and maybe other tasks. */
  waits_for: string | null;
  /** The limits at which its run rests; null if it does not. */
  short: ShortLimit[] | null;
  /** What its run may use in all, while that run can go on; null if there is none. */
  allowance: PortfolioBudget | null;
  /** What its current run has been charged with. */
  run_spent: PortfolioUsage;
  spent: PortfolioUsage;
  landed: string | null;
};

export type Block = {
  block_id: string;
  project_id: string | null;
  task_id: string | null;
  question: string;
  expected_action: string;
  impact: string;
  options: Record<string, string>;
  content: string;
  /** Empty if it is about nothing but its words. */
  about: string;
  asked_by: { run_id: string; block: string } | null;
  /** The question that it was asked in place of. */
  replaces: string | null;
  /**
   * If it is about a cause that blocks several tasks: those, each with its last change when it
   * began to wait.
   */
  tasks: Record<string, { changed: number; since: string }>;
  opened_at: string;
  resolved_at: string | null;
  answer: string | null;
};

/** A batch that was proved on the merged tree and has not landed as far as the journal knows. */
export type VerifiedBatch = { repository: string; tasks: string[]; from: string; commit: string };

/**
 * A branch that nothing lands on before a person has done something, and the command that helps.
 */
export type HeldBranch = {
  repository: string;
  target: string;
  because: string;
  command: string;
  since: string;
};

export type Portfolio = {
  name: string;
  created_at: string;
  seq: number;
  /** Entries of a batch whose last entry is missing so far. */
  unfinished: PortfolioEntry[];
  paused: boolean;
  budget: PortfolioBudget;
  day_budget: PortfolioBudget;
  spent: PortfolioUsage;
  days: Record<string, PortfolioUsage>;
  projects: Record<string, Project>;
  /** By repository: where machines of a store exchange its commits and land. */
  hubs: Record<string, string>;
  tasks: Record<string, Task>;
  blocks: Record<string, Block>;
  /** By task: who waits for it. */
  dependents: Record<string, string[]>;
  /** How many tasks are ready, by priority. */
  ready: Record<number, number>;
  dispatches: number;
  /** Agents at their provider's limit, and until when. */
  limited: Record<string, string>;
  batches: VerifiedBatch[];
  /** By queue. */
  held: Record<string, HeldBranch>;
  /** Used-up budgets that have been reported: `project:<id>`, `portfolio`, `day:<date>`. */
  exhausted: string[];
  /** The tasks that were done last, the newest first. */
  recent: string[];
  heartbeat: string | null;
  waiting: Record<string, number>;
  checkpoints: {
    ts: string;
    window_start: string;
    window_end: string;
    summary: string;
    key_metrics: Record<string, number | null>;
  }[];
  totals: {
    tasks_created_total: number;
    tasks_completed_total: number;
    tasks_failed_total: number;
    tasks_needs_adjustment_total: number;
    tasks_blocked_human_total: number;
    verification_incomplete_total: number;
    cycle_ms: number;
    blocks_resolved: number;
    block_ms: number;
  };
};

/** The same type, read-only at every depth. */
export type View<T> = T extends readonly (infer Item)[]
  ? readonly View<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: View<T[Key]> }
    : T;
export type PortfolioView = View<Portfolio>;
export type TaskView = View<Task>;
export type ProjectView = View<Project>;
export type BlockView = View<Block>;
export type HeldBranchView = View<HeldBranch>;

/** The key of a merge queue: there is one for each branch of a repository. */
export const toQueueKey = (
  branch: { readonly repository: string | null; readonly target: string } | undefined,
): string => `${branch?.repository ?? ""}\n${branch?.target ?? ""}`;

/** How often a task may fail before a person is asked. */
export const failuresMax = 2;

export const noUsage = (): PortfolioUsage => ({ tokens: 0, usd: 0 });

export const createEmptyPortfolio = (): Portfolio => ({
  name: "",
  created_at: "",
  seq: 0,
  unfinished: [],
  paused: false,
  budget: {},
  day_budget: {},
  spent: noUsage(),
  days: {},
  projects: {},
  hubs: {},
  tasks: {},
  blocks: {},
  dependents: {},
  ready: {},
  dispatches: 0,
  limited: {},
  batches: [],
  held: {},
  exhausted: [],
  recent: [],
  heartbeat: null,
  waiting: {},
  checkpoints: [],
  totals: {
    tasks_created_total: 0,
    tasks_completed_total: 0,
    tasks_failed_total: 0,
    tasks_needs_adjustment_total: 0,
    tasks_blocked_human_total: 0,
    verification_incomplete_total: 0,
    cycle_ms: 0,
    blocks_resolved: 0,
    block_ms: 0,
  },
});

/** The questions that wait for an answer. */
export const listOpenBlocks = (state: PortfolioView): readonly BlockView[] =>
  Object.values(state.blocks).filter(({ resolved_at }) => resolved_at === null);
