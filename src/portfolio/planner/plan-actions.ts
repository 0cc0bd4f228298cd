// plan-actions: what a plan consists of: the actions it takes, the tasks that wait, and the facts
// it is made from. Types only.

import type { PortfolioBudget } from "../../contracts/portfolio/portfolio-journal.ts";
import type { UsedUpBudget } from "./budget-scopes.ts";
import type { LandingFacts, MergeAction } from "./merge-order.ts";

/** What a plan depends on besides the portfolio's state. */
export type PlanFacts = LandingFacts & {
  readonly now: string;
  readonly jobs: number;
  /**
   * Tasks whose worker is gone although the journal says it works; by task, since runs of two
   * copies may have the same id.
   */
  readonly withoutWorker: ReadonlySet<string>;
  /** `agents.<name>.max_parallel`. */
  readonly perAgent: Readonly<Record<string, number>>;
  readonly agent: string;
  /** Why nothing new may start, if the disk is full of copies. */
  readonly roomProblem?: string | null;
};

/** Why a task waits. `makes_way`: an overlapping task has waited longer. */
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

export type WaitingTask = {
  readonly task_id: string;
  readonly code: WaitCode;
  readonly because: string;
};
export type DispatchAction = {
  readonly do: "dispatch";
  readonly task_id: string;
  readonly is_resumed: boolean;
  readonly is_approved: boolean;
  readonly agent: string;
  /** What its run may use; it is reserved until the run ends. */
  readonly allowance: PortfolioBudget;
};
export type PlanAction =
  | { readonly do: "release"; readonly task_id: string; readonly run_id: string }
  | { readonly do: "retry"; readonly task_id: string; readonly because: string }
  | DispatchAction
  | MergeAction
  | { readonly do: "tell_budget"; readonly ended: UsedUpBudget }
  | { readonly do: "ask_idle"; readonly project_id: string };
export type Plan = {
  readonly actions: readonly PlanAction[];
  readonly waiting: readonly WaitingTask[];
};
