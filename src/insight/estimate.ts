// estimate: what the phases ahead will probably use, from what earlier ones used; where nothing is known, the seed's constants.
//
// Invariants:
//   E1. P90 is never below P50, and nothing is below zero.
//   E2. Few samples are not a distribution: below `samplesMin` the constants are used and the basis says so.

import type { PhaseType } from "../contracts/roadmap-values.ts";
import { type CostEstimation, costEstimation, estimatedTokens, plainTokens, type PlannedPhase } from "./cost.ts";

export type Range = { readonly p50: number; readonly p90: number };
/** What one finished phase of an earlier run used, as its ledger says. */
export type PhaseSample = { readonly phaseType: PhaseType; readonly tokens: number; readonly minutes: number; readonly usd: number };
export type PhaseEstimate = {
  readonly id: string;
  readonly tokens: Range;
  readonly minutes: Range | null;
  readonly usd: Range | null;
  readonly basis: string;
};
export type RoadmapEstimate = {
  readonly tokens: Range;
  /** Null where no earlier phase says anything about it. */
  readonly minutes: Range | null;
  readonly usd: Range | null;
  readonly basis: string;
  readonly phases: readonly PhaseEstimate[];
};

const samplesMin = 3;

export function estimateOf(
  phases: readonly PlannedPhase[],
  history: readonly PhaseSample[],
  constants: CostEstimation = costEstimation,
): RoadmapEstimate {
  const each = phases.map((phase) => estimateOfPhase(phase, history, constants));
  const some = (dimension: "minutes" | "usd"): readonly Range[] => each.flatMap((one) => one[dimension] ?? []);
  const bases = [...new Set(each.map(({ basis }) => basis))];
  return {
    tokens: together(each.map(({ tokens }) => tokens)),
    minutes: some("minutes").length === each.length && each.length > 0 ? together(some("minutes")) : null,
    usd: some("usd").length === each.length && each.length > 0 ? together(some("usd")) : null,
    basis: bases.length === 0 ? "nothing to do" : bases.join("; "),
    phases: each,
  };
}

function estimateOfPhase(phase: PlannedPhase, history: readonly PhaseSample[], constants: CostEstimation): PhaseEstimate {
  const alike = history.filter(({ phaseType }) => phaseType === phase.phaseType);
  const samples = alike.length >= samplesMin ? alike : history;
  if (samples.length < samplesMin) {
    const p90 = estimatedTokens(phase, constants);
    return {
      id: phase.id,
      tokens: { p50: Math.min(p90, Math.round(plainTokens(phase, constants))), p90 }, // E1
      minutes: null,
      usd: null,
      basis: `the cost constants (${history.length} earlier phases, at least ${samplesMin} are needed)`, // E2
    };
  }
  const of = (dimension: "tokens" | "minutes" | "usd"): Range => rangeOf(samples.map((sample) => sample[dimension]));
  const which = samples === alike ? `${phase.phaseType} phases` : "phases of every kind";
  return { id: phase.id, tokens: of("tokens"), minutes: of("minutes"), usd: of("usd"), basis: `${samples.length} earlier ${which}` };
}

/** Both quantiles, interpolated between neighbours. */
export function rangeOf(values: readonly number[]): Range {
  const sorted = values.filter((value) => Number.isFinite(value) && value >= 0).toSorted((a, b) => a - b);
  return { p50: quantile(sorted, 0.5), p90: quantile(sorted, 0.9) };
}

function quantile(sorted: readonly number[], q: number): number {
  if (sorted.length === 0) return 0;
  const at = (sorted.length - 1) * q;
  const low = sorted[Math.floor(at)] ?? 0;
  const high = sorted[Math.ceil(at)] ?? low;
  return low + (high - low) * (at - Math.floor(at));
}

/** Middles add up; that everything goes badly at once is unlikely, so what lies above them adds up like independent errors. */
function together(ranges: readonly Range[]): Range {
  const p50 = ranges.reduce((sum, range) => sum + range.p50, 0);
  const above = Math.sqrt(ranges.reduce((sum, range) => sum + (range.p90 - range.p50) ** 2, 0));
  return { p50, p90: p50 + above };
}
