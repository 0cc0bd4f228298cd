// quality-log-field-rules: checks the fields of one event of a run_state.jsonl: missing fields, wrong
// types and values that are not allowed. Values outside of a list that the format leaves open, or
// that some tools are known to add, are only warned about.

import {
  cycleEventSchemas,
  documentationStates,
  keyCounts,
  type PhaseNumber,
  phaseNumbers,
  runEventSchemas,
  qualityRunners,
  terminalVerdicts,
  toleratedCycleVerdicts,
} from "../../../contracts/quality/quality-run.ts";
import { type FieldCheck, buildFieldCheck, unfit } from "../../../kit/field-check.ts";
import { shown } from "../../../kit/finding.ts";
import { countStrings } from "../../../kit/json-hazards.ts";
import { isTree, type Tree, type Violation } from "../../../documents/line-rules.ts";

/** A log of one quality run, or of a calibration cycle. */
export type QualityLogLevel = "run" | "cycle";
export type ReportViolation = (
  rule: string,
  message: string,
  severity?: Violation["severity"],
) => void;

/** Fields that every event has; another rule checks them. */
const commonFields = ["ts", "event"] as const;

/** An event type of the format, with the check of its schema and, for some, a rule beyond it. */
export type KnownEvent = {
  readonly name: string;
  readonly check: FieldCheck;
  readonly extraRule: ((event: Tree, report: ReportViolation) => void) | undefined;
};

const buildKnownEvents = (
  schemas: Readonly<
    Record<string, { readonly entries: Parameters<typeof buildFieldCheck>[0]["entries"] }>
  >,
) =>
  new Map<string, KnownEvent>(
    Object.entries(schemas).map(([name, schema]) => [
      name,
      { name, check: buildFieldCheck(schema, commonFields), extraRule: extraRules[name] },
    ]),
  );

/** The checks of a `phase_end`'s key_counts, by phase. */
const countChecks = new Map<unknown, FieldCheck>(
  phaseNumbers.map((phase: PhaseNumber) => [phase, buildFieldCheck(keyCounts[phase])]),
);

/** Rules beyond the schema: warnings about unusual values, and relations between two fields. */
const extraRules: Readonly<Record<string, (event: Tree, report: ReportViolation) => void>> = {
  _index: ({ ts, started_at, cycle_name }, report) => {
    if (typeof started_at === "string" && started_at !== ts && cycle_name === undefined) {
      report(
        "RS-field",
        `_index started_at is ${shown(started_at)}, expected the event's own ts ${shown(ts)}`,
      );
    }
  },
  run_start: ({ runner }, report) =>
    warnUnlisted(report, "run_start runner", runner, qualityRunners),
  documentation_state: ({ state }, report) =>
    warnUnlisted(report, "documentation_state state", state, documentationStates),
  run_end: ({ final_verdict }, report) =>
    warnUnlisted(report, "run_end final_verdict", final_verdict, terminalVerdicts),
  phase_end: judgeCounts,
  benchmark_end: ({ recall, metric_value }, report) => {
    if (recall === null) {
      report(
        "RS-field",
        "benchmark_end recall is null, expected a number",
        typeof metric_value === "number" ? "warning" : "error",
      );
    }
  },
  cycle_end: ({ verdict }, report) => {
    if ((toleratedCycleVerdicts as readonly unknown[]).includes(verdict)) {
      report(
        "RS-enum",
        `cycle_end verdict is ${shown(verdict)}, which some tools write and the format does not name`,
        "warning",
      );
    }
  },
};

/** Every event of a level by its name. */
export const knownEvents: Readonly<Record<QualityLogLevel, ReadonlyMap<string, KnownEvent>>> = {
  run: buildKnownEvents(runEventSchemas),
  cycle: buildKnownEvents(cycleEventSchemas),
};

/** Reports faults in the fields of an event, and returns the number of strings in it. */
export function judgeFields(
  { name, check, extraRule }: KnownEvent,
  event: Tree,
  report: ReportViolation,
): number {
  const stringCount = check.countStringsIn(event);
  if (stringCount === unfit) {
    for (const { kind, message } of check.findFaults(event)) {
      report(
        kind === "enum" ? "RS-enum" : "RS-field",
        `${name} ${message}`,
        kind === "null" ? "warning" : "error",
      );
    }
  }

  extraRule?.(event, report);
  return stringCount === unfit ? countStrings(event) : stringCount;
}

function warnUnlisted(
  report: ReportViolation,
  field: string,
  value: unknown,
  listed: readonly string[],
): void {
  if (typeof value !== "string" || listed.includes(value)) return;
  report(
    "RS-enum",
    `${field} is ${shown(value)}, which is none of ${listed.join(", ")}`,
    "warning",
  );
}

/** The format lists the counts of each phase. A missing count is only a warning. */
function judgeCounts({ phase, key_counts }: Tree, report: ReportViolation): void {
  const check = countChecks.get(phase);
  if (check === undefined || !isTree(key_counts) || check.countStringsIn(key_counts) !== unfit) {
    return;
  }

  for (const { kind, message } of check.findFaults(key_counts)) {
    report(
      kind === "enum" ? "RS-enum" : "RS-field",
      `phase_end key_counts of phase ${String(phase)} ${message}`,
      kind === "missing" ? "warning" : "error",
    );
  }
}
