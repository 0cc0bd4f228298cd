// lint: finds mistakes in a flow that its schema cannot see. Without an error it may run.
// Each rule is in the file named after its subject; this one passes them their input and sorts the
// findings.

import { pathText, type Finding } from "../kit/finding.ts";
import { lintCalled } from "./lint-called.ts";
import { lintCompletion } from "./lint-completion.ts";
import { lintCounts } from "./lint-counts.ts";
import { lintFacts } from "./lint-facts.ts";
import { lintGates } from "./lint-gates.ts";
import { lintPrompts } from "./lint-prompts.ts";
import { lintRoutes } from "./lint-routes.ts";
import { lintShape } from "./lint-shape.ts";
import { lintSteps } from "./lint-steps.ts";
import type { Lint, LintSubject, ReportFinding } from "./lint-subject.ts";

/** Every finding, errors first, then by line. */
export function lintFlow(subject: LintSubject): readonly Finding[] {
  const findings: Finding[] = [];
  const reportAt: ReportFinding = (path, rule, message, severity = "error") => {
    findings.push({
      file: subject.positions.file,
      ...subject.positions.keyPlaceOf(path),
      path: pathText(path),
      rule,
      message,
      severity,
    });
  };

  const lint: Lint = { ...subject, reportAt, report: (finding) => findings.push(finding) };
  lintShape(lint);
  lintSteps(lint);
  lintCalled(lint);
  lintPrompts(lint);
  lintFacts(lint);
  lintGates(lint);
  lintCounts(lint);
  lintRoutes(lint);
  // Paths are explored only if every route leads somewhere: otherwise the same mistake would be
  // reported twice.
  if (!findings.some(({ rule }) => routeFaults.has(rule))) lintCompletion(lint);
  const uniqueFindings = [
    ...new Map(findings.map((finding) => [JSON.stringify(finding), finding])).values(),
  ];

  const rank = (finding: Finding): number => (finding.severity === "error" ? 0 : 1);
  return uniqueFindings.sort((a, b) => rank(a) - rank(b) || a.line - b.line || a.column - b.column);
}

/** Rules that say that some route leads nowhere. */
const routeFaults = new Set([
  "unknown_target",
  "unknown_count",
  "duplicate_step",
  "not_one_kind",
  "spent_round",
  "ring_without_count",
  "no_steps",
]);
