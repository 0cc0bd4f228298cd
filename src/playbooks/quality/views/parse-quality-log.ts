// parse-quality-log: parses a run_state.jsonl that an earlier run or another tool left, and collects
// its violations.

import { findRunEvent } from "../../../contracts/quality/quality-facts.ts";
import type { QualityRunEvent, RunEventOf } from "../../../contracts/quality/quality-run.ts";
import {
  isTree,
  openViolations,
  parseLine,
  type Violation,
} from "../../../documents/line-rules.ts";
import { openQualityLogRules } from "./quality-log-rules.ts";

/** The fields that a later run takes over from a log it continues or replaces. */
export type LogHead = Readonly<Partial<Record<(typeof headFieldNames)[number], string>>>;
const headFieldNames = [
  "benchmark",
  "lever_state",
  "runner",
  "playbook_version",
  "target_path",
] as const;
const headCharsMax = 200;

export type ParsedLog = {
  readonly index: RunEventOf<"_index"> | null;
  readonly start: RunEventOf<"run_start"> | null;
  /**
   * Fields of its first two events, as far as they can be read, even if these events have faults.
   */
  readonly head: LogHead;
  readonly eventTypes: ReadonlySet<string>;
  readonly startedPhases: ReadonlySet<number>;
  readonly endsByPhase: ReadonlyMap<number, RunEventOf<"phase_end">>;
  readonly end: RunEventOf<"run_end"> | null;
  /** Every event that is one of the schema's, in order. */
  readonly events: readonly QualityRunEvent[];
  readonly errors: readonly Violation[];
};

/** Never throws: lines that cannot be read are among the errors. */
export function parseLog(text: string): ParsedLog {
  const violations = openViolations();
  const rules = openQualityLogRules(violations);
  const events: QualityRunEvent[] = [];
  let head: LogHead = {};

  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    rules.checkLine(line, index + 1);
    const tree = parseLine(line);
    if (!isTree(tree)) continue;
    if (tree["event"] === "_index" || tree["event"] === "run_start") {
      head = { ...headFields(tree), ...head };
    } // the first value of a field counts

    const event = findRunEvent(tree);
    if (event !== null) events.push(event);
  }

  rules.finish();
  const findEvent = <Name extends QualityRunEvent["event"]>(name: Name): RunEventOf<Name> | null =>
    (events.find(({ event }) => event === name) as RunEventOf<Name> | undefined) ?? null;
  const index = findEvent("_index");

  return {
    index,
    start: findEvent("run_start"),
    head,
    eventTypes: new Set(index?.event_types ?? []),
    startedPhases: new Set(
      events.flatMap((event) => (event.event === "phase_start" ? [event.phase] : [])),
    ),
    endsByPhase: new Map(
      events.flatMap((event) => (event.event === "phase_end" ? [[event.phase, event]] : [])),
    ),
    end: findEvent("run_end"),
    events,
    errors: violations.list().filter(({ severity }) => severity === "error"),
  };
}

function headFields(tree: Readonly<Record<string, unknown>>): LogHead {
  const isShortText = (value: unknown): value is string =>
    typeof value === "string" && value !== "" && value.length <= headCharsMax;
  return Object.fromEntries(
    headFieldNames.flatMap((name) => (isShortText(tree[name]) ? [[name, tree[name]]] : [])),
  );
}

/** Why nothing may be appended to a log; null if it is valid and still open. */
export function whyLogClosed(log: ParsedLog): string | null {
  if (log.end !== null) return `its run ended (${log.end.status})`;
  const [first] = log.errors;
  if (first !== undefined) {
    return `it breaks rule ${first.rule} in line ${first.line}: ${first.message}`;
  }

  return log.index === null || log.start === null ? "it has no beginning" : null;
}
