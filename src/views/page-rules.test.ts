// Pages that a run writes for people: whole ones pass, damaged ones are reported with line and
// rule.

import { describe, expect, test } from "vitest";
import { judgePage, findPageFormat, findPageFormatByName } from "./page-rules.ts";

/** As the quality playbook's format shows it. */
const progress = `# QPB Run Progress

**Started:** 2026-05-15T14:32:01Z **Benchmark:** chi-1.5.1 **Lever:** post-pattern7
**Runner:** claude **Playbook version:** 1.5.6

## Phases

- [x] Phase 1 — Explore (10:10, 12 findings, patterns 1-7 walked)
- [x] Phase 2 — Generate (0:42, 9 artifacts produced)
- [x] Phase 3 — Code Review (15:31, 6 bugs identified)
- [x] Phase 4 — Spec Audit (3 auditors, 1 triage)
- [ ] Phase 5 — Reconciliation *(in progress, started 14:58:31Z)*
- [ ] Phase 6 — Verify

## Recent events (last 10)

- 2026-05-15T14:58:31Z — phase_start phase=5
- 2026-05-15T14:58:30Z — phase_end phase=4 passes=[A,B,C,D] req_count=89

## Artifacts produced

- quality/EXPLORATION.md (12,034 bytes)
`;
/** As the roadmap's format shows them. */
const learnings = `# Learnings (current run)

### Phase 3 failure -- executor_incomplete
**Prevention rule:** Run every task's own commands before calling it done.
**Context:** Phase 3 (Parser) failed with category \`executor_incomplete\`. Recorded: 2026-02-09T16:45:00Z.

### Human Verdict: Phase 4 -- PASS (confidence calibration)
Phase 4 (Lexer) was deferred to human review but passed without issues.
**Calibration:** Future phases with similar characteristics should increase autonomous completion confidence.
`;
const rules = (format: Parameters<typeof judgePage>[0], text: string) =>
  judgePage(format, text).map(({ line, rule, severity }) => `${line} ${rule} ${severity}`);

describe("PROGRESS.md", () => {
  test("as the seed shows it is in order, and known by its title or its name", () => {
    expect(judgePage("quality progress", progress)).toEqual([]);
    expect([findPageFormat(progress), findPageFormatByName("PROGRESS.md")]).toEqual([
      "quality progress",
      "quality progress",
    ]);
  });

  test.each([
    ["another title", progress.replace("# QPB", "# My"), "1 PG-title error"],
    [
      "a section that is missing",
      progress.replace("## Artifacts produced", ""),
      "1 PG-section error",
    ],
    [
      "a header line that is missing",
      progress.replace("**Runner:**", "Runner:"),
      "1 PG-field error",
    ],
    [
      "a phase that is missing",
      progress.replace("- [ ] Phase 6 — Verify\n", ""),
      "1 PG-phases error",
    ],
    [
      "a checked phase without its figures",
      progress.replace(" (0:42, 9 artifacts produced)", ""),
      "9 PG-phases error",
    ],
    [
      "too many recent events",
      progress.replace("- 2026-05-15T14:58:31Z — phase_start phase=5\n", "- x\n".repeat(12)),
      "15 PG-recent error",
    ],
  ])("%s is told", (_, text, rule) => expect(rules("quality progress", text)).toEqual([rule]));
});

describe("learnings.md", () => {
  test("as the seed shows it is in order", () =>
    expect(judgePage("learnings", learnings)).toEqual([]));
  test.each([
    [
      "a category that is none of the ten",
      learnings.replace("-- executor_incomplete\n", "-- bad_luck\n"),
      "3 PG-entry error",
    ],
    [
      "a failure without a rule",
      learnings.replace("**Prevention rule:**", "Rule:"),
      "3 PG-field error",
    ],
    ["an entry of another kind", `${learnings}\n### Note\nwords\n`, "11 PG-entry error"],
  ])("%s is told", (_, text, rule) => expect(rules("learnings", text)).toEqual([rule]));
});

test("a page that only we draw breaks its rules with a warning: another tool may draw its own", () => {
  expect(rules("diagnostic", "# What went wrong\n")).toEqual([
    "1 PG-title warning",
    ...Array.from({ length: 3 }, () => "1 PG-section warning"),
  ]);

  expect(
    rules("quality gate log", "Terminal gate, judged by the runner at x\nRESULT: GATE PASSED\n"),
  ).toEqual([]);
});
