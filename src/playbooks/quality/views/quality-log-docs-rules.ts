// quality-log-docs-rules: checks the two documentation events of a run_state.jsonl. A run that continues
// without documentation says so in its pages. A run that is aborted for missing documentation
// starts no phase, gives the reason in its page, and has no code_only event.

import type { ReportViolation } from "./quality-log-field-rules.ts";

/** Line numbers of the events; null if the log has none. */
export type DocsFacts = {
  readonly codeOnlyLine: number | null;
  readonly abortedLine: number | null;
  readonly hasExplored: boolean;
};

/** Takes the events of a log one by one, and collects the facts for comparing it with the pages. */
export type DocsRules = {
  readonly onEvent: (
    name: string,
    tree: Readonly<Record<string, unknown>>,
    line: number,
    report: ReportViolation,
  ) => void;
  readonly facts: () => DocsFacts;
};

export const docsEvents: readonly string[] = ["documentation_state", "aborted_missing_docs"];

export function openDocsRules(): DocsRules {
  let codeOnlyLine: number | null = null;
  let abortedLine: number | null = null;
  let firstPhaseLine: number | null = null;
  let hasExplored = false;

  return {
    onEvent: (name, tree, line, report) => {
      if (name === "documentation_state" && tree["state"] === "code_only") codeOnlyLine ??= line;
      if (name === "aborted_missing_docs") abortedLine ??= line;
      if (name === "phase_start") firstPhaseLine ??= line;
      if (name === "phase_end" && tree["phase"] === 1) hasExplored = true;
      if (docsEvents.includes(name) && codeOnlyLine !== null && abortedLine !== null) {
        report(
          "RS-docs",
          `documentation_state code_only (line ${codeOnlyLine}) and aborted_missing_docs (line ${abortedLine}) exclude each other`,
        );
      }

      if (
        (name === "aborted_missing_docs" || name === "phase_start") &&
        abortedLine !== null &&
        firstPhaseLine !== null
      ) {
        report(
          "RS-docs",
          `aborted_missing_docs (line ${abortedLine}) ends the run before any phase, and a phase_start stands in line ${firstPhaseLine}`,
        );
      }
    },
    facts: () => ({ codeOnlyLine, abortedLine, hasExplored }),
  };
}

/** How each page states that there was no documentation. */
const codeOnlyPhrases: Readonly<
  Record<DocsPage, { readonly pattern: RegExp; readonly phrase: string }>
> = {
  "PROGRESS.md": {
    pattern: /^\W*Documentation state: code_only\b/m,
    phrase: "Documentation state: code_only",
  },
  "EXPLORATION.md": {
    pattern: /^#+\s+Documentation status: code-only mode\b/m,
    phrase: "Documentation status: code-only mode",
  },
};

/**
 * Phrases that the pages must not contain, since the log reports no missing documentation.
 * EXPLORATION.md counts once phase 1 has ended.
 */
export function listForbiddenPhrases({
  codeOnlyLine,
  abortedLine,
  hasExplored,
}: DocsFacts): readonly {
  readonly page: DocsPage;
  readonly pattern: RegExp;
  readonly phrase: string;
}[] {
  if (codeOnlyLine !== null || abortedLine !== null) return [];
  const pages: readonly DocsPage[] = hasExplored
    ? ["PROGRESS.md", "EXPLORATION.md"]
    : ["PROGRESS.md"];
  return pages.map((page) => ({ page, ...codeOnlyPhrases[page] }));
}

export type DocsPage = "PROGRESS.md" | "EXPLORATION.md";
type RequiredPhrase = {
  readonly page: DocsPage;
  readonly line: number;
  readonly pattern: RegExp;
  readonly phrase: string;
};

/** Phrases that the pages must contain because of the event in `line` of the log. */
export function listRequiredPhrases({
  codeOnlyLine,
  abortedLine,
  hasExplored,
}: DocsFacts): readonly RequiredPhrase[] {
  const phrases: RequiredPhrase[] = [];
  if (codeOnlyLine !== null) {
    phrases.push({ page: "PROGRESS.md", line: codeOnlyLine, ...codeOnlyPhrases["PROGRESS.md"] });
    if (hasExplored) {
      phrases.push({
        page: "EXPLORATION.md",
        line: codeOnlyLine,
        ...codeOnlyPhrases["EXPLORATION.md"],
      });
    }
  }

  if (abortedLine !== null) {
    const pattern = /ERROR: aborted_missing_docs — /;
    phrases.push({
      page: "PROGRESS.md",
      line: abortedLine,
      pattern,
      phrase: "ERROR: aborted_missing_docs — <reason>",
    });
  }

  return phrases;
}
