// run-state-read: reads a run_state.jsonl that an earlier run or another tool left, with its violations.

import { findRunEvent } from "../../../contracts/quality-facts.ts";
import type { QualityRunEvent, RunEventOf } from "../../../contracts/quality-run.ts";
import { isTree, openViolations, textTree, type Violation } from "../../../documents/line-rules.ts";
import { openRunStateRules } from "./run-state-rules.ts";

export type LogHead = Readonly<Partial<Record<(typeof headNames)[number], string>>>;
const headNames = ["benchmark", "lever_state", "runner", "playbook_version", "target_path"] as const;
const headCharsMax = 200;

/** A log as another session or another tool left it. */
export type LogRead = {
  readonly index: RunEventOf<"_index"> | null;
  readonly start: RunEventOf<"run_start"> | null;
  /** What its first two lines say of the run, as far as it can be read, whatever else is wrong with them. */
  readonly head: LogHead;
  readonly types: ReadonlySet<string>;
  readonly started: ReadonlySet<number>;
  readonly ended: ReadonlyMap<number, RunEventOf<"phase_end">>;
  readonly end: RunEventOf<"run_end"> | null;
  /** Every event that is one of the schema's, in order. */
  readonly events: readonly QualityRunEvent[];
  readonly errors: readonly Violation[];
};

export function readLog(text: string): LogRead {
  const violations = openViolations();
  const rules = openRunStateRules(violations);
  const events: QualityRunEvent[] = [];
  let head: LogHead = {};
  for (const [at, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    rules.line(line, at + 1);
    const tree = textTree(line);
    if (isTree(tree) && (tree["event"] === "_index" || tree["event"] === "run_start")) head = { ...headIn(tree), ...head };
    const event = isTree(tree) ? findRunEvent(tree) : null;
    if (event !== null) events.push(event);
  }
  rules.end();
  const the = <Name extends QualityRunEvent["event"]>(name: Name): RunEventOf<Name> | null =>
    (events.find(({ event }) => event === name) as RunEventOf<Name> | undefined) ?? null;
  const index = the("_index");
  return {
    index,
    start: the("run_start"),
    head,
    types: new Set(index?.event_types ?? []),
    started: new Set(events.flatMap((event) => (event.event === "phase_start" ? [event.phase] : []))),
    ended: new Map(events.flatMap((event) => (event.event === "phase_end" ? [[event.phase, event]] : []))),
    end: the("run_end"),
    events,
    errors: violations.list().filter(({ severity }) => severity === "error"),
  };
}

function headIn(tree: Readonly<Record<string, unknown>>): LogHead {
  const isWord = (value: unknown): value is string => typeof value === "string" && value !== "" && value.length <= headCharsMax;
  return Object.fromEntries(headNames.flatMap((name) => (isWord(tree[name]) ? [[name, tree[name]]] : [])));
}

/** Why nothing may be added to a log; null if it is sound and still open. */
export function whyLogClosed(log: LogRead): string | null {
  if (log.end !== null) return `its run ended (${log.end.status})`;
  const [first] = log.errors;
  if (first !== undefined) return `it breaks rule ${first.rule} in line ${first.line}: ${first.message}`;
  return log.index === null || log.start === null ? "it has no beginning" : null;
}
