// quality-log-rules: validates a run_state.jsonl: the seven invariants of its format as rules RS1 to
// RS7, its fields, and how a run may end.
//
// The rules of the format:
//   RS1: `_index` is the first line, and there is one.
//   RS2: Every line is one JSON object.
//   RS3: Every event has a `ts` and an `event`, and both are texts.
//   RS4: Every event is one of those that `_index` lists.
//   RS5: Written lines are never edited: commands/validate/validate-history.ts compares versions,
//   one version can't show it. RS6: A phase starts once and ends once, and the phases come in
//   order. RS7: `run_start` is the second line, and `run_end` the last.
//
// Invariants:
//   V1. One pass in constant memory: it keeps a few line numbers and the list of event types,
//       whatever the length of the log.
//   V2. Nothing is repaired. A line that breaks a rule is reported, and what can be read of it
//       still counts.
//   V3. If two lines contradict each other, both are named: either may be the wrong one.

import { cycleEventNames } from "../../../contracts/quality/quality-run.ts";
import { shown } from "../../../kit/finding.ts";
import { countStrings } from "../../../kit/json-hazards.ts";
import { isUtcTime } from "../../../kit/utc-time.ts";
import {
  isTree,
  type LineRules,
  notCounted,
  type Tree,
  parseLine,
  type Violations,
} from "../../../documents/line-rules.ts";
import { type DocsFacts, docsEvents, openDocsRules } from "./quality-log-docs-rules.ts";
import { createPhaseRules } from "./quality-log-phase-rules.ts";
import {
  judgeFields,
  type KnownEvent,
  knownEvents,
  type ReportViolation,
  type QualityLogLevel,
} from "./quality-log-field-rules.ts";

/** Facts of the whole log, to compare with other files. */
export type QualityLogFacts = {
  readonly level: QualityLogLevel;
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

export type QualityLogRules = LineRules & { readonly facts: () => QualityLogFacts };

/** The second and the last event of each kind of log; `_index` is the first. */
const boundaryEvents = {
  run: { first: "run_start", last: "run_end" },
  cycle: { first: "cycle_start", last: "cycle_end" },
} as const satisfies Readonly<
  Record<QualityLogLevel, { readonly first: string; readonly last: string }>
>;

/** Events that only a cycle's log has; both kinds begin with `_index`. */
const cycleOnlyEvents: ReadonlySet<unknown> = new Set(
  cycleEventNames.filter((name) => name !== "_index"),
);

export const openQualityLogRules = (violations: Violations): QualityLogRules =>
  new QualityLogValidator(violations);

class QualityLogValidator implements QualityLogRules {
  readonly #violations: Violations;
  readonly #phases = createPhaseRules();
  readonly #docs = openDocsRules();
  #lineNumber = 0;
  #eventCount = 0;
  #level: QualityLogLevel = "run";
  /**
   * The event types that `_index` lists; null if it could not be read. Nothing else here grows with
   * the log. V1
   */
  #eventTypes: ReadonlySet<unknown> | null = null;
  /** Known events that may be anywhere after the second line: only their fields are checked. */
  #freeEvents: ReadonlyMap<unknown, KnownEvent> = new Map();
  #startedAt: string | null = null;
  #runId: string | null = null;
  #bugsMdCount: number | null = null;
  #end: QualityLogFacts["end"] = null;
  #hasReportedTrailing = false;
  /** The last valid `ts`: many events in a row have the same one, which is checked once. */
  #lastTime = "";
  readonly #report: ReportViolation = (rule, message, severity) =>
    this.#violations.add(this.#lineNumber, rule, message, severity);

  constructor(violations: Violations) {
    this.#violations = violations;
  }

  checkLine(text: string, lineNumber: number): number {
    const tree = parseLine(text);
    if (tree === null) return 0;
    this.#lineNumber = lineNumber;
    if (typeof tree !== "string") return this.#judgeEvent(tree);
    this.#eventCount++; // V2: a line that cannot be parsed stands for an event of unknown type
    this.#report("RS2", tree);

    return notCounted;
  }

  addFault(lineNumber: number, message: string, isUnread = false): void {
    if (isUnread) {
      this.#eventCount++; // a line that cannot be read stands for an event too
      this.#lineNumber = lineNumber;
    }

    this.#violations.add(lineNumber, "RS2", message);
  }

  finish(): void {
    const { first } = boundaryEvents[this.#level];
    if (this.#eventCount === 0) {
      this.#violations.add(1, "RS1", "holds no event, expected _index as the first line");
    }

    if (this.#eventCount === 1) {
      this.#violations.add(
        this.#lineNumber,
        "RS7",
        `the log ends after its first event, expected ${first} as the second`,
      );
    }
  }

  facts(): QualityLogFacts {
    return {
      level: this.#level,
      events: this.#eventCount,
      startedAt: this.#startedAt,
      runId: this.#runId,
      end: this.#end,
      bugsMdCount: this.#bugsMdCount,
      docs: this.#docs.facts(),
    };
  }

  /** Returns the number of strings in the event, as `line` does. */
  #judgeEvent(event: Tree): number {
    this.#eventCount++;
    this.#judgeTime(event["ts"]);
    const freeEvent =
      this.#eventCount > 2 && this.#end === null ? this.#freeEvents.get(event["event"]) : undefined;

    return freeEvent === undefined
      ? this.#judgeFixedEvent(event)
      : judgeFields(freeEvent, event, this.#report);
  }

  #judgeTime(ts: unknown): void {
    if (ts === this.#lastTime) return;
    if (typeof ts !== "string") {
      this.#report(
        "RS3",
        ts === undefined ? "has no ts, expected one" : `ts is ${shown(ts)}, expected a text`,
      );
    } else if (isUtcTime(ts)) {
      this.#lastTime = ts;
    } else {
      this.#report("RS-field", `ts is ${shown(ts)}, expected a time in UTC: 2026-05-15T14:32:01Z`);
    }
  }

  /** An event whose place matters, or that is unknown. */
  #judgeFixedEvent(event: Tree): number {
    const name = event["event"];
    if (this.#eventCount === 1) this.#judgeIndex(event);
    // In case the first line could not be read.
    if (this.#eventCount === 2 && this.#eventTypes === null && cycleOnlyEvents.has(name)) {
      this.#level = "cycle";
    }

    if (typeof name !== "string") {
      this.#report(
        "RS3",
        name === undefined
          ? "has no event, expected one"
          : `event is ${shown(name)}, expected a text`,
      );

      return countStrings(event);
    }

    if (this.#eventCount > 1) this.#judgePlace(name);
    const knownEvent = knownEvents[this.#level].get(name);
    const stringCount =
      knownEvent === undefined ? countStrings(event) : judgeFields(knownEvent, event, this.#report);

    if (name === "run_start" && typeof event["run_id"] === "string") {
      this.#runId ??= event["run_id"];
    }

    if (this.#level === "run") this.#docs.onEvent(name, event, this.#lineNumber, this.#report);
    if (this.#level === "run" && (name === "phase_start" || name === "phase_end")) {
      this.#judgePhase(name, event);
    }

    if (name === boundaryEvents[this.#level].last) this.#judgeEnd(event);
    return stringCount;
  }

  /** The first event: it tells what kind of log this is, and which events it may have. */
  #judgeIndex(event: Tree): void {
    const name = event["event"];
    this.#level = "cycle_name" in event || cycleOnlyEvents.has(name) ? "cycle" : "run";

    if (name === "_index") {
      if (Array.isArray(event["event_types"])) this.#eventTypes = new Set(event["event_types"]);
      const startTime = event["started_at"] ?? event["ts"];
      if (typeof startTime === "string") this.#startedAt = startTime;
    } else {
      this.#report("RS1", `the first event is ${shown(name)}, expected _index`);
    }

    const { first, last } = boundaryEvents[this.#level];
    const fixedEvents = new Set<string>([
      "_index",
      "phase_start",
      "phase_end",
      ...docsEvents,
      first,
      last,
    ]);

    const isListed = (knownName: string): boolean =>
      this.#eventTypes === null || this.#eventTypes.has(knownName);
    this.#freeEvents = new Map(
      [...knownEvents[this.#level]].filter(
        ([knownName]) => !fixedEvents.has(knownName) && isListed(knownName),
      ),
    );
  }

  /** Whether this event may be here. */
  #judgePlace(name: string): void {
    const { first, last } = boundaryEvents[this.#level];
    const isListed = this.#eventTypes === null || this.#eventTypes.has(name);

    if (name === "_index") {
      this.#report("RS1", "another _index, expected one, as the first line");
    } else if (!isListed) {
      this.#report("RS4", `event ${shown(name)} is not among the event_types of _index`);
    }

    if (this.#eventCount === 2 && name !== first) {
      this.#report("RS7", `the second event is ${shown(name)}, expected ${first}`);
    }

    if (this.#eventCount !== 2 && name === first) {
      this.#report("RS7", `${first} is event ${this.#eventCount}, expected it once, as the second`);
    }

    if (this.#end === null || this.#hasReportedTrailing) return;
    this.#hasReportedTrailing = true;
    this.#report(
      "RS7",
      `comes after the ${last} of line ${this.#end.line}, expected nothing after it`,
    ); // V3

    const message = `${last} is followed by more, from line ${this.#lineNumber} on, expected it to be the last line`;
    this.#violations.add(this.#end.line, "RS7", message);
  }

  #judgePhase(name: "phase_start" | "phase_end", { phase, key_counts: counts }: Tree): void {
    const problem =
      name === "phase_start"
        ? this.#phases.startPhase(phase, this.#lineNumber)
        : this.#phases.endPhase(phase, this.#lineNumber);
    if (problem !== null) this.#report("RS6", problem);
    if (
      name === "phase_end" &&
      phase === 6 &&
      isTree(counts) &&
      typeof counts["bugs_md_count"] === "number"
    ) {
      this.#bugsMdCount = counts["bugs_md_count"];
    }
  }

  /** The last event: a successful run needs all six phases and the bug count. */
  #judgeEnd({ status, verdict }: Tree): void {
    const openPhases = this.#phases.listOpen();
    if (this.#level === "run" && status === "success" && openPhases.length > 0) {
      this.#report(
        "RS-end",
        `run_end says success, and phase_end is missing for phase ${openPhases.join(", ")}`,
      );
    } else if (this.#level === "run" && status === "success" && this.#bugsMdCount === null) {
      this.#report(
        "RS-end",
        "run_end says success, and the phase_end of phase 6 has no bugs_md_count to hold against BUGS.md",
      );
    }

    this.#end ??= { line: this.#lineNumber, status: status ?? verdict };
  }
}
