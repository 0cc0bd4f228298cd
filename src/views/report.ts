// report: builds the data of `autopilot report`: what came of a run. report-page.ts renders it for
// people.
//
// Invariants:
//   R1. What the runner proved and what the agent claims are in separate fields, and the agent's
//       claims are marked as such.

import type { Entry } from "../contracts/event.ts";
import type { Check, CheckStatus, ClaimChecked } from "../contracts/evidence.ts";
import type { RunStatus, Verdict } from "../contracts/objective.ts";
import { type ReasonCode, reasons } from "../contracts/reason.ts";
import { stepsOfPhase } from "../core/selectors.ts";
import { ownValue } from "../core/own-values.ts";
import type { RunView } from "../core/state.ts";
import { type Decision, listDecisions } from "./decisions.ts";
import { describeEnding, listNextActions, type Owner } from "./next-actions.ts";
import { findForkOrigin, type OriginView } from "./facts/fork-origin.ts";
import { buildPhaseReports, type PhaseReport } from "./report-phases.ts";
import {
  listBlockers,
  type CriterionStatus,
  listFailingChecks,
  isReportedByPhases,
  listUserCriteria,
} from "./criteria-status.ts";
import { listPhaseRows, type PhaseRow } from "./phase-rows.ts";
import { findReasonCode } from "./status.ts";
import { formatAmount, describeAttempt, firstFew, oneLine, plural } from "./wording.ts";
import { runBranchName } from "../contracts/run-branch.ts";

export type ChangeSummary = {
  readonly files: number;
  /** Null if the changes come from the journal alone, which does not count lines. */
  readonly insertions: number | null;
  readonly deletions: number | null;
  readonly commits: readonly { readonly sha: string; readonly subject: string }[];
  /** File by file; only if git was asked. */
  readonly paths?: readonly {
    readonly path: string;
    readonly insertions: number | null;
    readonly deletions: number | null;
  }[];
};

/** Facts from outside the journal, which the caller may pass. */
export type ReportExtra = {
  readonly owner?: Owner;
  readonly isCurrent?: boolean;
  readonly changes?: ChangeSummary;
  /** The last lines of a check's output, by the hash of its evidence. */
  readonly excerpts?: Readonly<Record<string, string>>;
  /** An agent's return, by its blob. */
  readonly claimOf?: (hash: string) => unknown;
};

export type ReportedCheck = {
  readonly id: string;
  readonly kind: Check["kind"];
  readonly title: string;
  readonly command: string;
  readonly before: CheckStatus;
  readonly status: CheckStatus;
  readonly exit_code: number | null;
  readonly duration_ms: number;
  readonly evidence: string;
  readonly excerpt?: string;
  /** Why it did not pass, if its exit code does not say so. */
  readonly why?: string;
};

/** An agent's summary at the end of a turn. Never evidence. */
export type TurnClaim = {
  readonly attempt: string;
  readonly agent: string;
  readonly said: string;
  readonly promised: boolean;
  readonly confidence: number | null;
};

/** Agents' claims as the runner checked them; false ones come first. */
export type CheckedClaims = {
  readonly true: number;
  readonly false: number;
  readonly unverifiable: number;
  readonly claims: readonly (ClaimChecked & { readonly attempt: string; readonly agent: string })[];
};

/** The runner's conclusions, separate from the facts they rest on. */
export type Judgement = {
  readonly verdict: Verdict;
  readonly gaps: readonly string[];
  /** The evidence it rests on, by hash. */
  readonly rests_on: readonly string[];
};

export type ReportView = {
  readonly run_id: string;
  readonly state: RunStatus;
  readonly reason_code: ReasonCode;
  readonly flow: string;
  readonly goal: string;
  readonly scope: readonly string[];
  readonly criteria: readonly CriterionStatus[];
  readonly summary: string;
  /**
   * How a completed run ended, in a sentence made from its verdict; null while it is not completed.
   */
  readonly ending: string | null;
  /** Empty for a run with a single phase. */
  readonly phases: readonly PhaseReport[];
  /** Steps after the last phase, which see the whole change. */
  readonly afterwards: readonly {
    readonly name: string;
    readonly status: string;
    readonly because: string | null;
  }[];
  readonly decisions: readonly Decision[];
  readonly blockers: readonly string[];
  readonly recommendations: readonly string[];
  readonly evidence: readonly ReportedCheck[];
  /** Gates of steps that held: artifacts the runner looked at itself. */
  readonly gates: number;
  /** What agents said at the end of their last turns. */
  readonly claims: readonly TurnClaim[];
  readonly looked_up: CheckedClaims;
  readonly judgement: Judgement;
  readonly changes: ChangeSummary;
  readonly cost: {
    readonly tokens: number;
    readonly usd: number;
    readonly minutes: number;
    readonly calls: number;
    readonly estimated: number;
  };
  /** Where it was forked from; null if it is not a fork. */
  readonly forked_from: OriginView | null;
  readonly verdict: Verdict | null;
  readonly gaps: readonly string[];
  /** Changed files that a person should review. */
  readonly look_at: readonly { readonly path: string; readonly what: string }[];
};

/** The newest summaries of agents. */
const claimsMax = 5;
const goalCharsMax = 90;
/** The counts have all claims; of the claims themselves these are kept, false ones first. */
const lookedUpMax = 100;

export function buildReportView(
  run: RunView,
  entries: readonly Entry[],
  extra: ReportExtra = {},
): ReportView {
  const { drafted } = run;
  const owner = extra.owner ?? null;
  const changes = extra.changes ?? summarizeChanges(entries);
  const { tokens, usd, minutes, calls, estimated } = run.ledger.run;

  return {
    run_id: drafted.run_id,
    state: run.status,
    reason_code: findReasonCode(run, owner),
    flow: drafted.flow.flow,
    goal: drafted.objective.goal,
    scope: drafted.objective.scope,
    criteria: listUserCriteria(run),
    phases: isReportedByPhases(run) ? buildPhaseReports(run, entries, extra.claimOf) : [],
    afterwards: isReportedByPhases(run) ? listAfterwards(run) : [],
    summary: summarizeRun(run, changes, owner),
    decisions: listDecisions(entries),
    ending: run.status === "completed" ? describeEnding(run) : null,
    blockers: listBlockers(run),
    recommendations: listRecommendations(run, owner, extra.isCurrent),
    evidence: listReportedChecks(run, extra.excerpts ?? {}),
    gates: (run.gated ?? 0) + run.proved.length,
    claims: listTurnClaims(entries),
    looked_up: sumCheckedClaims(entries),
    judgement: judgeRun(run),
    changes,
    cost: { tokens, usd, minutes: Number(minutes.toFixed(2)), calls, estimated },
    forked_from: findForkOrigin(run),
    verdict: run.verdict,
    gaps: run.gaps,
    look_at: (run.oracles?.look ?? []).map(({ path, what }) => ({ path, what })),
  };
}

function summarizeRun(run: RunView, changes: ChangeSummary, owner: Owner): string {
  const criteria = listUserCriteria(run);
  const proved = criteria.filter((criterion) => criterion.proved).length;
  const { tokens, calls } = run.ledger.run;
  const code = findReasonCode(run, owner);
  const hasReason = run.status === "paused" || run.status === "stopped";
  const reason = hasReason ? ` ${reasons[code].meaning}` : "";
  const reasonText = run.status === "completed" ? ` ${describeEnding(run)}` : reason;

  return (
    `“${oneLine(run.drafted.objective.goal, goalCharsMax)}” is ${run.status}.${reasonText} ` +
    (isReportedByPhases(run)
      ? describePhases(run)
      : `${proved} of ${plural(criteria.length, "done criterion", "done criteria")} proved, `) +
    `${plural(changes.files, "file")} changed in ${plural(changes.commits.length, "commit")}, ${formatAmount("tokens", tokens)} in ${plural(calls, "call")}.`
  );
}

function listAfterwards(run: RunView): ReportView["afterwards"] {
  const phasesAfter = run.phases.filter(
    ({ group, status }) => group === "after" && status !== "waiting",
  );
  // An earlier one may have called the functions of a later one, which is skipped then. It counts
  // as completed, not as left out.
  const passedFunctions = new Set(
    phasesAfter.flatMap(({ id }) =>
      stepsOfPhase(run.drafted.flow, id)
        .filter((step) => hasPassed(run, id, step.id))
        .map((step) => step.run),
    ),
  );

  return phasesAfter.map(({ id, name, status, because }) => {
    const functions = stepsOfPhase(run.drafted.flow, id).map((step) => step.run);
    const isDone =
      status === "skipped" &&
      functions.every((name) => name !== undefined && passedFunctions.has(name));

    return {
      name: name === "" ? id : name,
      status: isDone ? "completed" : status,
      because: isDone ? null : because,
    };
  });
}

const hasPassed = (run: RunView, phase: string, step: string): boolean =>
  ownValue(ownValue(run.cursors, phase)?.last ?? {}, step)?.kind === "passed";

function describePhases(run: RunView): string {
  const rows = listPhaseRows(run);
  const count = (status: PhaseRow["status"], message: string): readonly string[] => {
    const matching = rows.filter((row) => row.status === status).length;
    return matching === 0 ? [] : [`${matching} ${message}`];
  };

  const others = [
    ...count("failed", "failed"),
    ...count("skipped", "skipped"),
    ...count("needs_human_verification", "waiting for a verdict"),
    ...count("in_progress", "under way"),
  ];

  const completedCount = rows.filter(({ status }) => status === "completed").length;
  return `${completedCount} of ${plural(rows.length, "phase")} completed${others.length === 0 ? "" : ` (${others.join(", ")})`}, `;
}

/** The journal knows paths and commits, but no line counts. */
function summarizeChanges(entries: readonly Entry[]): ChangeSummary {
  const applied = entries.flatMap((entry) => (entry.event === "changes_applied" ? [entry] : []));
  return {
    files: new Set(applied.flatMap(({ paths }) => paths)).size,
    insertions: null,
    deletions: null,
    commits: applied.map(({ commit, attempt }) => ({
      sha: commit,
      subject: describeAttempt(attempt),
    })),
  };
}

/** What the failing proof asks for comes first, then the other ways to continue. */
function listRecommendations(
  run: RunView,
  owner: Owner,
  isCurrent: boolean | undefined,
): readonly string[] {
  const { run_id, base } = run.drafted;
  const branchText =
    run.tip.commit === base.commit
      ? ""
      : `; it ran on the run's branch: git diff ${base.commit.slice(0, 12)} ${runBranchName(run_id)}`;

  const failing = listFailingChecks(run).map(
    ({ check }) => `see under Proof what ${oneLine(check.command)} printed${branchText}`,
  );

  const unchecked = listUserCriteria(run)
    .filter(({ check }) => check === null)
    .map(
      ({ id, text }) =>
        `give criterion ${id} a check, so that it can be proved: --done-criteria '${oneLine(text, 60)} :: command'`,
    );

  const actions = listNextActions(run, owner, isCurrent === undefined ? {} : { isCurrent });
  const candidates = [...failing, ...actions, ...(run.verdict === "verified" ? [] : unchecked)];
  // Who reads this has the report already: `look at autopilot report, then autopilot resume`
  // becomes `autopilot resume`.
  const otherActions = candidates.map((action) =>
    action.replace(/^(?:look at )?autopilot report(?: --run \S+)?, then (?=autopilot )/, ""),
  );

  return [...new Set(otherActions)].filter((action) => !action.startsWith("autopilot report"));
}

function listReportedChecks(
  run: RunView,
  excerpts: Readonly<Record<string, string>>,
): readonly ReportedCheck[] {
  return Object.values(run.checks).map(({ baseline, latest }) => {
    const { id, kind, title, command } = latest.check;
    const { status, exit_code, duration_ms, evidence, why } = latest;
    const excerpt = excerpts[evidence];

    return {
      id,
      kind,
      title,
      command,
      before: baseline.status,
      status,
      exit_code,
      duration_ms,
      evidence,
      ...(excerpt === undefined ? {} : { excerpt }),
      ...(why === undefined ? {} : { why }),
    };
  });
}

function listTurnClaims(entries: readonly Entry[]): readonly TurnClaim[] {
  return entries
    .flatMap((entry) => (entry.event === "turn_ended" ? [entry] : []))
    .slice(-claimsMax)
    .map(({ attempt, agent, said, promised, confidence }) => ({
      attempt,
      agent,
      said,
      promised,
      confidence,
    })); // R1
}

/** Not completed, unless it was skipped for another reason than a failed phase before it. */
const isMissing = ({ status, because }: PhaseRow): boolean =>
  status !== "completed" && (status !== "skipped" || because?.startsWith("blocked_by_") === true);

const claimRanks = { false: 0, unverifiable: 1, true: 2 } as const;

function sumCheckedClaims(entries: readonly Entry[]): CheckedClaims {
  const checkedClaims = entries.flatMap((entry) =>
    entry.event === "claims_checked"
      ? entry.claims.map((claim) => ({ ...claim, attempt: entry.attempt, agent: entry.agent }))
      : [],
  );
  const count = (verdict: ClaimChecked["verdict"]): number =>
    checkedClaims.filter((claim) => claim.verdict === verdict).length;
  const claims = checkedClaims
    .toSorted((a, b) => claimRanks[a.verdict] - claimRanks[b.verdict])
    .slice(0, lookedUpMax);

  return {
    true: count("true"),
    false: count("false"),
    unverifiable: count("unverifiable"),
    claims,
  };
}

function judgeRun(run: RunView): Judgement {
  const judgement = run.verdict === null ? run.judged : { verdict: run.verdict, gaps: run.gaps };
  const missingPhases =
    run.verdict === null && isReportedByPhases(run) ? listPhaseRows(run).filter(isMissing) : [];
  const ids = missingPhases.map(({ id }) => id);
  const verdict = judgement?.verdict ?? "unverified";

  return {
    // What was judged so far says nothing about phases that are not done.
    verdict: ids.length > 0 && verdict !== "refuted" ? "unverified" : verdict,
    gaps: [
      ...(judgement?.gaps ?? []),
      ...(ids.length === 0
        ? []
        : [`not completed: ${plural(ids.length, "phase")} (${firstFew(ids)})`]),
    ],
    rests_on: Object.values(run.checks).map(({ latest }) => latest.evidence),
  };
}
