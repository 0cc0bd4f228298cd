// run-state-names: the paths, phase titles and field names that a quality run's journal and log share.

export const runStatePath = "quality/run_state.jsonl";
export const progressPath = "quality/PROGRESS.md";
export const gateLogPath = "quality/results/quality-gate.log";
/** A log that was there when the run was drafted is kept with it under its own path. */
export const earlierLogPath = runStatePath;
/** The field of `document_differed` that names an artifact that has disappeared. */
export const missingFileField = "file";

/** Where a log is moved when a new one replaces it. Some file systems do not allow a colon in a name. */
export const historyPath = (ts: string): string => `quality/history/${ts.replaceAll(":", "-")}.run_state.jsonl`;

export const phaseTitles = ["Explore", "Generate", "Code Review", "Spec Audit", "Reconciliation", "Verify"] as const;

/** Other tools look for this section to see that the last phase ran the gate to its end. */
export const terminalSection = "Terminal Gate Verification";
