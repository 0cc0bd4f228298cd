import { runEventIn } from "../contracts/quality-facts.ts";
import type { QualityRunEvent, RunEventOf } from "../contracts/quality-run.ts";
import { isTree, openViolations, treeOf, type Violation } from "./line-rules.ts";
import { openRunStateRules } from "./run-state-rules.ts";

/** A log as another session or another tool left it. */
export type LogRead = {
  readonly index: RunEventOf<"_index"> | null;
  readonly start: RunEventOf<"run_start"> | null;
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
  for (const [at, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    rules.line(line, at + 1);
    const tree = treeOf(line);
    const event = isTree(tree) ? runEventIn(tree) : null;
    if (event !== null) events.push(event);
  }
  rules.end();
  const the = <Name extends QualityRunEvent["event"]>(name: Name): RunEventOf<Name> | null =>
    (events.find(({ event }) => event === name) as RunEventOf<Name> | undefined) ?? null;
  const index = the("_index");
  return {
    index,
    start: the("run_start"),
    types: new Set(index?.event_types ?? []),
    started: new Set(events.flatMap((event) => (event.event === "phase_start" ? [event.phase] : []))),
    ended: new Map(events.flatMap((event) => (event.event === "phase_end" ? [[event.phase, event]] : []))),
    end: the("run_end"),
    events,
    errors: violations.list().filter(({ severity }) => severity === "error"),
  };
}

/** Why nothing may be added to a log; null where it is sound and still open. */
export function whyOver(log: LogRead): string | null {
  if (log.end !== null) return `its run ended (${log.end.status})`;
  const [first] = log.errors;
  if (first !== undefined) return `it breaks rule ${first.rule} in line ${first.line}: ${first.message}`;
  return log.index === null || log.start === null ? "it has no beginning" : null;
}
