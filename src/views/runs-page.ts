// runs-page: renders the runs of a repository as a table: state and verdict, goal, age, cost and
// disk usage.

import { parseIsoTime } from "../kit/iso-time.ts";
import { alignColumns } from "./align-columns.ts";
import { formatVerdictCell } from "./sentences/verdict-sentences.ts";
import { formatMoney, oneLine, plural } from "./wording.ts";

export type RunRow = {
  readonly run_id: string;
  /**
   * The run's state; `interrupted` if it says running and no process works on it, `damaged` if its
   * journal cannot be read.
   */
  readonly state: string;
  readonly live: boolean;
  readonly current: boolean;
  /** Another user or machine started it, so it is only read here. */
  readonly foreign: boolean;
  readonly flow: string | null;
  readonly goal: string | null;
  readonly verdict: string | null;
  readonly tokens: number;
  readonly usd: number;
  readonly updated_at: string | null;
  readonly disk_bytes: number;
  /** The run it was forked from. */
  readonly forked_from?: string | null;
};

/** With the heading and the last lines, one screen. */
const rowsMax = 26;
const goalCharsMax = 36;
const marks: Readonly<Record<string, string>> = {
  completed: "✓",
  running: "●",
  paused: "!",
  interrupted: "!",
  damaged: "✗",
};

function spendingCell({ usd, tokens }: RunRow): string {
  if (usd > 0) return formatMoney(usd);
  return tokens > 0 ? formatShortNumber(tokens) : "-";
}

const forkPrefix = ({ forked_from }: RunRow): string =>
  typeof forked_from === "string" ? `fork of ${forked_from.replace(/^run-/, "")}: ` : "";

/** Newest first; older ones are counted. */
export function runsPage(runs: readonly RunRow[], now: string, isAll: boolean): readonly string[] {
  if (runs.length === 0) return ["No runs here.", "", '→ autopilot "what you want done"'];
  const shownRows = isAll ? runs.toReversed() : runs.toReversed().slice(0, rowsMax);

  const rows = shownRows.map((run) => [
    run.state === "completed" && run.verdict !== null && run.verdict !== "verified"
      ? "!"
      : (marks[run.state] ?? "○"),
    `${run.run_id}${run.current ? "*" : ""}`,
    run.foreign ? `${run.state}, foreign` : run.state,
    formatVerdictCell(run.verdict),
    formatAge(run.updated_at, now),
    spendingCell(run),
    formatBytes(run.disk_bytes),
    oneLine(`${forkPrefix(run)}${run.goal ?? ""}`, goalCharsMax),
  ]);

  const hiddenCount = runs.length - shownRows.length;
  const bytes = runs.reduce((sum, { disk_bytes }) => sum + disk_bytes, 0);
  return [
    ...alignColumns([["", "RUN", "STATE", "VERDICT", "AGE", "COST", "DISK", "GOAL"], ...rows], {
      right: [4, 5, 6],
    }),
    ...(hiddenCount > 0 ? [`  … ${plural(hiddenCount, "older run")}: autopilot runs --all`] : []),
    "",
    `${plural(runs.length, "run")}, ${formatBytes(bytes)}. → autopilot clean   frees disk; autopilot discard RUN   removes one`,
  ];
}

/** 940, 12.9k, 1.2M */
export function formatShortNumber(amount: number): string {
  if (amount < 1_000) return String(Math.round(amount));
  return amount < 1_000_000
    ? `${(amount / 1_000).toFixed(1)}k`
    : `${(amount / 1_000_000).toFixed(1)}M`;
}

export function formatBytes(bytes: number): string {
  if (bytes < 1_000_000) return `${Math.ceil(bytes / 1_000)} KB`;
  return bytes < 1_000_000_000
    ? `${(bytes / 1_000_000).toFixed(1)} MB`
    : `${(bytes / 1_000_000_000).toFixed(1)} GB`;
}

function formatAge(at: string | null, now: string): string {
  const minutes = Math.floor(
    ((parseIsoTime(now) ?? 0) - (parseIsoTime(at ?? "") ?? Number.NaN)) / 60_000,
  );
  if (!Number.isFinite(minutes)) return "-";
  if (minutes < 60) return `${Math.max(0, minutes)}m`;

  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)}h` : `${Math.floor(minutes / 1_440)}d`;
}
