// roadmap-self-audit: the results of a run's self-audit, from the auditor's returns and the commits for its gaps.

import { SelfAuditReturn } from "../../../contracts/agent-returns.ts";
import type { Entry } from "../../../contracts/event.ts";
import { auditCyclesMax, type SelfAuditSummary } from "../../../contracts/roadmap-reports.ts";
import type { RoadmapState } from "../../../contracts/roadmap-state.ts";
import { attemptParts, phaseOfEntry } from "../../../insight/places.ts";
import { buildSelfAudit } from "../insight/self-audit.ts";
import { findIssues } from "../../../kit/located-issues.ts";
import type { ReadClaim } from "./roadmap-audit.ts";
import { selfAudit } from "./phase-history.ts";

/** Null if no audit was made. If the auditor's returns are missing, the counts of the log are used. */
export function selfAuditSummary(entries: readonly Entry[], readClaim: ReadClaim, log: RoadmapState["event_log"]): SelfAuditSummary | null {
  const auditEntries = lastVisit(entries.filter((entry) => phaseOfEntry(entry) === selfAudit.phase));
  const commits = auditEntries.flatMap((entry) => (entry.event === "changes_applied" && isFixAttempt(entry.attempt) ? [entry.commit] : []));
  const audits = auditEntries.flatMap((entry) => {
    if (entry.event !== "step_completed" || attemptParts(entry.attempt)?.step !== selfAudit.audit) return [];
    const turn = auditEntries.findLast((other) => other.event === "turn_ended" && other.attempt === entry.attempt);
    const claim = turn?.event === "turn_ended" && turn.claim !== undefined ? readClaim(turn.claim) : undefined;
    const parsed = findIssues(SelfAuditReturn, claim);
    return parsed.issues.length === 0 && parsed.value !== null ? [parsed.value] : [];
  });
  return audits.length > 0 ? buildSelfAudit(audits, commits) : summaryFromLog(log, commits);
}

const isFixAttempt = (attempt: string): boolean => attemptParts(attempt)?.cursor.includes(`/${selfAudit.fix}#`) === true;

function lastVisit(entries: readonly Entry[]): readonly Entry[] {
  const start = entries.findLastIndex(({ event }) => event === "phase_started" || event === "phase_reopened");
  return entries.slice(Math.max(0, start));
}

function summaryFromLog(log: RoadmapState["event_log"], fix_commits: string[]): SelfAuditSummary | null {
  const details = log.findLast(({ event }) => event === "self_audit_completed")?.details;
  if (details === undefined) return null;
  const count = (name: string): number => (typeof details[name] === "number" ? details[name] : 0);
  const fixedIds = new Set(log.flatMap(({ event, details }) => (event === "self_audit_gap_fixed" ? [details["requirement_id"]] : [])));
  const remainingGaps = log.filter(({ event, details }) => event === "self_audit_gap_found" && !fixedIds.has(details["requirement_id"]));
  return {
    total_requirements_checked: count("total_requirements_checked"),
    passed_on_first_check: count("passed_on_first_check"),
    gaps_found: count("gaps_found"),
    gaps_fixed: count("gaps_fixed"),
    gaps_remaining: count("gaps_remaining"),
    remaining_gap_details: remainingGaps.map(({ details }) => ({
      requirement_id: String(details["requirement_id"]),
      description: String(details["gap_description"]),
    })),
    audit_cycles: Math.min(auditCyclesMax, count("audit_cycles")),
    fix_commits,
  };
}
