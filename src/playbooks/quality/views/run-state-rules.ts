// run-state-rules: whether a run_state.jsonl is one: the seven invariants of its format as rules RS1 to RS7, its fields, and how a run may
// end.
//
// Invariants:
//   V1. One pass, and the same memory for every length: what is kept is one bit a phase, one line number, and the list of event types.
//   V2. Nothing is repaired. A line that breaks a rule is reported and counts as far as it can be read.
//   V3. Where two lines contradict each other, both are named: either may be the wrong one.
// RS5, that nothing written is ever edited, cannot be seen in one version of a file: commands/validate/validate-history.ts compares
// versions.

import { type PhaseNumber, phaseNumbers } from "../../../contracts/quality-run.ts";
import { shown } from "../../../kit/finding.ts";
import { countStrings } from "../../../kit/json-hazards.ts";
import { isUtcTime } from "../../../kit/utc-time.ts";
import { isTree, type LineRules, notCounted, type Tree, textTree, type Violations } from "../../../documents/line-rules.ts";
import { type DocsFacts, docsEvents, openDocsRules } from "./run-state-docs.ts";
import { judgeFields, type KnownEvent, knownEvents, type Level, type Report } from "./run-state-field-rules.ts";

/** Facts of the whole log, to compare with other files. */
export type RunStateFacts = {
  readonly level: Level;
  readonly events: number;
  /** Which run or cycle it is of: what `_index` says of its beginning; null if it says nothing. */
  readonly begunAt: string | null;
  /** The run that `run_start` names: ours do. */
  readonly runId: string | null;
  readonly end: { readonly line: number; readonly status: unknown } | null;
  /** What the last phase counted in BUGS.md. */
  readonly bugsCounted: number | null;
  readonly docs: DocsFacts;
};

export type RunStateRules = LineRules & { readonly facts: () => RunStateFacts };

/** The first and the last event of each kind of log. */
const brackets = {
  run: { first: "run_start", last: "run_end" },
  cycle: { first: "cycle_start", last: "cycle_end" },
} as const satisfies Readonly<Record<Level, { readonly first: string; readonly last: string }>>;

const cycleOnly: ReadonlySet<unknown> = new Set([
  "cycle_start",
  "benchmark_start",
  "benchmark_end",
  "lever_change_applied",
  "lever_change_reverted",
  "cycle_end",
]);

export function openRunStateRules(violations: Violations): RunStateRules {
  let position = 0;
  let events = 0;
  let level: Level = "run";
  let types: ReadonlySet<unknown> | null = null;
  /** Events that are known and may be anywhere after the second line: nothing but their fields is to be judged. */
  let plain: ReadonlyMap<unknown, KnownEvent> = new Map();
  let begunAt: string | null = null;
  let runId: string | null = null;
  let bugsCounted: number | null = null;
  let end: { readonly line: number; readonly status: unknown } | null = null;
  let isFollowed = false;
  /** Many events have the same second. */
  let lastTime = "";
  const phases = openPhases();
  const docs = openDocsRules();
  const report: Report = (rule, message, severity) => violations.add(position, rule, message, severity);

  const judgeIndex = (name: unknown, tree: Tree): void => {
    level = "cycle_name" in tree || cycleOnly.has(name) ? "cycle" : "run";
    if (name === "_index") {
      const listed = tree["event_types"];
      if (Array.isArray(listed)) types = new Set(listed);
      const began = tree["started_at"] ?? tree["ts"];
      if (typeof began === "string") begunAt = began;
    } else report("RS1", `the first event is ${shown(name)}, expected _index`);
    const placed = new Set<string>(["_index", "phase_start", "phase_end", ...docsEvents, brackets[level].first, brackets[level].last]);
    plain = new Map([...knownEvents[level]].filter(([known]) => !placed.has(known) && (types === null || types.has(known))));
  };

  /** Whether this event may be here. */
  const judgePlace = (name: string): void => {
    const { first, last } = brackets[level];
    if (name === "_index") report("RS1", "another _index, expected one, as the first line");
    else if (types !== null && !types.has(name)) report("RS4", `event ${shown(name)} is not among the event_types of _index`);
    if (events === 2 && name !== first) report("RS7", `the second event is ${shown(name)}, expected ${first}`);
    if (events !== 2 && name === first) report("RS7", `${first} is event ${events}, expected it once, as the second`);
    if (end === null || isFollowed) return;
    isFollowed = true;
    report("RS7", `comes after the ${last} of line ${end.line}, expected nothing after it`); // V3
    violations.add(end.line, "RS7", `${last} is followed by more, from line ${position} on, expected it to be the last line`);
  };

  const judgePhase = (name: string, { phase, key_counts: counts }: Tree): void => {
    const problem = name === "phase_start" ? phases.start(phase, position) : phases.end(phase, position);
    if (problem !== null) report("RS6", problem);
    if (name === "phase_end" && phase === 6 && isTree(counts) && typeof counts["bugs_md_count"] === "number")
      bugsCounted = counts["bugs_md_count"];
  };

  const judgeOther = (name: unknown, tree: Tree): number => {
    if (events === 1) judgeIndex(name, tree);
    if (events === 2 && types === null && cycleOnly.has(name)) level = "cycle"; // the first line could not be read
    if (typeof name !== "string") {
      report("RS3", name === undefined ? "has no event, expected one" : `event is ${shown(name)}, expected a text`);
      return countStrings(tree);
    }
    if (events > 1) judgePlace(name);
    const known = knownEvents[level].get(name);
    const counted = known === undefined ? countStrings(tree) : judgeFields(known, tree, report);
    if (name === "run_start" && typeof tree["run_id"] === "string") runId ??= tree["run_id"];
    if (level === "run") docs.event(name, tree, position, report);
    if (level === "run" && (name === "phase_start" || name === "phase_end")) judgePhase(name, tree);
    if (name !== brackets[level].last) return counted;
    if (level === "run" && tree["status"] === "success") judgeSuccess(phases.open(), bugsCounted, report);
    end ??= { line: position, status: tree["status"] ?? tree["verdict"] };
    return counted;
  };

  const judgeEvent = (tree: Tree): number => {
    const { ts, event: name } = tree;
    events++;
    if (typeof ts !== "string") report("RS3", ts === undefined ? "has no ts, expected one" : `ts is ${shown(ts)}, expected a text`);
    else if (ts !== lastTime) {
      if (isUtcTime(ts)) lastTime = ts;
      else report("RS-field", `ts is ${shown(ts)}, expected a time in UTC: 2026-05-15T14:32:01Z`);
    }
    const known = events > 2 && end === null ? plain.get(name) : undefined;
    return known === undefined ? judgeOther(name, tree) : judgeFields(known, tree, report);
  };

  return {
    line: (text, number) => {
      const tree = textTree(text);
      if (tree === null) return 0;
      position = number;
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
        position = number;
      }
      violations.add(number, "RS2", message);
    },
    end: () => {
      if (events === 0) violations.add(1, "RS1", "holds no event, expected _index as the first line");
      else if (events === 1)
        violations.add(position, "RS7", `the log ends after its first event, expected ${brackets[level].first} as the second`);
    },
    facts: () => ({ level, events, begunAt, runId, end, bugsCounted, docs: docs.facts() }),
  };
}

/** The rule of `run_end`: success is more than a word. */
function judgeSuccess(open: readonly PhaseNumber[], bugsCounted: number | null, report: Report): void {
  if (open.length > 0) report("RS-end", `run_end says success, and phase_end is missing for phase ${open.join(", ")}`);
  else if (bugsCounted === null)
    report("RS-end", "run_end says success, and the phase_end of phase 6 has no bugs_md_count to hold against BUGS.md");
}

type Phases = {
  /** Null if the marker is in its place. */
  readonly start: (phase: unknown, line: number) => string | null;
  readonly end: (phase: unknown, line: number) => string | null;
  /** The phases that have not ended. */
  readonly open: () => readonly PhaseNumber[];
};

/** The markers of the six phases: each once, and in order. */
function openPhases(): Phases {
  const started = new Map<unknown, number>();
  const ended = new Map<unknown, number>();
  const isPhase = (phase: unknown): phase is PhaseNumber => (phaseNumbers as readonly unknown[]).includes(phase);
  let latest: PhaseNumber | null = null;
  return {
    start: (phase, line) => {
      if (!isPhase(phase)) return null;
      const before = started.get(phase);
      if (before !== undefined) return `phase ${phase} starts a second time, after line ${before}`;
      started.set(phase, line);
      if (latest !== null && phase < latest) return `phase ${phase} starts after phase ${latest}, expected the phases in order`;
      const open = latest !== null && !ended.has(latest) ? latest : null;
      latest = phase;
      return open === null ? null : `phase ${phase} starts while phase ${open} of line ${started.get(open) ?? 0} has not ended`;
    },
    end: (phase, line) => {
      if (!isPhase(phase)) return null;
      const before = ended.get(phase);
      if (before !== undefined) return `phase ${phase} ends a second time, after line ${before}`;
      ended.set(phase, line);
      return started.has(phase) ? null : `phase ${phase} ends without having started`;
    },
    open: () => phaseNumbers.filter((phase) => !ended.has(phase)),
  };
}
