// report: what came of a run, as `autopilot report` prints it: the contract's fields for programs, a page for people.
//
// Invariants:
//   R1. What the runner proved and what the agent says stand apart, and the agent's word is marked as such.

import type { Entry } from "../contracts/event.ts";
import type { Check, CheckStatus, ClaimChecked } from "../contracts/evidence.ts";
import type { RunStatus, Verdict } from "../contracts/objective.ts";
import { type ReasonCode, reasons } from "../contracts/reason.ts";
import { stepsOfPhase } from "../core/selectors.ts";
import { own } from "../core/record.ts";
import type { RunView } from "../core/state.ts";
import { type Decision, entryDecisions } from "./decisions.ts";
import { runEnding, nextActions, type Owner } from "./next-actions.ts";
import { runOrigin, type OriginView } from "./facts/origin.ts";
import { phaseReports, type PhaseReport } from "./report-phases.ts";
import { runBlockers, type CriterionStatus, listFailingChecks, isByPhases, listOwnCriteria } from "./criteria-status.ts";
import { phaseRows, type PhaseRow } from "./phase-rows.ts";
import { runReason } from "./status.ts";
import { amount, describeAttempt, firstFew, oneLine, plural } from "./wording.ts";

export type Changes = {
  readonly files: number;
  /** Null if only the journal was asked, which does not count lines. */
  readonly insertions: number | null;
  readonly deletions: number | null;
  readonly commits: readonly { readonly sha: string; readonly subject: string }[];
  /** File by file, where git was asked. */
  readonly paths?: readonly { readonly path: string; readonly insertions: number | null; readonly deletions: number | null }[];
};

/** Facts from outside the journal, which the caller may pass. */
export type ReportExtra = {
  readonly owner?: Owner;
  readonly isCurrent?: boolean;
  readonly changes?: Changes;
  /** The last lines of a check's output, by the hash of its evidence. */
  readonly excerpts?: Readonly<Record<string, string>>;
  /** An agent's return, by its blob. */
  readonly claimOf?: (hash: string) => unknown;
};

export type Proved = {
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
  /** Why it did not pass, where its exit code does not say so. */
  readonly why?: string;
};

/** An agent's summary at the end of a turn. Never evidence. */
export type Claim = {
  readonly attempt: string;
  readonly agent: string;
  readonly said: string;
  readonly promised: boolean;
  readonly confidence: number | null;
};

/** Agents' claims as the runner checked them; false ones come first. */
export type LookedUp = {
  readonly true: number;
  readonly false: number;
  readonly unverifiable: number;
  readonly claims: readonly (ClaimChecked & { readonly attempt: string; readonly agent: string })[];
};

/** Conclusions, separate from the facts: another judge may draw others from the same. */
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
  /** How a completed run ended, in a sentence made from its verdict; null while it is not completed. */
  readonly ending: string | null;
  /** Empty for a run with a single phase. */
  readonly phases: readonly PhaseReport[];
  /** Steps after the last phase, which see the whole change. */
  readonly afterwards: readonly { readonly name: string; readonly status: string; readonly because: string | null }[];
  readonly decisions: readonly Decision[];
  readonly blockers: readonly string[];
  readonly recommendations: readonly string[];
  readonly evidence: readonly Proved[];
  /** Gates of steps that held: artifacts the runner looked at itself. */
  readonly gates: number;
  readonly claims: readonly Claim[];
  readonly looked_up: LookedUp;
  readonly judgement: Judgement;
  readonly changes: Changes;
  readonly cost: {
    readonly tokens: number;
    readonly usd: number;
    readonly minutes: number;
    readonly calls: number;
    readonly estimated: number;
  };
  /** Where it was forked from; null for a run that began by itself. */
  readonly forked_from: OriginView | null;
  readonly verdict: Verdict | null;
  readonly gaps: readonly string[];
  /** Changed files that a person should review. */
  readonly look_at: readonly { readonly path: string; readonly what: string }[];
};

const claimsMax = 5;
const goalCharsMax = 90;
const lookedUpMax = 100;

export function runReport(run: RunView, entries: readonly Entry[], extra: ReportExtra = {}): ReportView {
  const { drafted } = run;
  const owner = extra.owner ?? null;
  const changes = extra.changes ?? entryChanges(entries);
  const { tokens, usd, minutes, calls, estimated } = run.ledger.run;
  return {
    run_id: drafted.run_id,
    state: run.status,
    reason_code: runReason(run, owner),
    flow: drafted.flow.flow,
    goal: drafted.objective.goal,
    scope: drafted.objective.scope,
    criteria: listOwnCriteria(run),
    phases: isByPhases(run) ? phaseReports(run, entries, extra.claimOf) : [],
    afterwards: isByPhases(run) ? runAfterwards(run) : [],
    summary: runSummary(run, changes, owner),
    decisions: entryDecisions(entries),
    ending: run.status === "completed" ? runEnding(run) : null,
    blockers: runBlockers(run),
    recommendations: runRecommendations(run, owner, extra.isCurrent),
    evidence: provedOf(run, extra.excerpts ?? {}),
    gates: (run.gated ?? 0) + run.proved.length,
    claims: entryClaims(entries),
    looked_up: lookedUpIn(entries),
    judgement: runJudgement(run),
    changes,
    cost: { tokens, usd, minutes: Number(minutes.toFixed(2)), calls, estimated },
    forked_from: runOrigin(run),
    verdict: run.verdict,
    gaps: run.gaps,
    look_at: (run.oracles?.look ?? []).map(({ path, what }) => ({ path, what })),
  };
}

function runSummary(run: RunView, changes: Changes, owner: Owner): string {
  const criteria = listOwnCriteria(run);
  const proved = criteria.filter((criterion) => criterion.proved).length;
  const { tokens, calls } = run.ledger.run;
  const code = runReason(run, owner);
  const hasReason = run.status === "paused" || run.status === "stopped";
  const reason = hasReason ? ` ${reasons[code].meaning}` : "";
  const why = run.status === "completed" ? ` ${runEnding(run)}` : reason;
  return (
    `“${oneLine(run.drafted.objective.goal, goalCharsMax)}” is ${run.status}.${why} ` +
    (isByPhases(run) ? describePhases(run) : `${proved} of ${plural(criteria.length, "done criterion", "done criteria")} proved, `) +
    `${plural(changes.files, "file")} changed in ${plural(changes.commits.length, "commit")}, ${amount("tokens", tokens)} in ${plural(calls, "call")}.`
  );
}

function runAfterwards(run: RunView): ReportView["afterwards"] {
  const after = run.phases.filter(({ group, status }) => group === "after" && status !== "waiting");
  // A flow may do within one of them what a later one would have done: that was not left out.
  const done = new Set(
    after.flatMap(({ id }) => stepsOfPhase(run.drafted.flow, id).flatMap((step) => (hasPassed(run, id, step.id) ? [step.run] : []))),
  );
  return after.map(({ id, name, status, because }) => {
    const isDone =
      status === "skipped" && stepsOfPhase(run.drafted.flow, id).every(({ run: action }) => action !== undefined && done.has(action));
    return { name: name === "" ? id : name, status: isDone ? "completed" : status, because: isDone ? null : because };
  });
}

const hasPassed = (run: RunView, phase: string, step: string): boolean => own(own(run.cursors, phase)?.last ?? {}, step)?.kind === "passed";

function describePhases(run: RunView): string {
  const rows = phaseRows(run);
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
  const done = rows.filter(({ status }) => status === "completed").length;
  return `${done} of ${plural(rows.length, "phase")} completed${others.length === 0 ? "" : ` (${others.join(", ")})`}, `;
}

/** The journal knows paths and commits, but no line counts. */
function entryChanges(entries: readonly Entry[]): Changes {
  const applied = entries.flatMap((entry) => (entry.event === "changes_applied" ? [entry] : []));
  return {
    files: new Set(applied.flatMap(({ paths }) => paths)).size,
    insertions: null,
    deletions: null,
    commits: applied.map(({ commit, attempt }) => ({ sha: commit, subject: describeAttempt(attempt) })),
  };
}

/** What the failing proof asks for comes first, then the other ways to continue. */
function runRecommendations(run: RunView, owner: Owner, isCurrent: boolean | undefined): readonly string[] {
  const { run_id, base } = run.drafted;
  const where =
    run.tip.commit === base.commit ? "" : `; it ran on the run's branch: git diff ${base.commit.slice(0, 12)} autopilot/${run_id}`;
  const failing = listFailingChecks(run).map(({ check }) => `see under Proof what ${oneLine(check.command)} printed${where}`);
  const unchecked = listOwnCriteria(run)
    .filter(({ check }) => check === null)
    .map(({ id, text }) => `give criterion ${id} a check, so that it can be proved: --done-criteria '${oneLine(text, 60)} :: command'`);
  const actions = nextActions(run, owner, isCurrent === undefined ? {} : { isCurrent });
  const candidates = [...failing, ...actions, ...(run.verdict === "verified" ? [] : unchecked)];
  const unread = candidates.map((action) => action.replace(/^(?:look at )?autopilot report(?: --run \S+)?, then (?=autopilot )/, "")); // that is what is being read
  return [...new Set(unread)].filter((action) => !action.startsWith("autopilot report"));
}

function provedOf(run: RunView, excerpts: Readonly<Record<string, string>>): readonly Proved[] {
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

function entryClaims(entries: readonly Entry[]): readonly Claim[] {
  return entries
    .flatMap((entry) => (entry.event === "turn_ended" ? [entry] : []))
    .slice(-claimsMax)
    .map(({ attempt, agent, said, promised, confidence }) => ({ attempt, agent, said, promised, confidence })); // R1
}

const isMissing = ({ status, because }: PhaseRow): boolean =>
  status !== "completed" && (status !== "skipped" || because?.startsWith("blocked_by_") === true);

const rank = { false: 0, unverifiable: 1, true: 2 } as const;

function lookedUpIn(entries: readonly Entry[]): LookedUp {
  const all = entries.flatMap((entry) =>
    entry.event === "claims_checked" ? entry.claims.map((claim) => ({ ...claim, attempt: entry.attempt, agent: entry.agent })) : [],
  );
  const count = (verdict: ClaimChecked["verdict"]): number => all.filter((claim) => claim.verdict === verdict).length;
  const claims = all.toSorted((a, b) => rank[a.verdict] - rank[b.verdict]).slice(0, lookedUpMax);
  return { true: count("true"), false: count("false"), unverifiable: count("unverifiable"), claims };
}

function runJudgement(run: RunView): Judgement {
  const judgement = run.verdict === null ? run.judged : { verdict: run.verdict, gaps: run.gaps };
  const missingPhaseRows = run.verdict === null && isByPhases(run) ? phaseRows(run).filter(isMissing) : [];
  const ids = missingPhaseRows.map(({ id }) => id);
  const verdict = judgement?.verdict ?? "unverified";
  return {
    // What was judged so far says nothing about phases that are not done.
    verdict: ids.length > 0 && verdict !== "refuted" ? "unverified" : verdict,
    gaps: [...(judgement?.gaps ?? []), ...(ids.length === 0 ? [] : [`not completed: ${plural(ids.length, "phase")} (${firstFew(ids)})`])],
    rests_on: Object.values(run.checks).map(({ latest }) => latest.evidence),
  };
}
