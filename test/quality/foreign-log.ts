// foreign-log: the log of a quality run that another tool began, and a project in which it has come
// so far.

import { scratch, write } from "../support/scratch-repository.ts";
import { left, sources } from "./audit.ts";

export const at = (second: number): string =>
  `2026-05-15T14:32:${String(second).padStart(2, "0")}Z`;
/** With spaces, as another tool writes JSON, and with the types of an older version. */
export const types = [
  "_index",
  "run_start",
  "phase_start",
  "pattern_walked",
  "pass_started",
  "pass_ended",
  "finding_logged",
  "artifact_written",
  "gate_check",
  "phase_end",
  "error",
  "run_end",
];
export const line = (fields: object): string =>
  JSON.stringify(fields).replaceAll('":', '": ').replaceAll(',"', ', "');
export const head = (event_types: readonly string[] = types): readonly string[] => [
  line({
    event: "_index",
    ts: at(1),
    schema_version: "1.5.7",
    event_types,
    benchmark: "theirs-1.0",
    lever_state: "pre-pattern7",
    started_at: at(1),
  }),
  line({
    event: "run_start",
    ts: at(1),
    runner: "claude",
    playbook_version: "1.5.7",
    target_path: ".",
    log_layout: "flat",
  }),
];
export const start = (phase: number): string =>
  line({ event: "phase_start", ts: at(phase * 4), phase });
const counts: Readonly<Record<number, object>> = {
  1: { findings_total: 8, patterns_walked: 6 },
  2: { findings_promoted: 12, findings_dropped: 0 },
  3: { bugs_identified: 2, bug_writeups: 0 },
  4: { req_count: 12, uc_count: 6, passes_complete: 4 },
  5: { gate_checks_total: 4, gate_failures: 0 },
  6: { bugs_md_count: 2, gate_verdict: "pass" },
};
export const end = (phase: number): string =>
  line({
    event: "phase_end",
    ts: at(phase * 4 + 2),
    phase,
    key_counts: counts[phase],
    artifacts_produced: [],
  });
export const both = (...phases: readonly number[]): readonly string[] =>
  phases.flatMap((phase) => [start(phase), end(phase)]);
export const text = (lines: readonly string[]): string => `${lines.join("\n")}\n`;

/**
 * A project in which another tool has come as far as these phases, all committed but its own two
 * files.
 */
export function begun(
  lines: readonly string[],
  phases: readonly string[],
  more: Readonly<Record<string, string>> = {},
): string {
  const files = Object.assign({}, ...phases.map((phase) => left[phase])) as Record<string, string>;
  const folder = scratch({
    files: {
      ...sources,
      ...Object.fromEntries(Object.entries(files).map(([path, body]) => [`quality/${path}`, body])),
    },
  });
  write(folder, {
    "quality/run_state.jsonl": text(lines),
    "quality/PROGRESS.md": "# QPB Run Progress\n\nTheirs.\n",
    ...more,
  });

  return folder;
}
