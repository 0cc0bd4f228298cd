// quality-progress: renders `quality/PROGRESS.md`: the four sections of its format, then the
// runner's own: documentation, errors, terminal gate.

import type { QualityRunEvent } from "../../../contracts/quality/quality-run.ts";
import type { PhaseTally } from "../../../contracts/quality/quality-facts.ts";
import { phaseNumbers, type PhaseNumber } from "../../../contracts/quality/quality-run.ts";
import { parseIsoTime } from "../../../kit/iso-time.ts";
import { gateLogPath, phaseTitles, terminalSection } from "./quality-names.ts";
import type { QualityLog } from "./quality-log.ts";
import type { Volume } from "./quality-log-volume.ts";
import { formatNumber, oneLine, plural } from "../../../views/wording.ts";

const recentEventsMax = 10;
/** The exploration patterns that the prompt of phase 1 numbers. */
const patternsMax = 7;
const messageCharsMax = 160;
const errorCharsMax = 400;

/** Sources besides the journal. */
export type ProgressSources = {
  /**
   * One sentence on how the log on disk differs from the one the journal yields; null if it does
   * not.
   */
  readonly logDifference: string | null;
  /** The terminal gate had passed before this run continued the log. */
  readonly gatePassedEarlier: boolean;
};

/** Empty if the run has no log yet. */
export function renderProgressPage(log: QualityLog, sources: ProgressSources): string {
  const volume = log.volumes.at(-1);
  if (volume === undefined) return "";
  const passes = completedPasses(log);
  const recentEvents = volume.events.slice(-recentEventsMax).toReversed();

  const lines = [
    "# QPB Run Progress",
    "",
    ...headLines(log, volume),
    "",
    "## Phases",
    "",
    ...phaseNumbers.map((phase) => phaseLine(log, volume, phase)),
    "",
    `## Recent events (last ${recentEventsMax})`,
    "",
    ...orNone(recentEvents.map((event) => eventLine(event, passes))),
    "",
    "## Artifacts produced",
    "",
    ...orNone(artifactLines(log, volume)),
    ...documentationLines(log),
    ...errorLines(log, sources),
    ...gateLines(log, sources),
  ];

  return `${lines.join("\n")}\n`;
}

const orNone = (lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? ["*(none yet)*"] : lines;

/** The header as the log's first events have it; a log of another tool may lack them. */
function headLines({ header }: QualityLog, { events }: Volume): readonly string[] {
  const index = events.find((event) => event.event === "_index");
  const start = events.find((event) => event.event === "run_start");
  const text = (value: string | undefined): string => oneLine(value ?? "");
  const benchmark = text(index?.benchmark ?? header?.benchmark);
  const lever = text(index?.lever_state ?? header?.leverState);
  const runner = text(start?.runner ?? header?.runner);
  const version = text(start?.playbook_version ?? header?.playbookVersion);

  return [
    `**Started:** ${text(index?.started_at)} **Benchmark:** ${benchmark} **Lever:** ${lever}`,
    `**Runner:** ${runner} **Playbook version:** ${version}`,
  ];
}

function phaseLine(log: QualityLog, volume: Volume, phase: PhaseNumber): string {
  const name = `Phase ${phase} — ${phaseTitles[phase - 1] ?? ""}`;
  const end = volume.endsByPhase.get(phase);
  if (end !== undefined) {
    const figures = phaseFigures(phase, end.key_counts, log.tallies.get(phase));
    const parts = [formatDuration(end.duration_seconds), ...figures].filter((part) => part !== "");
    return parts.length === 0 ? `- [x] ${name}` : `- [x] ${name} (${parts.join(", ")})`;
  }

  const startTime = volume.startTimes.get(phase);
  if (startTime === undefined || volume.isOver) return `- [ ] ${name}`;
  return `- [ ] ${name} *(in progress, started ${formatClock(startTime)})*`;
}

/** 42 → `0:42`, 3661 → `1:01:01`. */
function formatDuration(durationSeconds: number | undefined): string {
  if (durationSeconds === undefined) return "";
  const wholeSeconds = Math.round(durationSeconds);
  const twoDigits = (value: number): string => String(value).padStart(2, "0");
  const hours = Math.floor(wholeSeconds / 3600);
  const minutes = Math.floor(wholeSeconds / 60) % 60;
  const seconds = twoDigits(wholeSeconds % 60);

  return hours > 0 ? `${hours}:${twoDigits(minutes)}:${seconds}` : `${minutes}:${seconds}`;
}

/** `2026-05-15T14:32:01Z` → `14:32:01Z`; a time of another form is shown as it is. */
const formatClock = (ts: string): string =>
  parseIsoTime(ts) === null ? oneLine(ts) : `${ts.slice(11, 19)}Z`;

type Counts = Readonly<Record<string, unknown>>;
const numberOrZero = (value: unknown): number => (typeof value === "number" ? value : 0);
const plainText = (value: unknown): string =>
  oneLine(typeof value === "string" ? value : (JSON.stringify(value) ?? "unknown"));

/** The result of a finished phase, in a few figures. */
function phaseFigures(
  phase: PhaseNumber,
  counts: Counts,
  tally: PhaseTally | undefined,
): readonly string[] {
  const count = (name: string): number => numberOrZero(counts[name]);
  switch (phase) {
    case 1:
      return [
        plural(count("findings_total"), "finding"),
        patternsText(count("patterns_walked"), tally),
      ];
    case 2:
      if (tally === undefined) return [`${formatNumber(count("findings_promoted"))} promoted`];
      return [`${plural(tally.artifacts.length, "artifact")} produced`];
    case 3:
      return [`${plural(count("bugs_identified"), "bug")} identified`];
    case 4:
      return tally?.auditors === undefined || tally.triages === undefined
        ? [plural(count("passes_complete"), "pass", "passes")]
        : [plural(tally.auditors, "auditor"), plural(tally.triages, "triage")];
    case 5:
      return [
        plural(count("gate_checks_total"), "gate check"),
        plural(count("gate_failures"), "failure"),
      ];
    case 6:
      return [
        `${plural(count("bugs_md_count"), "bug")} in BUGS.md`,
        `gate ${plainText(counts["gate_verdict"])}`,
      ];
  }
}

/** `patterns 1-7 walked`, `patterns 1-3, 5 walked`; only their number if it is unknown which. */
function patternsText(walkedCount: number, tally: PhaseTally | undefined): string {
  const numbers = (tally?.patterns ?? []).map(({ pattern }) => pattern);
  if (numbers.length === 0) {
    return walkedCount === patternsMax
      ? `patterns 1-${patternsMax} walked`
      : `${plural(walkedCount, "pattern")} walked`;
  }

  const ranges: [number, number][] = [];
  for (const pattern of numbers) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === pattern - 1) last[1] = pattern;
    else ranges.push([pattern, pattern]);
  }

  return `patterns ${ranges.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(", ")} walked`;
}

/** The letters of the passes that any volume of this run reports as ended. */
function completedPasses({ volumes }: QualityLog): readonly string[] {
  const endEvents = volumes.flatMap(({ events }) =>
    events.filter((event) => event.event === "pass_ended"),
  );
  return [...new Set(endEvents.map(({ pass }) => pass))].sort();
}

function eventLine(event: QualityRunEvent, passes: readonly string[]): string {
  const parts = [event.event, ...phaseFields(event), ...eventDetails(event, passes)];
  return `- ${oneLine(event.ts)} — ${parts.join(" ")}`;
}

const phaseFields = (event: QualityRunEvent): readonly string[] =>
  "phase" in event && typeof event.phase === "number" ? [`phase=${event.phase}`] : [];

function eventDetails(event: QualityRunEvent, passes: readonly string[]): readonly string[] {
  switch (event.event) {
    case "phase_end":
      return phaseEndDetails(event.phase, event.key_counts, passes);
    case "pattern_walked":
      return [`pattern=${event.pattern}`, `findings=${event.findings_count}`];
    case "pass_started":
    case "pass_ended":
      return [`pass=${event.pass}`];
    case "finding_logged":
      return [oneLine(event.finding_id), `category=${oneLine(event.category)}`];
    case "artifact_written":
      return [oneLine(event.relative_path)];
    case "gate_check":
      return [oneLine(event.gate_name), `verdict=${event.verdict}`];
    case "error":
      return [`recoverable=${event.recoverable}`, oneLine(event.message, messageCharsMax)];
    case "documentation_state":
      return [`state=${oneLine(event.state)}`];
    case "run_start":
      return [`runner=${oneLine(event.runner)}`];
    case "run_end":
      return [`status=${event.status}`];
    default:
      return [];
  }
}

function phaseEndDetails(
  phase: number,
  counts: Counts,
  passes: readonly string[],
): readonly string[] {
  if (phase === 1) return [`findings=${numberOrZero(counts["findings_total"])}`];
  if (phase === 4) {
    // The letters are shown only if they account for every pass that was counted.
    const completeCount = numberOrZero(counts["passes_complete"]);
    const passesText =
      passes.length === completeCount
        ? `passes=[${passes.join(",")}]`
        : `passes_complete=${completeCount}`;
    return [passesText, `req_count=${numberOrZero(counts["req_count"])}`];
  }

  return Object.entries(counts).map(([name, value]) => `${oneLine(name)}=${plainText(value)}`);
}

/** Each file once, with the size it had when it was last counted. */
function artifactLines({ tallies }: QualityLog, { events }: Volume): readonly string[] {
  const sizes = new Map<string, number | undefined>();
  for (const { artifacts } of tallies.values()) {
    for (const { path, bytes: size } of artifacts) sizes.set(path, size);
  }

  for (const event of events) {
    if (event.event === "artifact_written") sizes.set(event.relative_path, event.byte_size);
  }

  return [...sizes].map(
    ([path, size]) =>
      `- ${oneLine(path)} (${size === undefined ? "size unknown" : `${formatNumber(size)} bytes`})`,
  );
}

function documentationLines({ documentation }: QualityLog): readonly string[] {
  return documentation === null
    ? []
    : ["", "## Documentation", "", `Documentation state: ${oneLine(documentation.state)}`];
}

function errorLines({ errors }: QualityLog, { logDifference }: ProgressSources): readonly string[] {
  const shownErrors =
    logDifference === null ? errors : [...errors, { code: "log_differs", reason: logDifference }];
  return shownErrors.flatMap(({ code, reason }) => [
    "",
    `ERROR: ${code} — ${oneLine(reason, errorCharsMax)}`,
  ]);
}

function gateLines(
  { gate, volumes }: QualityLog,
  { gatePassedEarlier }: ProgressSources,
): readonly string[] {
  if (gate === null) {
    const verdict = plainText(volumes.at(-1)?.endsByPhase.get(6)?.key_counts["gate_verdict"]);
    const message = `Verdict: ${verdict}, judged by the tool that began this run and not again here; see ${gateLogPath}.`;
    return gatePassedEarlier ? ["", `## ${terminalSection}`, "", message] : [];
  }

  const { result, ts } = gate;
  const count = (verdict: string): number =>
    result.checks.filter((check) => check.verdict === verdict).length;
  const counts = `${plural(count("fail"), "failure")}, ${plural(count("warn"), "warning")}`;

  return [
    "",
    `## ${terminalSection}`,
    "",
    `Verdict: ${result.verdict} (${counts}), judged by the runner at ${ts}. Every check is in ${gateLogPath}.`,
    "",
    ...result.checks.map(
      ({ name, verdict, reason }) => `- ${verdict}: ${oneLine(name)}: ${oneLine(reason)}`,
    ),
  ];
}
