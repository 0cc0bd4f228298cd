// roadmap-self-audit: the results of a run's self-audit, from the auditor's returns and the commits for its gaps.

import { SelfAuditReturn } from "../../../contracts/agent-returns.ts";
import type { Entry } from "../../../contracts/event.ts";
import { auditCyclesMax, type SelfAuditSummary } from "../../../contracts/roadmap-reports.ts";
import type { RoadmapState } from "../../../contracts/roadmap-state.ts";
import { attemptParts, phaseOfEntry } from "../../../insight/places.ts";
import { buildSelfAudit } from "../insight/self-audit.ts";
import { issuesOf } from "../../../kit/located-issues.ts";
import type { ClaimOf } from "./roadmap-audit.ts";
import { selfAudit } from "./phase-history.ts";

/** Null if no audit was made. Where the auditor's own words are not at hand, the counts of the log stand for them. */
export function selfAuditSummary(entries: readonly Entry[], claimOf: ClaimOf, log: RoadmapState["event_log"]): SelfAuditSummary | null {
  const ownEntries = lastVisit(entries.filter((entry) => phaseOfEntry(entry) === selfAudit.phase));
  const commits = ownEntries.flatMap((entry) => (entry.event === "changes_applied" && isFix(entry.attempt) ? [entry.commit] : []));
  const audits = ownEntries.flatMap((entry) => {
    if (entry.event !== "step_completed" || attemptParts(entry.attempt)?.step !== selfAudit.audit) return [];
    const turn = ownEntries.findLast((other) => other.event === "turn_ended" && other.attempt === entry.attempt);
    const claim = turn?.event === "turn_ended" && turn.claim !== undefined ? claimOf(turn.claim) : undefined;
    const read = issuesOf(SelfAuditReturn, claim);
    return read.issues.length === 0 && read.value !== null ? [read.value] : [];
  });
  return audits.length > 0 ? buildSelfAudit(audits, commits) : fromLog(log, commits);
}

const isFix = (attempt: string): boolean => attemptParts(attempt)?.cursor.includes(`/${selfAudit.fix}#`) === true;

function lastVisit(ownEntries: readonly Entry[]): readonly Entry[] {
  const from = ownEntries.findLastIndex(({ event }) => event === "phase_started" || event === "phase_reopened");
  return ownEntries.slice(Math.max(0, from));
}

function fromLog(log: RoadmapState["event_log"], fix_commits: string[]): SelfAuditSummary | null {
  const reported = log.findLast(({ event }) => event === "self_audit_completed")?.details;
  if (reported === undefined) return null;
  const count = (name: string): number => (typeof reported[name] === "number" ? reported[name] : 0);
  const fixed = new Set(log.flatMap(({ event, details }) => (event === "self_audit_gap_fixed" ? [details["requirement_id"]] : [])));
  const remaining = log.filter(({ event, details }) => event === "self_audit_gap_found" && !fixed.has(details["requirement_id"]));
  return {
    total_requirements_checked: count("total_requirements_checked"),
    passed_on_first_check: count("passed_on_first_check"),
    gaps_found: count("gaps_found"),
    gaps_fixed: count("gaps_fixed"),
    gaps_remaining: count("gaps_remaining"),
    remaining_gap_details: remaining.map(({ details }) => ({
      requirement_id: String(details["requirement_id"]),
      description: String(details["gap_description"]),
    })),
    audit_cycles: Math.min(auditCyclesMax, count("audit_cycles")),
    fix_commits,
  };
}
