// page-rules: checks that a run's pages for people have what they must contain, so that `validate`
// finds damaged ones.
//
// Invariants:
//   P1. A page is recognised by its first line, or by its name where that line is lost.
//   P2. If a page's format is fixed elsewhere (the roadmap's and the quality playbook's), a broken
//       rule is an error. If only we generate such pages, it is a warning, since another tool may
//       write its own page under the same name.

import { failureCategories } from "../contracts/roadmap-values.ts";
import type { Violation } from "../documents/line-rules.ts";

/** What one kind of page must have. */
type PageRule = {
  /** The file's name. */
  readonly fileName: RegExp;
  readonly title: RegExp;
  readonly sections: readonly string[];
  readonly severity: Violation["severity"];
  readonly checkLines?: (lines: readonly string[], addViolation: AddViolation) => void;
};
type AddViolation = (line: number, rule: string, message: string) => void;

export const pageRules = {
  "quality progress": {
    fileName: /^PROGRESS\.md$/,
    title: /^# QPB Run Progress$/,
    sections: ["Phases", "Recent events (last 10)", "Artifacts produced"],
    severity: "error",
    checkLines: checkProgress,
  },
  "quality gate log": {
    fileName: /^quality-gate\.log$/,
    title: /^Terminal gate, judged by the runner at /,
    sections: [],
    severity: "warning",
    checkLines: checkGateLog,
  },
  learnings: {
    fileName: /^learnings\.md$/,
    title: /^# Learnings \(current run\)$/,
    sections: [],
    severity: "error",
    checkLines: checkLearnings,
  },
  diagnostic: {
    fileName: /^diagnostic-.+\.md$/,
    title: /^# Diagnostic: /,
    sections: ["What happened", "Why it matters", "What to do now"],
    severity: "warning",
  },
  "post-mortem page": {
    fileName: /-postmortem\.md$/,
    title: /^# Post-mortem: phase /,
    sections: ["Root cause", "Timeline", "Attempted fixes", "Prevention rule"],
    severity: "warning",
  },
  "completion page": {
    fileName: /^completion-report\.md$/,
    title: /^# Completion report: /,
    sections: ["Attempted phases", "Skipped phases", "Self-audit", "Summary"],
    severity: "warning",
  },
  "execution log": {
    fileName: /^EXECUTION-LOG\.md$/,
    title: /^# Execution log: phase /,
    sections: ["Steps"],
    severity: "warning",
  },
  "verification page": {
    fileName: /^VERIFICATION\.md$/,
    title: /^# Verification: phase /,
    sections: ["Outcome", "Automated checks", "Criteria"],
    severity: "warning",
  },
  // Many a project has an audit.md of its own: the first line says whose it is, or the folder
  // (formats.ts).
  "calibration audit": {
    fileName: /(?!)/, // matches nothing
    title: /^# Calibration audit: /,
    sections: ["Verdict", "Figures", "Lever", "Matches", "Cycle findings"],
    severity: "warning",
  },
} as const satisfies Readonly<Record<string, PageRule>>;
export type PageFormat = keyof typeof pageRules;
export const pageFormats = Object.keys(pageRules) as readonly PageFormat[];

/** P1 */
export const findPageFormat = (head: string): PageFormat | null => {
  const [first = ""] = head.replace(/^\uFEFF/, "").split(/\r?\n/, 1);
  return pageFormats.find((format) => pageRules[format].title.test(first)) ?? null;
};
export const findPageFormatByName = (name: string): PageFormat | null =>
  pageFormats.find((format) => pageRules[format].fileName.test(name)) ?? null;

/** Every rule of its format that a page breaks, by line. */
export function judgePage(format: PageFormat, text: string): readonly Violation[] {
  const page: PageRule = pageRules[format];
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/);
  const violations: Violation[] = [];
  const addViolation: AddViolation = (line, rule, message) =>
    violations.push({ line, rule, message, severity: page.severity }); // P2

  if (!page.title.test(lines[0] ?? "")) {
    addViolation(1, "PG-title", `the first line is not the title of a ${format}`);
  }

  for (const title of page.sections) {
    if (!lines.includes(`## ${title}`)) addViolation(1, "PG-section", `has no section ## ${title}`);
  }

  page.checkLines?.(lines, addViolation);
  return violations.toSorted((left, right) => left.line - right.line);
}

/** The header's two lines and the checklist, as the quality playbook has them. */
function checkProgress(lines: readonly string[], addViolation: AddViolation): void {
  if (
    !lines.some((line) => /^\*\*Started:\*\* .*\*\*Benchmark:\*\* .*\*\*Lever:\*\* /.test(line))
  ) {
    addViolation(1, "PG-field", "has no line **Started:** … **Benchmark:** … **Lever:** …");
  }

  if (!lines.some((line) => /^\*\*Runner:\*\* .*\*\*Playbook version:\*\* /.test(line))) {
    addViolation(1, "PG-field", "has no line **Runner:** … **Playbook version:** …");
  }

  for (const phase of [1, 2, 3, 4, 5, 6]) {
    const index = lines.findIndex((line) =>
      new RegExp(`^- \\[[x ]\\] Phase ${phase} — `).test(line),
    );
    if (index < 0) {
      addViolation(1, "PG-phases", `the checklist has no line - [ ] Phase ${phase} — …`);
    } else if ((lines[index] ?? "").startsWith("- [x]") && !/\(.+\)\s*$/.test(lines[index] ?? "")) {
      addViolation(
        index + 1,
        "PG-phases",
        `phase ${phase} is checked and has no summary in parentheses`,
      );
    }
  }

  const sectionStart = lines.indexOf("## Recent events (last 10)");
  if (sectionStart < 0) return;
  const sectionEnd = lines.findIndex(
    (line, index) => index > sectionStart && line.startsWith("## "),
  );
  const recent = lines
    .slice(sectionStart, sectionEnd < 0 ? undefined : sectionEnd)
    .filter((line) => line.startsWith("- ")).length;
  if (recent > 10) {
    addViolation(
      sectionStart + 1,
      "PG-recent",
      `lists ${recent} recent events, expected at most 10`,
    );
  }
}

/**
 * Entries of the roadmap's learnings: a failure with its rule and context, or a person's verdict
 * with its calibration.
 */
function checkLearnings(lines: readonly string[], addViolation: AddViolation): void {
  const entryStarts = lines.flatMap((line, index) => (line.startsWith("### ") ? [index] : []));
  for (const [entryIndex, index] of entryStarts.entries()) {
    const entry = lines.slice(index, entryStarts[entryIndex + 1]);
    const failure = /^### Phase (\S+) failure -- (\S+)$/.exec(lines[index] ?? "");
    const isVerdict =
      /^### Human Verdict: Phase \S+ -- (?:PASS|FAIL|ISSUES_FOUND) \(confidence calibration\)$/.test(
        lines[index] ?? "",
      );
    if (failure === null && !isVerdict) {
      addViolation(index + 1, "PG-entry", "is neither a phase's failure nor a person's verdict");
    }

    if (failure !== null && !(failureCategories as readonly string[]).includes(failure[2] ?? "")) {
      addViolation(index + 1, "PG-entry", `the category ${failure[2] ?? ""} is none of the ten`);
    }

    const verdictFields = isVerdict ? ["Calibration"] : [];
    for (const field of failure === null ? verdictFields : ["Prevention rule", "Context"]) {
      if (!entry.some((line) => line.startsWith(`**${field}:** `))) {
        addViolation(index + 1, "PG-field", `has no line **${field}:** …`);
      }
    }
  }
}

function checkGateLog(lines: readonly string[], addViolation: AddViolation): void {
  if (!lines.some((line) => /^RESULT: GATE (?:PASSED|FAILED)/.test(line))) {
    addViolation(
      Math.max(1, lines.length - 1),
      "PG-result",
      "has no line RESULT: GATE PASSED or GATE FAILED",
    );
  }
}
