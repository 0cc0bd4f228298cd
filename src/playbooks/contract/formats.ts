// formats: detects which known format a file has, by its content first, and by its name if the
// content does not tell.

import { basename, dirname } from "node:path";
import { cycleEventNames, runEventNames } from "../../contracts/quality/quality-run.ts";
import { findPageFormat, findPageFormatByName, type PageFormat } from "../../views/page-rules.ts";
import { isStagedState } from "../../documents/staged-title.ts";

/** Logs: one JSON object a line, read as a stream. */
export const logFormats = [
  "quality run_state",
  "portfolio events",
  "portfolio checkpoints",
  "trace",
] as const;
export type LogFormat = (typeof logFormats)[number];

export type Format =
  | LogFormat
  | "journal"
  | "flow"
  | "config"
  | "script"
  | "roadmap"
  | "plan"
  | "planning config"
  | "roadmap state"
  | "metrics"
  | "post-mortem"
  | "triage"
  | "completion report"
  | "portfolio snapshot"
  | "staged state"
  | PageFormat
  | "unknown";

/**
 * How much of a file callers read for `detectFormat`: a roadmap may have a long introduction before
 * its first phase.
 */
export const headBytes = 65_536;
/** The first lines of a log may be damaged, so more than one is tried. */
const logLinesReadMax = 8;

/**
 * The format of a file by its path and its first `headBytes` as text: a line of a log decides
 * first, then keys and headings, then the name.
 */
export function detectFormat(path: string, head: string): Format {
  return (
    findLogFormat(head) ?? findDocumentFormat(path, head) ?? findFormatByName(path) ?? "unknown"
  );
}

const qualityLogEventNames: ReadonlySet<string> = new Set([...runEventNames, ...cycleEventNames]);

/** The format of the first line that can be recognised: a damaged line is skipped. */
function findLogFormat(head: string): LogFormat | "journal" | null {
  for (const line of head.split("\n", logLinesReadMax)) {
    if (/^\{"seq":\d+,"(journal|epoch)":/.test(line)) return "journal"; // {"seq":1,"journal":1,…
    const format = findLineFormat(line);
    if (format !== null) return format;
  }

  return null;
}

/**
 * Whether the text contains each of these JSON keys, at whatever depth. A damaged text is searched
 * too, so it isn't parsed.
 */
const hasKeys = (json: string, ...keys: readonly string[]): boolean =>
  keys.every((key) => new RegExp(`"${key}"\\s*:`).test(json));

function findLineFormat(line: string): LogFormat | null {
  if (!line.startsWith("{")) return null;
  const event = /"event"\s*:\s*"([^"]*)"/.exec(line)?.[1];
  if (event !== undefined && hasKeys(line, "ts") && qualityLogEventNames.has(event)) {
    return "quality run_state";
  }

  if (
    hasKeys(line, "event_type") &&
    ["actor", "task_id", "project_id"].some((key) => hasKeys(line, key))
  ) {
    return "portfolio events";
  }

  if (hasKeys(line, "scope", "window_start")) return "portfolio checkpoints";
  if (hasKeys(line, "phase_id", "step", "action")) return "trace";
  return null;
}

/** YAML front matter with a key of a portfolio: `---`, `title: x`, `task_id: t-1`. */
const portfolioFrontMatter =
  /^\uFEFF?---[ \t]*\r?\n(?:(?!---).*\r?\n)*?(?:task_id|project_id|planner_heartbeat_at)\s*:/;
/** `<task id="1" …>` */
const planTask = /^[ \t]*<task\s[^>]*\bid\s*=/m;
/** `### Phase 1: …` or `- [ ] **Phase 1: …` */
const roadmapPhase = /^ {0,3}###\s+(\*\*)?Phase\s+\d|^[ \t]*[-*+]\s+\[.\]\s+\*\*Phase\s+\d/m;
const configKey =
  /^(version|agent|agents|roles|checks|limits|isolation|network|dry_run|protect|prices)\s*:/m;

function findDocumentFormat(path: string, head: string): Format | null {
  if (/^\s*[[{]/.test(head)) return findJsonFormat(path, head);
  if (isStagedState(head)) return "staged state";
  const page = findPageFormat(head);
  if (page !== null) return page; // checked early: its tables may quote any of the patterns below
  if (portfolioFrontMatter.test(head)) return "portfolio snapshot";
  if (planTask.test(head)) return "plan";
  if (roadmapPhase.test(head)) return "roadmap";
  const formatFromName = findFormatByName(path);
  if (formatFromName === "flow" || formatFromName === "config") return formatFromName; // their keys occur in many other files, so the name decides
  if (/^[ \t]*"?turns"?[ \t]*:/m.test(head)) return "script";
  if (/^[ \t]*"?flow"?[ \t]*:[ \t]*"?[a-z]/m.test(head)) return "flow";
  if (configKey.test(head)) return "config";

  return null;
}

function findJsonFormat(path: string, head: string): Format | null {
  if (
    hasKeys(head, "_meta") &&
    ["phases", "spec", "circuit_breaker"].some((key) => hasKeys(head, key))
  ) {
    return "roadmap state";
  }

  if (hasKeys(head, "root_cause", "phase_id")) return "post-mortem";
  if (hasKeys(head, "routing_decision", "phase_id")) return "triage";
  if (
    hasKeys(head, "dependency_gaps", "completion_percentage") ||
    hasKeys(head, "self_audit", "trend_summary", "metrics")
  ) {
    return "completion report";
  }

  if (/^\s*\[/.test(head) && hasKeys(head, "run_id", "phases_attempted")) return "metrics";
  if (isPlanningConfig(path)) return "planning config";
  if (/^[ \t]*(\{[ \t]*)?"turns"\s*:/m.test(head)) return "script";
  if (/^[ \t]*(\{[ \t]*)?"flow"\s*:\s*"[a-z]/m.test(head)) return "flow";

  return null;
}

const isPlanningConfig = (path: string): boolean =>
  basename(path) === "config.json" && basename(dirname(path)) === ".planning";

/** The format by the file's name alone; null if the name is not a known one. */
export function findFormatByName(path: string): Format | null {
  const name = basename(path);
  const folder = basename(dirname(path));
  if (isPlanningConfig(path)) return "planning config";
  if (folder === "events" && name === "events.jsonl") return "portfolio events";
  if (folder === "events" && name === "checkpoints.jsonl") return "portfolio checkpoints";
  if (name === "audit.md" && basename(dirname(dirname(path))) === "Calibration Cycles") {
    return "calibration audit";
  }

  return formatsByName.find(([pattern]) => pattern.test(name))?.[1] ?? findPageFormatByName(name);
}

const formatsByName: readonly (readonly [RegExp, Format])[] = [
  [/^journal\.jsonl$/, "journal"],
  [/(^|\.)run_state\.jsonl$/, "quality run_state"],
  [/^(TRACE|.+-trace)\.jsonl$/, "trace"],
  [/^state\.json(\.backup)?$/, "roadmap state"],
  [/^metrics\.json$/, "metrics"],
  [/-postmortem\.json$/, "post-mortem"],
  [/^TRIAGE\.json$/, "triage"],
  [/^completion-report\.json$/, "completion report"],
  [/^_autopilot_state\.md$/, "staged state"],
  [/^(task|proj)-.+\.md$|^portfolio\.md$/, "portfolio snapshot"],
  [/(^|-)PLAN\.md$/, "plan"],
  [/^ROADMAP\.md$/, "roadmap"],
  [/^flow\.ya?ml$/, "flow"],
  [/^config\.ya?ml$/, "config"],
];
