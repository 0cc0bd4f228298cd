import * as v from "valibot";
import { describe, expect, test } from "vitest";
import type { SelfAuditReturn } from "../../../contracts/agent-returns.ts";
import { SelfAuditSummary } from "../../../contracts/roadmap-reports.ts";
import { scoreAudit, buildSelfAudit } from "./self-audit.ts";

describe("self-audit", () => {
  const check = (id: string, status: "pass" | "gap", evidence = "a.md:1 -- x") => ({
    requirement_id: id,
    expected: "e",
    actual_found: "f",
    file_line_evidence: evidence,
    status,
    gap_description: status === "gap" ? `${id} is missing` : null,
    fix_complexity: status === "gap" ? ("small" as const) : null,
  });
  const audit = (...checks: ReturnType<typeof check>[]): SelfAuditReturn => ({
    audit_results: [{ phase_id: "5", requirements_checked: checks }],
    aggregate: {
      total_requirements_checked: checks.length,
      passed_on_first_check: checks.filter(({ status }) => status === "pass").length,
      gaps_found: checks.filter(({ status }) => status === "gap").length,
      gap_details: [],
    },
  });
  test("a gap that a re-audit finds closed is fixed; one that is not looked at again remains", () => {
    const summary = buildSelfAudit(
      [audit(check("A", "pass"), check("B", "gap"), check("C", "gap")), audit(check("B", "pass"))],
      ["abc1234"],
    );
    expect(v.safeParse(SelfAuditSummary, summary).issues).toBeUndefined();
    expect(summary).toEqual({
      total_requirements_checked: 3,
      passed_on_first_check: 1,
      gaps_found: 2,
      gaps_fixed: 1,
      gaps_remaining: 1,
      remaining_gap_details: [{ requirement_id: "C", description: "C is missing" }],
      audit_cycles: 1,
      fix_commits: ["abc1234"],
    });
  });

  test("a pass that shows nothing is a gap", () =>
    expect(scoreAudit(audit(check("A", "pass", " "))).gaps).toMatchObject([
      { requirement_id: "A" },
    ]));

  test("the auditor's sums are compared with its list", () => {
    const detected = audit(check("A", "gap"));
    detected.aggregate.gaps_found = 0;
    expect(scoreAudit(detected).disagreements).toEqual([
      "gaps_found: the auditor says 0, its list has 1",
    ]);
  });

  test("without an audit there is no summary", () =>
    expect(buildSelfAudit([], [])).toMatchObject({
      total_requirements_checked: 0,
      audit_cycles: 0,
    }));
});
