// self-audit: the results of a run's audits. The auditor's own totals are not believed: its list is counted.
//
// Invariants:
//   A1. A requirement passes only with evidence: a pass that shows nothing is a gap.
//   A2. Every gap ever found is either fixed or remaining.

import type { SelfAuditReturn } from "../../../contracts/agent-returns.ts";
import { auditCyclesMax, type SelfAuditSummary } from "../../../contracts/roadmap-reports.ts";

export type Gap = {
  readonly requirement_id: string;
  readonly phase_id: string;
  readonly description: string;
  readonly fix_complexity: "small" | "large";
  readonly suggested_fix: string;
};
export type AuditScore = {
  readonly checked: number;
  readonly passed: readonly string[];
  readonly gaps: readonly Gap[];
  /** Where the auditor's own sums differ from its list. */
  readonly disagreements: readonly string[];
};

/** One audit, counted. */
export function auditScore(audit: SelfAuditReturn): AuditScore {
  const { aggregate, audit_results } = audit;
  const checks = audit_results.flatMap(({ phase_id, requirements_checked }) =>
    requirements_checked.map((check) => ({
      ...check,
      phase_id,
      isPass: check.status === "pass" && check.file_line_evidence.trim() !== "",
    })),
  ); // A1
  const gaps = checks
    .filter(({ isPass }) => !isPass)
    .map((check): Gap => {
      const more = aggregate.gap_details.find(({ requirement_id }) => requirement_id === check.requirement_id);
      return {
        requirement_id: check.requirement_id,
        phase_id: check.phase_id,
        description: check.gap_description ?? more?.gap_description ?? "it is said to pass, and nothing shows it",
        fix_complexity: check.fix_complexity ?? more?.fix_complexity ?? "small",
        suggested_fix: more?.suggested_fix ?? "",
      };
    });
  const passed = checks.filter(({ isPass }) => isPass).map(({ requirement_id }) => requirement_id);
  const claims = [
    ["total_requirements_checked", aggregate.total_requirements_checked, checks.length],
    ["passed_on_first_check", aggregate.passed_on_first_check, passed.length],
    ["gaps_found", aggregate.gaps_found, gaps.length],
  ] as const;
  return {
    checked: checks.length,
    passed,
    gaps,
    disagreements: claims.flatMap(([name, said, counted]) =>
      said === counted ? [] : [`${name}: the auditor says ${said}, its list has ${counted}`],
    ),
  };
}

/** The audit and its re-audits in order, with the commits that were to close the gaps. */
export function buildSelfAudit(audits: readonly SelfAuditReturn[], fixCommits: readonly string[]): SelfAuditSummary {
  const scores = audits.map(auditScore);
  const [first] = scores;
  const open = new Map<string, Gap>();
  const found = new Set<string>();
  for (const { passed, gaps } of scores) {
    for (const id of passed) open.delete(id);
    for (const gap of gaps) {
      open.set(gap.requirement_id, gap);
      found.add(gap.requirement_id);
    }
  }
  return {
    total_requirements_checked: first?.checked ?? 0,
    passed_on_first_check: first?.passed.length ?? 0,
    gaps_found: found.size,
    gaps_fixed: found.size - open.size, // A2
    gaps_remaining: open.size,
    remaining_gap_details: [...open.values()].map(({ requirement_id, description }) => ({ requirement_id, description })),
    audit_cycles: Math.min(auditCyclesMax, Math.max(0, scores.length - 1)),
    fix_commits: [...fixCommits],
  };
}
