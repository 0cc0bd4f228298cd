// run-state-rules: validates a run_state.jsonl: the seven invariants of its format as rules RS1 to RS7, its fields, and how a run may end.
//
// Invariants:
//   V1. One pass in constant memory: it keeps a few line numbers and the list of event types, whatever the length of the log.
//   V2. Nothing is repaired. A line that breaks a rule is reported, and what can be read of it still counts.
//   V3. If two lines contradict each other, both are named: either may be the wrong one.
// RS5, that written lines are never edited, cannot be checked on one version of a file: commands/validate/validate-history.ts compares
// versions.

import { type PhaseNumber, phaseNumbers } from "../../../contracts/quality-run.ts";
import { shown } from "../../../kit/finding.ts";
import { countStrings } from "../../../kit/json-hazards.ts";
import { isUtcTime } from "../../../kit/utc-time.ts";
import { isTree, type LineRules, notCounted, type Tree, parseLine, type Violations } from "../../../documents/line-rules.ts";
import { type DocsFacts, docsEvents, openDocsRules } from "./run-state-docs.ts";
import { judgeFields, type KnownEvent, knownEvents, type Level, type Report } from "./run-state-field-rules.ts";

/** Facts of the whole log, to compare with other files. */
export type RunStateFacts = {
  readonly level: Level;
  readonly events: number;
  /** The start time in `_index`, which identifies the run or cycle; null if it has none. */
  readonly startedAt: string | null;
  /** The run that `run_start` names; only logs of this runner have it. */
  readonly runId: string | null;
  readonly end: { readonly line: number; readonly status: unknown } | null;
  /** What the last phase counted in BUGS.md. */
  readonly bugsMdCount: number | null;
  readonly docs: DocsFacts;
};

export type RunStateRules = LineRules & { readonly facts: () => RunStateFacts };

/** The first and the last event of each kind of log. */
const boundaryEvents = {
  run: { first: "run_start", last: "run_end" },
  cycle: { first: "cycle_start", last: "cycle_end" },
} as const satisfies Readonly<Record<Level, { readonly first: string; readonly last: string }>>;

const cycleEventNames: ReadonlySet<unknown> = new Set([
  "cycle_start",
  "benchmark_start",
  "benchmark_end",
  "lever_change_applied",
  "lever_change_reverted",
  "cycle_end",
]);

export function openRunStateRules(violations: Violations): RunStateRules {
  let lineNumber = 0;
  let events = 0;
  let level: Level = "run";
  let eventTypes: ReadonlySet<unknown> | null = null;
  /** Known events that may be anywhere after the second line: only their fields are checked. */
  let freeEvents: ReadonlyMap<unknown, KnownEvent> = new Map();
  let startedAt: string | null = null;
  let runId: string | null = null;
  let bugsMdCount: number | null = null;
  let end: { readonly line: number; readonly status: unknown } | null = null;
  let hasReportedTrailing = false;
  /** The last valid `ts`: many events in a row have the same one. */
  let lastTime = "";
  const phases = createPhaseRules();
  const docs = openDocsRules();
  const report: Report = (rule, message, severity) => violations.add(lineNumber, rule, message, severity);

  const judgeIndex = (name: unknown, tree: Tree): void => {
    level = "cycle_name" in tree || cycleEventNames.has(name) ? "cycle" : "run";
    if (name === "_index") {
      const listedTypes = tree["event_types"];
      if (Array.isArray(listedTypes)) eventTypes = new Set(listedTypes);
      const startTime = tree["started_at"] ?? tree["ts"];
      if (typeof startTime === "string") startedAt = startTime;
    } else report("RS1", `the first event is ${shown(name)}, expected _index`);
    const fixedEvents = new Set<string>([
      "_index",
      "phase_start",
      "phase_end",
      ...docsEvents,
      boundaryEvents[level].first,
      boundaryEvents[level].last,
    ]);
    freeEvents = new Map(
      [...knownEvents[level]].filter(([name]) => !fixedEvents.has(name) && (eventTypes === null || eventTypes.has(name))),
    );
  };

  /** Whether this event may be here. */
  const judgePlace = (name: string): void => {
    const { first, last } = boundaryEvents[level];
    if (name === "_index") report("RS1", "another _index, expected one, as the first line");
    else if (eventTypes !== null && !eventTypes.has(name)) report("RS4", `event ${shown(name)} is not among the event_types of _index`);
    if (events === 2 && name !== first) report("RS7", `the second event is ${shown(name)}, expected ${first}`);
    if (events !== 2 && name === first) report("RS7", `${first} is event ${events}, expected it once, as the second`);
    if (end === null || hasReportedTrailing) return;
    hasReportedTrailing = true;
    report("RS7", `comes after the ${last} of line ${end.line}, expected nothing after it`); // V3
    violations.add(end.line, "RS7", `${last} is followed by more, from line ${lineNumber} on, expected it to be the last line`);
  };

  const judgePhase = (name: string, { phase, key_counts: counts }: Tree): void => {
    const problem = name === "phase_start" ? phases.start(phase, lineNumber) : phases.end(phase, lineNumber);
    if (problem !== null) report("RS6", problem);
    if (name === "phase_end" && phase === 6 && isTree(counts) && typeof counts["bugs_md_count"] === "number")
      bugsMdCount = counts["bugs_md_count"];
  };

  const judgeOther = (name: unknown, tree: Tree): number => {
    if (events === 1) judgeIndex(name, tree);
    if (events === 2 && eventTypes === null && cycleEventNames.has(name)) level = "cycle"; // in case the first line could not be read
    if (typeof name !== "string") {
      report("RS3", name === undefined ? "has no event, expected one" : `event is ${shown(name)}, expected a text`);
      return countStrings(tree);
    }
    if (events > 1) judgePlace(name);
    const knownEvent = knownEvents[level].get(name);
    const stringCount = knownEvent === undefined ? countStrings(tree) : judgeFields(knownEvent, tree, report);
    if (name === "run_start" && typeof tree["run_id"] === "string") runId ??= tree["run_id"];
    if (level === "run") docs.onEvent(name, tree, lineNumber, report);
    if (level === "run" && (name === "phase_start" || name === "phase_end")) judgePhase(name, tree);
    if (name !== boundaryEvents[level].last) return stringCount;
    if (level === "run" && tree["status"] === "success") judgeSuccess(phases.open(), bugsMdCount, report);
    end ??= { line: lineNumber, status: tree["status"] ?? tree["verdict"] };
    return stringCount;
  };

  const judgeEvent = (tree: Tree): number => {
    const { ts, event: name } = tree;
    events++;
    if (typeof ts !== "string") report("RS3", ts === undefined ? "has no ts, expected one" : `ts is ${shown(ts)}, expected a text`);
    else if (ts !== lastTime) {
      if (isUtcTime(ts)) lastTime = ts;
      else report("RS-field", `ts is ${shown(ts)}, expected a time in UTC: 2026-05-15T14:32:01Z`);
    }
    const freeEvent = events > 2 && end === null ? freeEvents.get(name) : undefined;
    return freeEvent === undefined ? judgeOther(name, tree) : judgeFields(freeEvent, tree, report);
  };

  return {
    line: (text, number) => {
      const tree = parseLine(text);
      if (tree === null) return 0;
      lineNumber = number;
      if (typeof tree === "string") {
        events++; // it represents an event of unknown type
        report("RS2", tree);
        return notCounted;
      }
      return judgeEvent(tree);
    },
    fault: (number, message, isUnread = false) => {
      if (isUnread) {
        events++; // it represents an event too
        lineNumber = number;
      }
      violations.add(number, "RS2", message);
    },
    end: () => {
      if (events === 0) violations.add(1, "RS1", "holds no event, expected _index as the first line");
      else if (events === 1)
        violations.add(lineNumber, "RS7", `the log ends after its first event, expected ${boundaryEvents[level].first} as the second`);
    },
    facts: () => ({ level, events, startedAt, runId, end, bugsMdCount, docs: docs.facts() }),
  };
}

/** The rule of `run_end`: a success needs all six phases and the bug count. */
function judgeSuccess(openPhases: readonly PhaseNumber[], bugsMdCount: number | null, report: Report): void {
  if (openPhases.length > 0) report("RS-end", `run_end says success, and phase_end is missing for phase ${openPhases.join(", ")}`);
  else if (bugsMdCount === null)
    report("RS-end", "run_end says success, and the phase_end of phase 6 has no bugs_md_count to hold against BUGS.md");
}

type PhaseRules = {
  /** What is wrong with the event; null if it may be here. */
  readonly start: (phase: unknown, line: number) => string | null;
  readonly end: (phase: unknown, line: number) => string | null;
  /** The phases that have not ended. */
  readonly open: () => readonly PhaseNumber[];
};

/** The start and end events of the six phases: each once, and in order. */
function createPhaseRules(): PhaseRules {
  const startLines = new Map<unknown, number>();
  const endLines = new Map<unknown, number>();
  const isPhase = (phase: unknown): phase is PhaseNumber => (phaseNumbers as readonly unknown[]).includes(phase);
  let latest: PhaseNumber | null = null;
  return {
    start: (phase, line) => {
      if (!isPhase(phase)) return null;
      const firstLine = startLines.get(phase);
      if (firstLine !== undefined) return `phase ${phase} starts a second time, after line ${firstLine}`;
      startLines.set(phase, line);
      if (latest !== null && phase < latest) return `phase ${phase} starts after phase ${latest}, expected the phases in order`;
      const openPhase = latest !== null && !endLines.has(latest) ? latest : null;
      latest = phase;
      return openPhase === null
        ? null
        : `phase ${phase} starts while phase ${openPhase} of line ${startLines.get(openPhase) ?? 0} has not ended`;
    },
    end: (phase, line) => {
      if (!isPhase(phase)) return null;
      const firstLine = endLines.get(phase);
      if (firstLine !== undefined) return `phase ${phase} ends a second time, after line ${firstLine}`;
      endLines.set(phase, line);
      return startLines.has(phase) ? null : `phase ${phase} ends without having started`;
    },
    open: () => phaseNumbers.filter((phase) => !endLines.has(phase)),
  };
}
