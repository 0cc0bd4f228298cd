// quality-names: the paths, phase titles and field names that the quality playbook's files use in
// common.

export const qualityLogPath = "quality/run_state.jsonl";
export const progressPath = "quality/PROGRESS.md";
export const gateLogPath = "quality/results/quality-gate.log";
/** Paths that belong to the runner: agents neither see nor change them. */
export const qualityOwnedPaths: readonly string[] = [
  qualityLogPath,
  progressPath,
  "quality/history/**",
  gateLogPath,
];
/** The name of the run's recorded document that is the log found when the run was drafted. */
export const earlierLogPath = qualityLogPath;
/** The field of `document_differed` that names an artifact that has disappeared. */
export const missingFileField = "file";

/**
 * Where a log is moved when a new one replaces it. Some file systems do not allow a colon in a
 * name.
 */
export const toHistoryPath = (ts: string): string =>
  `quality/history/${ts.replaceAll(":", "-")}.run_state.jsonl`;

export const phaseTitles = [
  "Explore",
  "Generate",
  "Code Review",
  "Spec Audit",
  "Reconciliation",
  "Verify",
] as const;

/** Other tools look for this section to see that the last phase ran the gate to its end. */
export const terminalSection = "Terminal Gate Verification";
