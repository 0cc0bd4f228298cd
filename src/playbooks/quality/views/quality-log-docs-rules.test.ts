// The two documentation events of a quality run's log, by what the format says of them in prose.

import { expect, test } from "vitest";
import { openViolations } from "../../../documents/line-rules.ts";
import { listForbiddenPhrases, listRequiredPhrases } from "./quality-log-docs-rules.ts";
import { openQualityLogRules } from "./quality-log-rules.ts";

const ts = "2026-05-15T14:32:01Z";
const index = {
  event: "_index",
  ts,
  schema_version: "1.5.6",
  event_types: [
    "_index",
    "run_start",
    "documentation_state",
    "aborted_missing_docs",
    "phase_start",
    "phase_end",
    "run_end",
  ],
  benchmark: "b",
  lever_state: "baseline",
  started_at: ts,
};
const start = {
  event: "run_start",
  ts,
  runner: "claude",
  playbook_version: "1.5.6",
  target_path: ".",
};
const codeOnly = {
  event: "documentation_state",
  ts,
  state: "code_only",
  reason: "reference_docs/ empty",
};
const aborted = {
  event: "aborted_missing_docs",
  ts,
  reason: "reference_docs/ empty and --require-docs set",
};
const phase = { event: "phase_start", ts, phase: 1 };
const explored = {
  event: "phase_end",
  ts,
  phase: 1,
  key_counts: { findings_total: 1, patterns_walked: 7 },
  artifacts_produced: [],
};
const end = { event: "run_end", ts, status: "aborted" };

function judged(...events: readonly object[]) {
  const violations = openViolations();
  const rules = openQualityLogRules(violations);
  for (const [n, event] of events.entries()) rules.checkLine(JSON.stringify(event), n + 1);
  rules.finish();

  return {
    reported: violations.list().map(({ line, rule }) => `${line} ${rule}`),
    facts: rules.facts(),
  };
}

test("a run that went on without documentation, and one that ended for want of it, are in order", () => {
  expect(judged(index, start, codeOnly, phase).reported).toEqual([]);
  expect(judged(index, start, aborted, end).reported).toEqual([]);
});

test("the two exclude each other, in either order", () => {
  expect(judged(index, start, codeOnly, aborted, end).reported).toEqual(["4 RS-docs"]);
  expect(judged(index, start, aborted, codeOnly, end).reported).toEqual(["4 RS-docs"]);
});

test("a run that ended for want of documentation began no phase", () => {
  expect(judged(index, start, aborted, phase, end).reported).toEqual(["4 RS-docs"]);
  expect(judged(index, start, phase, aborted, end).reported).toEqual(["4 RS-docs"]);
});

test("what the pages beside the log must say follows from it", () => {
  const pages = (...events: readonly object[]) =>
    listRequiredPhrases(judged(index, start, ...events).facts.docs).map(
      ({ page, line }) => `${line} ${page}`,
    );
  expect(pages(phase)).toEqual([]);
  expect(pages(codeOnly, phase)).toEqual(["3 PROGRESS.md"]); // EXPLORATION.md is still being written
  expect(pages(codeOnly, phase, explored)).toEqual(["3 PROGRESS.md", "3 EXPLORATION.md"]);
  expect(pages(aborted, end)).toEqual(["3 PROGRESS.md"]);
  const [wanted] = listRequiredPhrases(judged(index, start, aborted, end).facts.docs);
  expect(wanted?.pattern.test("ERROR: aborted_missing_docs — reference_docs/ empty")).toBe(true);
  expect(wanted?.pattern.test("nothing of the kind")).toBe(false);
});

test("a log that says nothing of documentation says that there was some: then no page beside it may say otherwise", () => {
  const pages = (...events: readonly object[]) =>
    listForbiddenPhrases(judged(index, start, ...events).facts.docs).map(({ page }) => page);
  expect(pages(phase)).toEqual(["PROGRESS.md"]); // EXPLORATION.md may be an earlier run's until the first phase has ended
  expect(pages(phase, explored)).toEqual(["PROGRESS.md", "EXPLORATION.md"]);
  expect(pages(codeOnly, phase, explored)).toEqual([]);
  expect(pages(aborted, end)).toEqual([]);
  const [progress] = listForbiddenPhrases(judged(index, start, phase).facts.docs);
  expect(progress?.pattern.test("## Documentation\n\nDocumentation state: code_only\n")).toBe(true);
});
