// report-phases: reports the result of each phase: what was proved by which command, false claims
// of agents, why it failed, its commits.
//
// Invariants:
//   Q1. A phase is reported by what its own steps ran; another phase's proof proves nothing for it.

import type { Entry } from "../contracts/event.ts";
import type { CheckResult, CheckStatus } from "../contracts/evidence.ts";
import { humanVerdicts } from "../contracts/human-verdict.ts";
import type { FailureCategory } from "../contracts/roadmap-values.ts";
import type { RunView } from "../core/state.ts";
import { phaseOfEntry, taskOfCursor } from "../insight/attempt-path.ts";
import { buildPostMortem } from "../insight/post-mortem.ts";
import type { ReadClaim } from "../insight/rejection.ts";
import { groupBy } from "./facts/group-by.ts";
import { listPhaseRows, type PhaseRow } from "./phase-rows.ts";
import { describeAttempt } from "./wording.ts";

export type PhaseProof = {
  readonly id: string;
  readonly title: string;
  readonly command: string;
  readonly status: CheckStatus;
  readonly exit_code: number | null;
};

export type PhaseReport = PhaseRow & {
  /** The last result of each command that was run for it: the criteria's first. */
  readonly proof: readonly PhaseProof[];
  readonly commits: readonly {
    readonly sha: string;
    readonly subject: string;
    readonly files: number;
  }[];
  readonly false_claims: readonly {
    readonly agent: string;
    readonly text: string;
    readonly why: string;
  }[];
  readonly attempts: { readonly debug: number; readonly replan: number };
  /** The branch that keeps the phase's work, which was rolled back; null if it was not. */
  readonly rolled_back_to: string | null;
  /** Why rolling back its work failed, so that the work is still there; null if nothing failed. */
  readonly left_behind: string | null;
  /** A person's verdict; answers to other questions of the phase are among the decisions. */
  readonly verdict: {
    readonly verdict: string;
    readonly by: string;
    readonly issues: readonly string[];
  } | null;
  readonly post_mortem: {
    readonly category: FailureCategory;
    readonly description: string;
    readonly prevention_rule: string;
  } | null;
};

const isVerdictWord = (answer: string): boolean => humanVerdicts.some((word) => word === answer);

/** The first false claims, and the newest commits, of a phase. */
const claimsMax = 20;
const commitsMax = 50;

/** One report a phase, in the order of the run. */
export function buildPhaseReports(
  run: RunView,
  entries: readonly Entry[],
  claimOf: ReadClaim = () => undefined,
): readonly PhaseReport[] {
  const byPhase = groupBy(entries, phaseOfEntry);
  return listPhaseRows(run).map((row) => buildPhaseReport(row, byPhase.get(row.id) ?? [], claimOf));
}

function buildPhaseReport(
  row: PhaseRow,
  phaseEntries: readonly Entry[],
  claimOf: ReadClaim,
): PhaseReport {
  const results = new Map<string, CheckResult>();
  const commits: { sha: string; subject: string; files: number }[] = [];
  const claims: { agent: string; text: string; why: string }[] = [];
  const attempts = { debug: 0, replan: 0 };
  let rolledBackTo: string | null = null;
  let leftBehind: string | null = null;
  let verdict: PhaseReport["verdict"] = null;

  for (const entry of phaseEntries) {
    switch (entry.event) {
      case "step_completed":
      case "step_failed":
        for (const result of entry.checks ?? []) results.set(result.check.id, result); // Q1
        if (entry.facts["rollback_performed"] === true) {
          rolledBackTo = String(entry.facts["diagnostic_branch"] ?? "");
        }
        if (entry.facts["rollback_performed"] === false && entry.event === "step_failed") {
          leftBehind = entry.detail ?? entry.reason_code;
        }
        break;
      case "phase_reopened": // an earlier try has its own post-mortem
        [rolledBackTo, leftBehind] = [null, null];
        break;
      case "changes_applied":
        commits.push({
          sha: entry.commit,
          subject: describeCommit(entry.attempt),
          files: entry.paths.length,
        });
        break;
      case "claims_checked":
        for (const { text, why, verdict: claimVerdict } of entry.claims) {
          if (claimVerdict === "false") claims.push({ agent: entry.agent, text, why });
        }
        break;
      case "route_taken":
        if (entry.count === "debug") attempts.debug += 1;
        if (entry.count === "replan") attempts.replan += 1;
        break;
      case "block_answered":
        if (isVerdictWord(entry.answer)) {
          verdict = { verdict: entry.answer, by: entry.actor, issues: entry.issues ?? [] };
        }
        break;
      default:
        break;
    }
  }

  return {
    ...row,
    proof: listOncePerCommand([...results.values()].toSorted(byKind)),
    commits: commits.slice(-commitsMax),
    false_claims: claims
      .filter(({ text }, index) => claims.findIndex((claim) => claim.text === text) === index)
      .slice(0, claimsMax),
    attempts,
    rolled_back_to: rolledBackTo,
    left_behind: leftBehind,
    verdict,
    post_mortem: row.status === "failed" ? findCause(row, phaseEntries, claimOf) : null,
  };
}

/**
 * A command that proves several things is reported once, by the first that names it: the criterion
 * of the phase.
 */
function listOncePerCommand(results: readonly CheckResult[]): readonly PhaseProof[] {
  const proofByCommand = new Map<string, PhaseProof>();
  for (const { check, status, exit_code } of results) {
    const existing = proofByCommand.get(check.command);
    if (existing === undefined) {
      proofByCommand.set(check.command, {
        id: check.id,
        title: check.title,
        command: check.command,
        status,
        exit_code,
      });
    } else if (existing.status === "passed" && status !== "passed") {
      proofByCommand.set(check.command, { ...existing, status, exit_code });
    }
  }

  return [...proofByCommand.values()];
}

/** The phase's own criteria, then what tasks and proofs asked for, then the project's checks. */
const byKind = (a: CheckResult, b: CheckResult): number => checkRank(a) - checkRank(b);
const kindRanks: Partial<Record<CheckResult["check"]["kind"], number>> = {
  criterion: 0,
  project: 2,
};
const checkRank = ({ check: { kind } }: CheckResult): number => kindRanks[kind] ?? 1;

/** A commit by what it was made for: a task's id says more than the attempt's. */
function describeCommit(attempt: string): string {
  const task = taskOfCursor(attempt.replace(/@\d+\/[^/]+$/, "")); // the attempt without its step: `1@1/execute#1/03-01@1/do#1` → `1@1/execute#1/03-01`
  return task === null ? describeAttempt(attempt) : `task ${task}`;
}

function findCause(
  { id, name }: PhaseRow,
  phaseEntries: readonly Entry[],
  claimOf: ReadClaim,
): PhaseReport["post_mortem"] {
  const postMortem = buildPostMortem(phaseEntries, {
    phase: id,
    name,
    at: phaseEntries.at(-1)?.ts ?? "",
    claimOf,
  });
  if (postMortem === null) return null;
  const { root_cause, prevention_rule } = postMortem;

  return { category: root_cause.category, description: root_cause.description, prevention_rule };
}
