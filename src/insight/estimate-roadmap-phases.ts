// estimate-roadmap-phases: estimates what the phases ahead will use and whether they will succeed,
// from earlier phases or, if there are too few, from the cost constants.
//
// Invariants:
//   E1. P90 is never below P50, and nothing is below zero.
//   E2. Few samples are not a distribution: below `samplesMin` the constants are used and the basis
//       says so.

import {
  type CostConstants,
  computeComplexity,
  costConstantsDefault,
  estimateTokens,
  computePlainTokens,
  type PlannedPhase,
} from "./roadmap-cost-formula.ts";
import {
  type PastCase,
  type CaseFeatures,
  forecastCase,
  type ForecastRange,
  samplesMin,
} from "./forecast.ts";

export type { ForecastRange } from "./forecast.ts";
/** Who would work on the phases ahead; null if it is not known. */
export type PlannedWorkers = { readonly agent: string | null; readonly model: string | null };
export type PhaseEstimate = {
  readonly id: string;
  readonly tokens: ForecastRange;
  readonly minutes: ForecastRange | null;
  readonly usd: ForecastRange | null;
  /** How likely it is to be completed; null if too few earlier ones say. */
  readonly success: number | null;
  readonly basis: string;
};
export type RoadmapEstimate = Omit<PhaseEstimate, "id"> & {
  readonly phases: readonly PhaseEstimate[];
};

/** The flow whose phases these are. */
const flow = "roadmap";

export function estimatePhases(
  phases: readonly PlannedPhase[],
  history: readonly PastCase[],
  constants: CostConstants = costConstantsDefault,
  workers: PlannedWorkers = { agent: null, model: null },
): RoadmapEstimate {
  const estimates = phases.map((phase) => estimatePhase(phase, history, constants, workers));
  /** A sum is known only if each part is. */
  const isKnownOfAll = (parts: readonly unknown[]): boolean =>
    parts.length === estimates.length && estimates.length > 0;
  const sumRanges = (dimension: "minutes" | "usd"): ForecastRange | null => {
    const ranges = estimates.flatMap((phaseEstimate) => phaseEstimate[dimension] ?? []);
    return isKnownOfAll(ranges) ? addRanges(ranges) : null;
  };

  const bases = [...new Set(estimates.map(({ basis }) => basis))];
  const chances = estimates.flatMap(({ success }) => success ?? []);
  return {
    tokens: addRanges(estimates.map(({ tokens }) => tokens)),
    minutes: sumRanges("minutes"),
    usd: sumRanges("usd"),
    success: isKnownOfAll(chances)
      ? chances.reduce((product, chance) => product * chance, 1)
      : null,
    basis: bases.length === 0 ? "nothing to do" : bases.join("; "),
    phases: estimates,
  };
}

function estimatePhase(
  phase: PlannedPhase,
  history: readonly PastCase[],
  constants: CostConstants,
  workers: PlannedWorkers,
): PhaseEstimate {
  const forecast = forecastCase(toFeatures(phase, workers), history);
  if (forecast === null) {
    const p90 = estimateTokens(phase, constants);
    return {
      id: phase.id,
      tokens: { p50: Math.min(p90, Math.round(computePlainTokens(phase, constants))), p90 }, // E1
      minutes: null,
      usd: null,
      success: null,
      basis: `the cost constants (${history.length} earlier phases, at least ${samplesMin} are needed)`, // E2
    };
  }

  const { tokens, minutes, usd, success, samples, alike } = forecast;
  const population = alike.includes("step") ? `${phase.phaseType} phases` : "phases of every kind";
  const sharedFeatures = alike.filter(
    (name) => name !== "flow" && name !== "step" && toFeatures(phase, workers)[name] !== null,
  );
  const sharedNote = sharedFeatures.length === 0 ? "" : ` of the same ${sharedFeatures.join(", ")}`;

  return {
    id: phase.id,
    tokens,
    minutes,
    usd,
    success,
    basis: `${samples} earlier ${population}${sharedNote}`,
  };
}

/** A phase is as complex as its most complex task. */
export const toFeatures = (
  { phaseType, tasks }: Omit<PlannedPhase, "id">,
  { agent, model }: PlannedWorkers,
): CaseFeatures => {
  const complexities = new Set((tasks ?? []).map(computeComplexity));
  const complexity = mostComplexFirst.find((candidate) => complexities.has(candidate)) ?? null;
  return {
    flow,
    step: phaseType,
    complexity,
    agent,
    model,
    size: tasks === null ? null : tasks.length,
  };
};

const mostComplexFirst = ["complex", "medium", "simple"] as const;

/**
 * Medians add up; that everything goes badly at once is unlikely, so what is above them adds up
 * like independent errors.
 */
function addRanges(ranges: readonly ForecastRange[]): ForecastRange {
  const p50 = ranges.reduce((sum, range) => sum + range.p50, 0);
  const deviation = Math.sqrt(ranges.reduce((sum, range) => sum + (range.p90 - range.p50) ** 2, 0));
  return { p50, p90: p50 + deviation };
}
