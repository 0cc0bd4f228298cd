import { describe, expect, test } from "vitest";
import { isRecordedSkipped, isResearchDecided } from "./staged-decisions.ts";

describe("the research decision", () => {
  test.each([
    ["Research decision: go on to planning", true],
    ["Research decision: proceed to Plan", true],
    ["2026-03-01 Ann: no further research, start planning", true],
    ["Research decision: another research round", false],
    ["Research: Plan for SQLite, which is enough", false], // the researcher's own words
    ["Research: Research decision: go on to planning", false],
    ["Problem: research can proceed to planning at once", false], // another agent's
    ["The research is not enough yet", false],
    ["Do not go on from research before Friday", false],
    ["Research plan: read three papers", false],
  ])("%s: %s", (text, is) => expect(isResearchDecided([text])).toBe(is));
});

describe("an optional step left out", () => {
  const record = (...decisions: readonly string[]) => ({ decisions, completed: [] });
  test.each([
    ["Security Audit: skipped, nobody was asked", true],
    ["We skip the security audit for the pilot", true],
    ["Security Audit: skip the step (after its retries were used up)", true],
    ["Plan: Security Audit can be skipped for a first version", false], // the planner's own words
    ["Never skip the Security Audit", false],
    ["Security Audit must not be skipped", false],
    ["Security Audit: wanted", false],
  ])("%s: %s", (text, is) => expect(isRecordedSkipped("Security Audit", record(text))).toBe(is));

  test("its row says so, too", () => {
    const row = { name: "UI Design", key_outcome: "skipped" };
    expect(isRecordedSkipped("UI Design", { decisions: [], completed: [row] })).toBe(true);
    expect(
      isRecordedSkipped("UI Design", {
        decisions: [],
        completed: [{ ...row, key_outcome: "Three pages" }],
      }),
    ).toBe(false);
  });
});
