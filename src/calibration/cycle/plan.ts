// plan: the schema of everything a cycle was asked to do, as in its `cycle_start` line: the log is
// enough to continue it.

import * as v from "valibot";

const text = v.string();
const Count = v.pipe(v.number(), v.integer(), v.minValue(1));

export const leverKinds = [
  "patch",
  "commit",
  "command",
  "prompt",
  "limit",
  "agent",
  "model",
] as const;
export const benchmarkKinds = ["folder", "ref", "outside"] as const;

export const BenchmarkPlan = v.object({
  name: text,
  /** A folder of the repository, a commit of it, or a folder elsewhere. */
  kind: v.picklist(benchmarkKinds),
  /** The folder or the commit's name. */
  at: text,
  /** The commit that a ref was when the cycle began. */
  commit: v.optional(text),
  /** Null only if a metric is the target and there is no list of known bugs. */
  baseline: v.nullable(text),
});
export type BenchmarkPlan = v.InferOutput<typeof BenchmarkPlan>;

export const CyclePlan = v.object({
  lever: v.object({ kind: v.picklist(leverKinds), source: text, value: v.optional(text) }),
  description: text,
  /** The branch that the cycle began on: the lever and its revert go there and nowhere else. */
  branch: v.optional(text),
  /** Null: the benchmark is one of our quality runs. */
  command: v.nullable(text),
  agent: v.optional(text),
  /** Where the run leaves its bugs, in the benchmark's folder. */
  findings: v.nullable(text),
  target: v.object({
    metric: text,
    better: v.picklist(["higher", "lower"]),
    relative: v.boolean(),
  }),
  repeat: Count,
  jobs: Count,
  hang_ms: Count,
  seed: text,
  benchmarks: v.array(BenchmarkPlan),
});
export type CyclePlan = v.InferOutput<typeof CyclePlan>;

/** The name of the target that every cycle has unless `--metric` names another. */
export const recallTarget = "recall";
/** In the repository, so that a cycle's log and audit page can be committed. */
export const cyclesFolder = "Calibration Cycles";
export const logFile = "run_state.jsonl";
export const auditFile = "audit.md";
/** Where a run leaves the bugs it found, if the plan names no file: the first that is there. */
export const findingsDefault = ["quality/BUGS.md", "BUGS.md"] as const;
export const hangMsDefault = 90 * 60_000;
/** A hung benchmark is started again so many times; then it is n/a. */
export const restartsMax = 3;
export const benchmarksMax = 100;
export const repeatMax = 100;

export const cycleNameCharsMax = 100;
/** A cycle's name is a folder's name and part of a ref: a date and a slug, or anything as plain. */
export const cycleNamePattern = /^(?!.*\.\.)(?!.*\.lock$)[A-Za-z0-9][A-Za-z0-9._-]{0,99}(?<!\.)$/;
export const benchmarkNamePattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

/**
 * Milliseconds of `90m`, `2h`, `45s`, `1500ms`; a bare number is minutes. Null if it is none of
 * these.
 */
export function parseDuration(text: string): number | null {
  const [, digits, unit = "m"] = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h)?$/.exec(text.trim()) ?? [];
  const scale: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
  const ms = Math.round(Number(digits) * (scale[unit] ?? Number.NaN));

  return Number.isFinite(ms) && ms >= 1 ? ms : null;
}
