// run-card: reduces a run to the few facts that a list of runs shows.

import type { RunView } from "../../core/state.ts";
import { isReasonCode, reasons } from "../../contracts/reason.ts";
import { ownValue } from "../../core/own-values.ts";
import { isPausedFor, listOpenQuestions } from "../../core/selectors.ts";
import { buildBudgetView } from "../budget-view.ts";
import { isReportedByPhases, listUserCriteria, describeCurrentPlaces } from "../criteria-status.ts";
import { findInterruption } from "../interruption.ts";
import { hasLanded, type Owner } from "../next-actions.ts";
import { listPhaseRows, type PhaseRow } from "../phase-rows.ts";
import { findReasonCode } from "../status.ts";
import { formatVerdict } from "../sentences/verdict-sentences.ts";
import { plural } from "../wording.ts";
import { type Shape, type ShownStatus, verdictShape } from "./shape.ts";

export type RunCard = ShownStatus & {
  /** Names the run uniquely: two copies of a repository may each have a run of the same id. */
  readonly key: string;
  readonly run: string;
  readonly project: string;
  /** The goal's first line; the rest is on the run's own page. */
  readonly goal: string;
  readonly flow: string;
  readonly state: string;
  readonly reason: string;
  readonly meaning: string;
  /** The progress bar; an empty one has not begun. */
  readonly segments: readonly (Shape | "")[];
  /** Where it is: `3 of 7 phases`. */
  readonly progressText: string;
  readonly currentPlace: string;
  /** The fullest limit, as a share. */
  readonly fullestLimit: {
    readonly of: string;
    readonly ratio: number;
    readonly soft: number;
  } | null;
  readonly started_at: string | null;
  readonly updated_at: string;
  readonly ended_at: string | null;
  /** Until when it is parked. */
  readonly parkedUntil: string | null;
  readonly verdict: string | null;
  readonly provedCount: number;
  readonly criteriaCount: number;
  readonly hasLanded: boolean;
  readonly changedFiles: number | null;
  readonly tokens: number;
  readonly usd: number;
  readonly questionCount: number;
  /** It is paused for a question that is still open: a resume would pause again. */
  readonly isHeldByQuestion: boolean;
  /** A process works on it. */
  readonly hasOwner: boolean;
  /** Another user or machine started it, so it is only read here. */
  readonly foreign: boolean;
  readonly isolation: string;
  readonly breaker: string;
  readonly seq: number;
};

export type CardContext = {
  readonly key: string;
  readonly project: string;
  readonly owner: Owner;
  readonly foreign: boolean;
  readonly ended: string | null;
};

const segmentsMax = 12;

export function buildRunCard(
  view: RunView,
  { key, project, owner, foreign, ended }: CardContext,
): RunCard {
  const { drafted, ledger, breaker } = view;
  const rows = isReportedByPhases(view) ? listPhaseRows(view) : [];
  const criteria = listUserCriteria(view);
  const reason = findReasonCode(view, owner);

  return {
    ...toShownStatus(view, owner),
    key,
    run: drafted.run_id,
    project,
    goal: goalTitle(drafted.objective.goal),
    flow: drafted.flow.flow,
    state: findInterruption(view, owner) === null ? view.status : "interrupted",
    reason,
    meaning: reasons[reason].meaning,
    segments: listSegments(view, rows),
    progressText: describePosition(view, rows),
    currentPlace: describeCurrentPlaces(view)[0] ?? "",
    fullestLimit: findFullestLimit(view),
    started_at: view.startedAt,
    updated_at: view.updatedAt,
    ended_at: ended,
    parkedUntil: view.parked?.until ?? null,
    verdict: view.verdict,
    provedCount: criteria.filter(({ proved }) => proved).length,
    criteriaCount: criteria.length,
    hasLanded: hasLanded(view),
    changedFiles: null,
    tokens: ledger.run.tokens,
    usd: ledger.run.usd,
    questionCount: listOpenQuestions(view).length,
    isHeldByQuestion: listOpenQuestions(view).some((block) => isPausedFor(view, block)),
    hasOwner: owner !== null,
    foreign,
    isolation: view.isolation?.level ?? drafted.isolation,
    breaker: breaker.state,
    seq: view.seq,
  };
}

/** A run that came to rest by itself, such as at its limit of cycles, is no interrupted one. */
export function toShownStatus(view: RunView, owner: Owner): ShownStatus {
  const hasQuestions = listOpenQuestions(view).length > 0;
  switch (view.status) {
    case "draft":
      return { shape: "waits", word: view.acknowledged ? "acknowledged" : "draft" };
    case "completed": {
      const verdict = view.verdict ?? "unverified";
      return { shape: verdictShape[verdict] ?? "unproved", word: formatVerdict(verdict) };
    }
    case "stopped":
      return { shape: "stopped", word: "stopped" };
    case "paused":
      if (view.parked !== undefined) return { shape: "parked", word: "parked" };
      return hasQuestions
        ? { shape: "you", word: "needs you" }
        : { shape: "paused", word: "paused" };
    default:
      if (owner === null) {
        return {
          shape: "paused",
          word: findInterruption(view, owner) === null ? "resting" : "interrupted",
        };
      }
      if (view.parked !== undefined) return { shape: "parked", word: "parked" };
      return hasQuestions && Object.keys(view.open).length === 0
        ? { shape: "you", word: "needs you" }
        : { shape: "run", word: "at work" };
  }
}

const rowShapes: Readonly<Record<PhaseRow["status"], Shape | "">> = {
  not_started: "",
  in_progress: "run",
  needs_human_verification: "you",
  completed: "ok",
  failed: "bad",
  skipped: "skipped",
};

/**
 * The shapes of the progress bar. If several phases share a segment, it shows the one that matters
 * most.
 */
function listSegments(view: RunView, rows: readonly PhaseRow[]): RunCard["segments"] {
  const shapes =
    rows.length > 0 ? rows.map(({ status }) => rowShapes[status]) : listStepShapes(view);
  if (shapes.length <= segmentsMax) return shapes;
  const byWeight: readonly (Shape | "")[] = ["bad", "you", "run", "", "ok", "skipped"];

  return Array.from({ length: segmentsMax }, (_, index) => {
    const bound = (segment: number): number => Math.floor((segment * shapes.length) / segmentsMax);
    const part = shapes.slice(bound(index), bound(index + 1));
    return byWeight.find((shape) => part.includes(shape)) ?? "";
  });
}

function listStepShapes(view: RunView): readonly (Shape | "")[] {
  const criteria = listUserCriteria(view);
  if (criteria.length > 0) {
    return criteria.map(({ proved }) => (proved ? "ok" : unprovedShape(view.status)));
  }

  return view.phases.map(({ id, status }) => {
    if (status === "completed") return "ok";
    if (status === "failed") return "bad";
    if (status === "skipped") return "skipped";

    return ownValue(view.cursors, id) === undefined ? "" : "run";
  });
}

function unprovedShape(status: RunView["status"]): Shape | "" {
  if (status === "completed") return "unproved";
  return status === "running" ? "run" : "";
}

function describePosition(view: RunView, rows: readonly PhaseRow[]): string {
  if (rows.length > 0) {
    return `${rows.filter(({ status }) => status === "completed").length} of ${plural(rows.length, "phase")}`;
  }

  const criteria = listUserCriteria(view);
  if (criteria.length > 0) {
    return `${criteria.filter(({ proved }) => proved).length} of ${criteria.length} proved`;
  }

  const finished = view.phases.filter(
    ({ status }) => status === "completed" || status === "skipped",
  ).length;

  return view.phases.length === 0 ? "" : `${finished} of ${plural(view.phases.length, "step")}`;
}

function findFullestLimit(view: RunView): RunCard["fullestLimit"] {
  const { ratios, soft_ratio } = buildBudgetView(view);
  const [fullest] = Object.entries(ratios).toSorted(([, a], [, b]) => (b ?? 0) - (a ?? 0));
  return fullest === undefined
    ? null
    : { of: fullest[0], ratio: fullest[1] ?? 0, soft: soft_ratio };
}

/** The goal's first line. */
export const goalTitle = (goal: string): string =>
  goal.trimStart().split(/\r?\n/, 1)[0]?.trim() ?? "";
/** What a goal says below its first line. */
export const goalRest = (goal: string): string =>
  goal.trimStart().slice(goalTitle(goal).length).trim();

/** A reason code in words. A flow may use codes of its own, which have no recorded meaning. */
export const describeReasonCode = (code: string): string =>
  isReasonCode(code) ? reasons[code].meaning : code.replaceAll("_", " ");
