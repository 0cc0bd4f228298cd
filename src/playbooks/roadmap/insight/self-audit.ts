// self-audit: counts the results of a run's audits from the auditor's list; its own totals are not
// trusted.
//
// Invariants:
//   A1. A requirement passes only with evidence: a pass without any is a gap.
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

const taskIdCharsMax = 64;

/**
 * The id of the task that closes a requirement's gaps, in the letters that a task's id may have:
 * `(REQ 1)` → `REQ-1-`.
 */
export const toTaskId = (requirementId: string): string =>
  requirementId
    .replaceAll(/[^A-Za-z0-9_.-]+/g, "-")
    .replace(/^[^A-Za-z0-9]+/, "")
    .slice(0, taskIdCharsMax);

/** Counts one audit anew from its list of requirements. */
export function scoreAudit({ aggregate, audit_results }: SelfAuditReturn): AuditScore {
  const checks = audit_results.flatMap(({ phase_id, requirements_checked }) =>
    requirements_checked.map((check) => ({ ...check, phase_id })),
  );

  const isPass = ({ status, file_line_evidence }: (typeof checks)[number]): boolean =>
    status === "pass" && file_line_evidence.trim() !== ""; // A1
  const toGap = (check: (typeof checks)[number]): Gap => {
    const details = aggregate.gap_details.find(
      ({ requirement_id }) => requirement_id === check.requirement_id,
    );

    return {
      requirement_id: check.requirement_id,
      phase_id: check.phase_id,
      description:
        check.gap_description ??
        details?.gap_description ??
        "it is said to pass, and nothing shows it",
      fix_complexity: check.fix_complexity ?? details?.fix_complexity ?? "small",
      suggested_fix: details?.suggested_fix ?? "",
    };
  };
  const gaps = checks.filter((check) => !isPass(check)).map(toGap);
  const passed = checks.filter(isPass).map(({ requirement_id }) => requirement_id);

  const claims = [
    ["total_requirements_checked", aggregate.total_requirements_checked, checks.length],
    ["passed_on_first_check", aggregate.passed_on_first_check, passed.length],
    ["gaps_found", aggregate.gaps_found, gaps.length],
  ] as const;

  return {
    checked: checks.length,
    passed,
    gaps,
    disagreements: claims.flatMap(([name, claimed, counted]) =>
      claimed === counted ? [] : [`${name}: the auditor says ${claimed}, its list has ${counted}`],
    ),
  };
}

/**
 * Summarises an audit and its re-audits, in order. `fixCommits` are the commits made to close gaps.
 */
export function buildSelfAudit(
  audits: readonly SelfAuditReturn[],
  fixCommits: readonly string[],
): SelfAuditSummary {
  const scores = audits.map(scoreAudit);
  const [firstScore] = scores;
  const openGaps = new Map<string, Gap>();
  const gapIds = new Set<string>();

  for (const { passed, gaps } of scores) {
    for (const id of passed) openGaps.delete(id);
    for (const gap of gaps) {
      openGaps.set(gap.requirement_id, gap);
      gapIds.add(gap.requirement_id);
    }
  }

  return {
    total_requirements_checked: firstScore?.checked ?? 0,
    passed_on_first_check: firstScore?.passed.length ?? 0,
    gaps_found: gapIds.size,
    gaps_fixed: gapIds.size - openGaps.size, // A2
    gaps_remaining: openGaps.size,
    remaining_gap_details: [...openGaps.values()].map(({ requirement_id, description }) => ({
      requirement_id,
      description,
    })),
    audit_cycles: Math.min(auditCyclesMax, Math.max(0, scores.length - 1)), // the first audit is not a cycle
    fix_commits: [...fixCommits],
  };
}
