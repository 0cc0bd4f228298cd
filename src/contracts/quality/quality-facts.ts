// quality-facts: schemas of what the runner's own steps of a quality run found; in the journal each
// is one JSON text among a step's facts. The functions write it and the playbook reads it, so that
// the log shows what was on disk when the runner looked.

import * as v from "valibot";
import {
  gateVerdicts,
  isRunEventName,
  passNames,
  type QualityRunEvent,
  runEventSchemas,
  terminalVerdicts,
} from "./quality-run.ts";

const text = v.string();
const count = v.pipe(v.number(), v.integer(), v.minValue(0));

/** A file a phase left; its size is missing if it isn't text or is too large to read. */
export const ArtifactSize = v.strictObject({
  path: text,
  bytes: v.optional(count),
  lines: v.optional(count),
});
export type ArtifactSize = v.InferOutput<typeof ArtifactSize>;

/**
 * The result of a finished phase: counted in its files, and of the agent's claims only what is on
 * disk.
 */
export const PhaseTally = v.strictObject({
  key_counts: v.record(text, v.union([v.number(), text])),
  artifacts: v.array(ArtifactSize),
  patterns: v.array(v.strictObject({ pattern: count, findings_count: count })),
  findings: v.array(v.strictObject({ id: text, category: text })),
  passes: v.array(
    v.strictObject({ pass: v.picklist(passNames), output_artifact: v.optional(text) }),
  ),
  auditors: v.optional(count),
  triages: v.optional(count),
});
export type PhaseTally = v.InferOutput<typeof PhaseTally>;

export const GateCheck = v.strictObject({
  name: text,
  verdict: v.picklist(gateVerdicts),
  reason: text,
});
export type GateCheck = v.InferOutput<typeof GateCheck>;

/** The terminal gate: every check with its verdict, and their overall result. */
export const GateResult = v.strictObject({
  verdict: v.picklist(terminalVerdicts),
  checks: v.array(GateCheck),
});
export type GateResult = v.InferOutput<typeof GateResult>;

/** A value of this kind from a step's facts; null if it is absent or of another kind. */
export function findFact<Value>(
  facts: Readonly<Record<string, unknown>>,
  name: string,
  schema: v.GenericSchema<unknown, Value>,
): Value | null {
  const factText = Object.hasOwn(facts, name) ? facts[name] : undefined;
  if (typeof factText !== "string") return null;
  try {
    const parsed = v.safeParse(schema, JSON.parse(factText));
    return parsed.success ? parsed.output : null;
  } catch {
    return null;
  }
}

/** Their names among a step's facts. */
export const tallyFact = "tally";
export const gateFact = "gate";

/** A log line as one of the known events; null if it is none, or lacks a required field. */
export function findRunEvent(tree: Readonly<Record<string, unknown>>): QualityRunEvent | null {
  const name = tree["event"];
  if (typeof name !== "string" || !isRunEventName(name)) return null;
  const parsed = v.safeParse(runEventSchemas[name], tree);

  return parsed.success ? parsed.output : null;
}
