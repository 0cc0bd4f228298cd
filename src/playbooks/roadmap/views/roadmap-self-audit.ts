// roadmap-self-audit: the results of a run's self-audit, from the auditor's returns and the commits
// for its gaps.

import { SelfAuditReturn } from "../../../contracts/agent-returns.ts";
import type { Entry } from "../../../contracts/event.ts";
import { auditCyclesMax, type SelfAuditSummary } from "../../../contracts/roadmap-reports.ts";
import type { RoadmapState } from "../../../contracts/roadmap-state.ts";
import { parseAttempt, phaseOfEntry } from "../../../insight/attempt-path.ts";
import { buildSelfAudit } from "../insight/self-audit.ts";
import { findIssues } from "../../../kit/located-issues.ts";
import type { ReadClaim } from "./roadmap-audit.ts";
import { selfAudit } from "./phase-history.ts";

/**
 * Null if no audit was made. If the auditor's returns are missing, the counts of the log are used.
 */
export function summarizeSelfAudit(
  entries: readonly Entry[],
  readClaim: ReadClaim,
  log: RoadmapState["event_log"],
): SelfAuditSummary | null {
  const auditEntries = lastVisit(
    entries.filter((entry) => phaseOfEntry(entry) === selfAudit.phase),
  );
  const changes = auditEntries.filter((entry) => entry.event === "changes_applied");
  const fixCommits = changes
    .filter(({ attempt }) => isFixAttempt(attempt))
    .map(({ commit }) => commit);

  const audits = readAudits(auditEntries, readClaim);
  return audits.length > 0 ? buildSelfAudit(audits, fixCommits) : summaryFromLog(log, fixCommits);
}

/** The auditor's returns of completed audit steps, in order. */
function readAudits(
  auditEntries: readonly Entry[],
  readClaim: ReadClaim,
): readonly SelfAuditReturn[] {
  const turns = auditEntries.filter((entry) => entry.event === "turn_ended");
  const completedSteps = auditEntries.filter((entry) => entry.event === "step_completed");
  const auditSteps = completedSteps.filter(
    ({ attempt }) => parseAttempt(attempt)?.step === selfAudit.audit,
  );
  const claims = auditSteps.map(
    (step) => turns.findLast((turn) => turn.attempt === step.attempt)?.claim,
  );
  const audits = claims.map((claim) =>
    findIssues(SelfAuditReturn, claim === undefined ? undefined : readClaim(claim)),
  );

  return audits.flatMap(({ issues, value }) =>
    issues.length === 0 && value !== null ? [value] : [],
  );
}

const isFixAttempt = (attempt: string): boolean =>
  parseAttempt(attempt)?.cursor.includes(`/${selfAudit.fix}#`) === true;

/** The entries since the phase was last started or reopened. */
function lastVisit(entries: readonly Entry[]): readonly Entry[] {
  const start = entries.findLastIndex(
    ({ event }) => event === "phase_started" || event === "phase_reopened",
  );
  return entries.slice(Math.max(0, start));
}

function summaryFromLog(
  log: RoadmapState["event_log"],
  fix_commits: string[],
): SelfAuditSummary | null {
  const details = log.findLast(({ event }) => event === "self_audit_completed")?.details;
  if (details === undefined) return null;
  const count = (name: string): number => (typeof details[name] === "number" ? details[name] : 0);
  const gapsOf = (name: string): typeof log => log.filter(({ event }) => event === name);
  const fixedIds = new Set(
    gapsOf("self_audit_gap_fixed").map((event) => event.details["requirement_id"]),
  );
  const remainingGaps = gapsOf("self_audit_gap_found").filter(
    (event) => !fixedIds.has(event.details["requirement_id"]),
  );

  return {
    total_requirements_checked: count("total_requirements_checked"),
    passed_on_first_check: count("passed_on_first_check"),
    gaps_found: count("gaps_found"),
    gaps_fixed: count("gaps_fixed"),
    gaps_remaining: count("gaps_remaining"),
    remaining_gap_details: remainingGaps.map((event) => ({
      requirement_id: String(event.details["requirement_id"]),
      description: String(event.details["gap_description"]),
    })),
    audit_cycles: Math.min(auditCyclesMax, count("audit_cycles")),
    fix_commits,
  };
}
