// written-files: every file that a run writes into the user's checkout by itself, with the format
// that `validate` judges it by. What isn't listed here cannot be written (whole-file.ts), so a new
// file brings its rules with it.

import type { Format } from "./formats.ts";

type WrittenFile = {
  readonly path: RegExp;
  readonly format: Exclude<Format, "unknown">;
  readonly example: string;
};

export const writtenFiles: readonly WrittenFile[] = [
  { path: /^\.autopilot\/config\.yaml$/, format: "config", example: ".autopilot/config.yaml" },
  {
    path: /^\.autopilot\/state\.json(?:\.backup)?$/,
    format: "roadmap state",
    example: ".autopilot/state.json",
  },
  {
    path: /^\.autopilot\/archive\/(?!metrics\.json$)[^/]+\.json$/,
    format: "roadmap state",
    example: ".autopilot/archive/run-2026-02-09-143052.json",
  },
  {
    path: /^\.autopilot\/archive\/metrics\.json$/,
    format: "metrics",
    example: ".autopilot/archive/metrics.json",
  },
  {
    path: /^\.autopilot\/diagnostics\/diagnostic-[^/]+\.md$/,
    format: "diagnostic",
    example: ".autopilot/diagnostics/diagnostic-2026-02-09T164512.md",
  },
  {
    path: /^\.autopilot\/diagnostics\/phase-[^/]+-postmortem\.json$/,
    format: "post-mortem",
    example: ".autopilot/diagnostics/phase-1-postmortem.json",
  },
  {
    path: /^\.autopilot\/diagnostics\/phase-[^/]+-postmortem\.md$/,
    format: "post-mortem page",
    example: ".autopilot/diagnostics/phase-1-postmortem.md",
  },
  { path: /^\.autopilot\/learnings\.md$/, format: "learnings", example: ".autopilot/learnings.md" },
  {
    path: /^\.autopilot\/completion-report\.md$/,
    format: "completion page",
    example: ".autopilot/completion-report.md",
  },
  {
    path: /^\.autopilot\/completion-report\.json$/,
    format: "completion report",
    example: ".autopilot/completion-report.json",
  },
  {
    path: /^\.planning\/phases\/[^/]+\/TRIAGE\.json$/,
    format: "triage",
    example: ".planning/phases/1/TRIAGE.json",
  },
  {
    path: /^\.planning\/phases\/[^/]+\/EXECUTION-LOG\.md$/,
    format: "execution log",
    example: ".planning/phases/1/EXECUTION-LOG.md",
  },
  {
    path: /^\.planning\/phases\/[^/]+\/VERIFICATION\.md$/,
    format: "verification page",
    example: ".planning/phases/1/VERIFICATION.md",
  },
  {
    path: /^\.planning\/phases\/[^/]+\/(?:TRACE|[^/]+-trace)\.jsonl$/,
    format: "trace",
    example: ".planning/phases/1/execute-trace.jsonl",
  },
  {
    path: /^quality\/run_state\.jsonl$/,
    format: "quality run_state",
    example: "quality/run_state.jsonl",
  },
  {
    path: /^quality\/history\/[^/]+\.run_state\.jsonl$/,
    format: "quality run_state",
    example: "quality/history/2026-05-15T14-32-01Z.run_state.jsonl",
  },
  { path: /^quality\/PROGRESS\.md$/, format: "quality progress", example: "quality/PROGRESS.md" },
  {
    path: /^quality\/results\/quality-gate\.log$/,
    format: "quality gate log",
    example: "quality/results/quality-gate.log",
  },
  {
    path: /^Calibration Cycles\/[^/]+\/run_state\.jsonl$/,
    format: "quality run_state",
    example: "Calibration Cycles/2026-05-15-slug/run_state.jsonl",
  },
  {
    path: /^Calibration Cycles\/[^/]+\/audit\.md$/,
    format: "calibration audit",
    example: "Calibration Cycles/2026-05-15-slug/audit.md",
  },
  {
    path: /^_docs\/_autopilot_state\.md$/,
    format: "staged state",
    example: "_docs/_autopilot_state.md",
  },
];

const registeredFolders = /^(?:\.autopilot|\.planning|quality|_docs|Calibration Cycles)\//;

/**
 * Whether the runner may write this path. Paths outside of these folders are its own data, not
 * files for the user.
 */
export const mayWrite = (path: string): boolean =>
  !registeredFolders.test(path) || writtenFiles.some((file) => file.path.test(path));
