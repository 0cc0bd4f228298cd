// run-page: all data of a page about one run, and what a report file shows beyond it.

import type { IsolationInForce } from "../../contracts/event.ts";
import type { Entry } from "../../contracts/event.ts";
import { openBlobReader } from "../../playbooks/contract/run-journal.ts";
import { openClaimReader } from "../../project/runs/run-blobs.ts";
import { readEvidence } from "../../project/runs/read-evidence.ts";
import { type BudgetView, buildBudgetView } from "../../views/budget-view.ts";
import { type BreakerView, buildBreakerView, describeBreaker } from "../../views/breaker-view.ts";
import { pauseDetail } from "../../views/facts/pause-detail.ts";
import { goalRest, type RunCard } from "../../views/facts/run-card.ts";
import type { SpendingPoint } from "../../views/facts/run-index.ts";
import { type Waterfall, buildWaterfall } from "../../views/facts/waterfall.ts";
import { listNextActions } from "../../views/next-actions.ts";
import { type ChangeSummary, buildReportView, type ReportView } from "../../views/report.ts";
import { buildStatusView } from "../../views/status.ts";
import type { FollowedRun } from "./followed-runs.ts";
import { readLiveLine } from "./followed-runs.ts";
import { buildCard } from "./overview.ts";

/** The header of every page about a run. */
export type RunHead = {
  readonly card: RunCard;
  /** Its goal below the first line. */
  readonly goal_rest: string;
  readonly branch: string;
  readonly agents: readonly (readonly [role: string, agent: string])[];
  readonly isolation: IsolationInForce;
};

/** Values that need the whole history, computed once until a line is added. */
export type ShownReport = Pick<
  ReportView,
  "ending" | "criteria" | "evidence" | "gates" | "claims" | "looked_up" | "gaps"
>;

/** What may be another at each request, even if no line was added. */
type ChangingPart = {
  readonly at: string;
  readonly breaker: BreakerView;
  readonly breaker_words: string;
  readonly liveLine: string;
  readonly waterfall: Waterfall;
  readonly points: readonly SpendingPoint[];
  readonly budget: BudgetView;
  readonly next_actions: readonly string[];
  readonly detail: string | null;
};

/** The page of a run in a browser. */
export type ShownRun = RunHead & ChangingPart & { readonly report: ShownReport };

/** The page of a run in a report file: everything, since nothing can be asked for later. */
export type RunPage = RunHead &
  ChangingPart & {
    readonly base: string;
    readonly tip: string;
    readonly scope: readonly string[];
    readonly report: Pick<
      ReportView,
      | "summary"
      | "ending"
      | "criteria"
      | "evidence"
      | "gates"
      | "claims"
      | "looked_up"
      | "phases"
      | "decisions"
      | "blockers"
      | "gaps"
      | "look_at"
      | "cost"
      | "recommendations"
      | "changes"
      | "afterwards"
      | "forked_from"
    >;
  };

type PageOptions = {
  readonly now: string;
  readonly expanded?: ReadonlySet<string> | undefined;
  /** Shows the steps of every phase, not only of those that are open or were expanded. */
  readonly isAll?: boolean;
  readonly changes?: ChangeSummary | undefined;
  /** Whether bare commands mean this run, so that the next actions need not name it. */
  readonly isCurrent?: boolean;
};

const excerptCharsMax = 4_000;
const pointsMax = 400;
const claimsShownMax = 3;

export function buildRunHead(run: FollowedRun): RunHead {
  const { view, owner } = run;
  const { isolation, branch } = buildStatusView(view, owner);
  return {
    card: buildCard(run),
    goal_rest: goalRest(view.drafted.objective.goal),
    branch,
    agents: Object.entries(view.drafted.cast).map(([role, { agent }]) => [role, agent] as const),
    isolation,
  };
}

export const buildShownRun = (
  run: FollowedRun,
  head: RunHead,
  report: ShownReport,
  options: PageOptions,
): ShownRun => ({
  ...head,
  ...buildChangingPart(run, options),
  report,
});

export function buildShownReport(run: FollowedRun, entries: readonly Entry[]): ShownReport {
  const { ending, criteria, evidence, gates, claims, looked_up, gaps } = buildReport(run, entries, {
    now: "",
  });

  return {
    ending,
    criteria,
    evidence,
    gates,
    claims: claims.slice(-claimsShownMax),
    looked_up,
    gaps,
  };
}

export function buildRunPage(
  run: FollowedRun,
  entries: readonly Entry[],
  options: PageOptions,
): RunPage {
  const { view } = run;
  const {
    run_id: _run,
    state: _state,
    reason_code: _code,
    flow: _flow,
    goal: _goal,
    scope,
    ...report
  } = buildReport(run, entries, options);

  const { verdict: _verdict, judgement: _judgement, ...reportPart } = report;
  const head = buildRunHead(run);
  return {
    ...head,
    ...buildChangingPart(run, options),
    card: { ...head.card, changedFiles: report.changes.files },
    base: view.drafted.base.commit,
    tip: view.tip.commit,
    scope,
    report: reportPart,
  };
}

const buildReport = (
  run: FollowedRun,
  entries: readonly Entry[],
  options: PageOptions,
): ReportView =>
  buildReportView(run.view, entries, {
    owner: run.owner,
    isCurrent: options.isCurrent ?? false,
    excerpts: readExcerpts(run.folder, run),
    claimOf: openClaimReader(openBlobReader(run.folder)),
    ...(options.changes === undefined ? {} : { changes: options.changes }),
  });

function buildChangingPart(run: FollowedRun, options: PageOptions): ChangingPart {
  const { view, owner, index } = run;
  const { breaker } = buildStatusView(view, owner);
  return {
    at: options.now,
    breaker: buildBreakerView(view),
    breaker_words: describeBreaker(breaker),
    liveLine: readLiveLine(run),
    waterfall: buildWaterfall(view, index, options),
    points: thinOut(index.points),
    budget: buildBudgetView(view),
    next_actions: listNextActions(view, owner, { isCurrent: options.isCurrent ?? false }),
    detail: pauseDetail(view),
  };
}

/** At most `pointsMax` of the points, evenly chosen, the last one always among them. */
function thinOut<T>(points: readonly T[]): readonly T[] {
  if (points.length <= pointsMax) return points;
  const step = points.length / pointsMax;
  const chosen = Array.from(
    { length: pointsMax - 1 },
    (_, index) => points[Math.floor(index * step)] as T,
  );

  return [...chosen, ...points.slice(-1)];
}

/** The end of each deciding check's output. */
function readExcerpts(folder: string, { view }: FollowedRun): Record<string, string> {
  const excerpts: Record<string, string> = {};
  for (const { latest } of Object.values(view.checks)) {
    const evidence = readEvidence(folder, latest.evidence);
    if (evidence !== null) {
      excerpts[latest.evidence] = evidence.output_excerpt.slice(-excerptCharsMax);
    }
  }

  return excerpts;
}
