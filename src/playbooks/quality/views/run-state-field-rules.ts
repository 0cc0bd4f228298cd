// run-state-field-rules: the fields of one event of a run_state.jsonl: what is missing, what is of the wrong kind, and what is none of the words
// that the format allows. Where the format leaves a list open, or a companion of it goes beyond, there is a warning.

import {
  cycleEventSchemas,
  documentationStates,
  keyCounts,
  type PhaseNumber,
  phaseNumbers,
  runEventSchemas,
  runners,
  terminalVerdicts,
  toleratedCycleVerdicts,
} from "../../../contracts/quality-run.ts";
import { type FieldCheck, buildFieldCheck, unfit } from "../../../kit/field-check.ts";
import { shown } from "../../../kit/finding.ts";
import { countStrings } from "../../../kit/json-hazards.ts";
import { isTree, type Tree, type Violation } from "../../../documents/line-rules.ts";

export type Level = "run" | "cycle";
export type Report = (rule: string, message: string, severity?: Violation["severity"]) => void;

/** Time and name are common to all events, and have their own rule. */
const everyEvents = ["ts", "event"] as const;

/** An event that the format knows, made ready to be judged. */
export type KnownEvent = {
  readonly name: string;
  readonly check: FieldCheck;
  readonly beyond: ((event: Tree, report: Report) => void) | undefined;
};

const knownOf = (schemas: Readonly<Record<string, { readonly entries: Parameters<typeof buildFieldCheck>[0]["entries"] }>>) =>
  new Map<string, KnownEvent>(
    Object.entries(schemas).map(([name, schema]) => [name, { name, check: buildFieldCheck(schema, everyEvents), beyond: beyond[name] }]),
  );

const countChecks = new Map<unknown, FieldCheck>(phaseNumbers.map((phase: PhaseNumber) => [phase, buildFieldCheck(keyCounts[phase])]));

/** What is worth a word though the format does not forbid it, and what holds between two fields. */
const beyond: Readonly<Record<string, (event: Tree, report: Report) => void>> = {
  _index: ({ ts, started_at, cycle_name }, report) => {
    if (typeof started_at === "string" && started_at !== ts && cycle_name === undefined)
      report("RS-field", `_index started_at is ${shown(started_at)}, expected the event's own ts ${shown(ts)}`);
  },
  run_start: ({ runner }, report) => open(report, "run_start runner", runner, runners),
  documentation_state: ({ state }, report) => open(report, "documentation_state state", state, documentationStates),
  run_end: ({ final_verdict }, report) => open(report, "run_end final_verdict", final_verdict, terminalVerdicts),
  phase_end: judgeCounts,
  benchmark_end: ({ recall, metric_value }, report) => {
    if (recall === null)
      report("RS-field", "benchmark_end recall is null, expected a number", typeof metric_value === "number" ? "warning" : "error");
  },
  cycle_end: ({ verdict }, report) => {
    if ((toleratedCycleVerdicts as readonly unknown[]).includes(verdict))
      report("RS-enum", `cycle_end verdict is ${shown(verdict)}, which some tools write and the format does not name`, "warning");
  },
};

/** Every event of a level by its name. */
export const knownEvents: Readonly<Record<Level, ReadonlyMap<string, KnownEvent>>> = {
  run: knownOf(runEventSchemas),
  cycle: knownOf(cycleEventSchemas),
};

/** Judges the fields of an event, and answers how many names and texts are in it. */
export function judgeFields({ name, check, beyond: judgeBeyond }: KnownEvent, event: Tree, report: Report): number {
  const counted = check.countIn(event);
  if (counted === unfit) {
    for (const { kind, message } of check.faultsOf(event))
      report(kind === "enum" ? "RS-enum" : "RS-field", `${name} ${message}`, kind === "null" ? "warning" : "error");
  }
  judgeBeyond?.(event, report);
  return counted === unfit ? countStrings(event) : counted;
}

function open(report: Report, what: string, value: unknown, known: readonly string[]): void {
  if (typeof value !== "string" || known.includes(value)) return;
  report("RS-enum", `${what} is ${shown(value)}, which is none of ${known.join(", ")}`, "warning");
}

/** The format requires the counts and lists what they hold by phase; a count that is left out is reported, and no reason to refuse the log. */
function judgeCounts({ phase, key_counts }: Tree, report: Report): void {
  const check = countChecks.get(phase);
  if (check === undefined || !isTree(key_counts) || check.countIn(key_counts) !== unfit) return;
  for (const { kind, message } of check.faultsOf(key_counts))
    report(
      kind === "enum" ? "RS-enum" : "RS-field",
      `phase_end key_counts of phase ${String(phase)} ${message}`,
      kind === "missing" ? "warning" : "error",
    );
}
