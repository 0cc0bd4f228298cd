// status: builds the state of a run as `autopilot status --json` prints it; status-page.ts renders
// it for people.

import type { IsolationInForce } from "../contracts/event.ts";
import type { Objective, RunStatus, Verdict } from "../contracts/objective.ts";
import { isReasonCode, type ReasonCode } from "../contracts/reason.ts";
import type { RunView } from "../core/state.ts";
import { completionCodes } from "../core/verdict.ts";
import { unreachable } from "../kit/unreachable.ts";
import { type BudgetView, buildBudgetView } from "./budget-view.ts";
import { buildBreakerView, type BreakerView } from "./breaker-view.ts";
import { type Interruption, findInterruption } from "./interruption.ts";
import { listNextActions, type Owner } from "./next-actions.ts";
import { findForkOrigin, type OriginView } from "./facts/fork-origin.ts";
import { isAnswered } from "./facts/pause-detail.ts";
import { listPhaseRows, type PhaseRow } from "./phase-rows.ts";
import {
  listBlockers,
  type CriterionStatus,
  listCriteria,
  describeCurrentPlaces,
  listSteps,
} from "./criteria-status.ts";
import { runBranchName } from "../contracts/run-branch.ts";

export type StatusView = {
  readonly run_id: string;
  readonly state: RunStatus;
  readonly reason_code: ReasonCode;
  readonly flow: string;
  readonly objective: Omit<Objective, "done_criteria"> & {
    readonly done_criteria: readonly CriterionStatus[];
  };
  readonly budget: BudgetView;
  readonly progress: {
    readonly completed_steps: readonly string[];
    readonly pending_steps: readonly string[];
    readonly blockers: readonly string[];
  };
  /** How far the journal has come: the last line that counts, and what it was about. */
  readonly checkpoint: {
    readonly seq: number;
    readonly at: string;
    readonly place: readonly string[];
    readonly commit: string;
  };
  /** The state of each phase: its score, what it used, where it is. */
  readonly phases: readonly PhaseRow[];
  readonly breaker: BreakerView;
  readonly isolation: IsolationInForce;
  readonly verdict: Verdict | null;
  readonly gaps: readonly string[];
  readonly owner: Owner;
  /**
   * Set if the run says it is running and no process works on it: what is kept and what starts
   * over.
   */
  readonly interrupted: Interruption | null;
  readonly branch: string;
  readonly started_at: string | null;
  /** Where it was forked from; null if it is not a fork. */
  readonly forked_from: OriginView | null;
  readonly next_actions: readonly string[];
};

export function buildStatusView(run: RunView, owner: Owner): StatusView {
  const { drafted } = run;
  const { completed, pending } = listSteps(run);
  return {
    run_id: drafted.run_id,
    state: run.status,
    reason_code: findReasonCode(run, owner),
    flow: drafted.flow.flow,
    objective: { ...copyDeep(drafted.objective), done_criteria: listCriteria(run) },
    budget: buildBudgetView(run),
    progress: { completed_steps: completed, pending_steps: pending, blockers: listBlockers(run) },
    phases: listPhaseRows(run),
    breaker: buildBreakerView(run),
    checkpoint: {
      seq: run.seq,
      at: run.updatedAt,
      place: describeCurrentPlaces(run),
      commit: run.tip.commit,
    },
    isolation: copyDeep(run.isolation ?? plannedIsolation(drafted.isolation)),
    verdict: run.verdict,
    gaps: run.gaps,
    owner,
    interrupted: findInterruption(run, owner),
    branch: runBranchName(drafted.run_id),
    started_at: run.startedAt,
    forked_from: findForkOrigin(run),
    next_actions: listNextActions(run, owner),
  };
}

/** The run's recorded reason if it has one; else the reason that follows from its state. */
export function findReasonCode(run: RunView, owner: Owner): ReasonCode {
  if (run.status === "draft") return run.acknowledged ? "ack_recorded" : "run_drafted";
  if (run.status === "running" && owner !== null) return "run_in_progress";
  if (findInterruption(run, owner) !== null) return "run_interrupted";
  if (run.status === "running" && run.resting !== null && isReasonCode(run.resting)) {
    return run.resting;
  }

  if (isAnswered(run)) return "block_answered";
  if (run.reason !== null && isReasonCode(run.reason)) return run.reason;
  switch (run.status) {
    case "running":
      return "cycle_progressed";
    case "paused":
      return "operator_paused";
    case "stopped":
      return "operator_stopped";
    case "completed":
      return completionCodes[run.verdict ?? "unverified"];
    default:
      return unreachable(run.status);
  }
}

const plannedIsolation = (level: string): IsolationInForce => ({
  level,
  mechanism: "chosen when the run opens",
  enforced: [],
  not_enforced: [],
});

/** The journal's data is read-only all the way down; a response is its own copy. */
const copyDeep = <T>(value: T): Mutable<T> => JSON.parse(JSON.stringify(value)) as Mutable<T>;
type Mutable<T> = T extends readonly (infer E)[]
  ? Mutable<E>[]
  : T extends object
    ? { -readonly [K in keyof T]: Mutable<T[K]> }
    : T;
