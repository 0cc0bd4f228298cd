// run-state-docs: what the format says in prose of its two documentation events: a run that went on without documentation says so in its
// pages; one that ended for want of it began no phase, says why in its page, and did not go on without it too.

import type { Report } from "./run-state-field-rules.ts";

/** Line numbers; null if the log says nothing about documentation. */
export type DocsFacts = { readonly codeOnly: number | null; readonly aborted: number | null; readonly isExplored: boolean };

export type DocsRules = {
  readonly event: (name: string, tree: Readonly<Record<string, unknown>>, line: number, report: Report) => void;
  readonly facts: () => DocsFacts;
};

export const docsEvents: readonly string[] = ["documentation_state", "aborted_missing_docs"];

export function openDocsRules(): DocsRules {
  let codeOnly: number | null = null;
  let aborted: number | null = null;
  let started: number | null = null;
  let isExplored = false;
  return {
    event: (name, tree, line, report) => {
      if (name === "documentation_state" && tree["state"] === "code_only") codeOnly ??= line;
      if (name === "aborted_missing_docs") aborted ??= line;
      if (name === "phase_start") started ??= line;
      if (name === "phase_end" && tree["phase"] === 1) isExplored = true;
      const isAbout = docsEvents.includes(name);
      if (isAbout && codeOnly !== null && aborted !== null)
        report("RS-docs", `documentation_state code_only (line ${codeOnly}) and aborted_missing_docs (line ${aborted}) exclude each other`);
      if ((name === "aborted_missing_docs" || name === "phase_start") && aborted !== null && started !== null)
        report(
          "RS-docs",
          `aborted_missing_docs (line ${aborted}) ends the run before any phase, and a phase_start stands in line ${started}`,
        );
    },
    facts: () => ({ codeOnly, aborted, isExplored }),
  };
}

/** What a page says of missing documentation where the log, by saying nothing, says that there was some. */
const codeOnlyPhrases: Readonly<Record<DocsPage, { readonly says: RegExp; readonly words: string }>> = {
  "PROGRESS.md": { says: /^\W*Documentation state: code_only\b/m, words: "Documentation state: code_only" },
  "EXPLORATION.md": { says: /^#+\s+Documentation status: code-only mode\b/m, words: "Documentation status: code-only mode" },
};

/** What the pages beside the log must not say because of it. EXPLORATION.md is only this log's once its first phase has ended. */
export function docsUnwanted({
  codeOnly,
  aborted,
  isExplored,
}: DocsFacts): readonly { readonly page: DocsPage; readonly says: RegExp; readonly words: string }[] {
  if (codeOnly !== null || aborted !== null) return [];
  const pages: readonly DocsPage[] = isExplored ? ["PROGRESS.md", "EXPLORATION.md"] : ["PROGRESS.md"];
  return pages.map((page) => ({ page, ...codeOnlyPhrases[page] }));
}

export type DocsPage = "PROGRESS.md" | "EXPLORATION.md";

/** Statements that the log obliges the pages beside it to make. */
export function docsWanted({
  codeOnly,
  aborted,
  isExplored,
}: DocsFacts): readonly { readonly page: DocsPage; readonly line: number; readonly says: RegExp; readonly words: string }[] {
  return [
    ...(codeOnly === null
      ? []
      : [
          {
            page: "PROGRESS.md" as const,
            line: codeOnly,
            ...codeOnlyPhrases["PROGRESS.md"],
          },
        ]),
    ...(codeOnly === null || !isExplored
      ? []
      : [
          {
            page: "EXPLORATION.md" as const,
            line: codeOnly,
            ...codeOnlyPhrases["EXPLORATION.md"],
          },
        ]),
    ...(aborted === null
      ? []
      : [
          {
            page: "PROGRESS.md" as const,
            line: aborted,
            says: /ERROR: aborted_missing_docs — /,
            words: "ERROR: aborted_missing_docs — <reason>",
          },
        ]),
  ];
}
