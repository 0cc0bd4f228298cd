// run-state-names: the paths, phase titles and field names that a quality run's journal and log share.

/** The files of a quality run, and the words its journal and its log share. */

export const runStatePath = "quality/run_state.jsonl";
export const progressPath = "quality/PROGRESS.md";
export const gateLogPath = "quality/results/quality-gate.log";
/** A log that was there when the run was drafted is kept with it under its own path. */
export const earlierLogPath = runStatePath;
/** `document_differed` says of an artifact that it is gone, under this field. */
export const missingFileField = "file";

/** Where a log goes when a new one takes its place. A colon isn't a part of a file's name everywhere. */
export const historyPath = (ts: string): string => `quality/history/${ts.replaceAll(":", "-")}.run_state.jsonl`;

export const phaseTitles = ["Explore", "Generate", "Code Review", "Spec Audit", "Reconciliation", "Verify"] as const;

/** The section by which others know that the last phase ran the gate to its end. */
export const terminalSection = "Terminal Gate Verification";
