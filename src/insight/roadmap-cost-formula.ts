// roadmap-cost-formula: computes what a phase is expected to cost in tokens before it runs, by the
// constants and formula of the roadmap format (section 8).

import { type Complexity, type PhaseType } from "../contracts/roadmap-values.ts";

export const costConstantsDefault = {
  task_tokens: { simple: 15_000, medium: 30_000, complex: 60_000 },
  pipeline_overhead: 50_000,
  buffer_multiplier: 1.2,
  warning_threshold_pct: 80,
  default_estimates: { protocol: 150_000, ui: 250_000, data: 100_000, mixed: 200_000 },
} as const;

/** The constants, tunable by the user. */
export type CostConstants = {
  readonly task_tokens: Readonly<Record<Complexity, number>>;
  /** Tokens for everything around the tasks of a phase. */
  readonly pipeline_overhead: number;
  readonly buffer_multiplier: number;
  readonly warning_threshold_pct: number;
  readonly default_estimates: Readonly<Record<PhaseType, number>>;
};

export type PlannedTask = {
  readonly files: readonly string[];
  readonly complexity?: Complexity | undefined;
};
/** `tasks`: those of its plan, or null if there is no plan yet. */
export type PlannedPhase = {
  readonly id: string;
  readonly phaseType: PhaseType;
  readonly tasks: readonly PlannedTask[] | null;
};

/** If the plan does not say: one file is simple, two or three are medium, more are complex. */
export function computeComplexity({ files, complexity }: PlannedTask): Complexity {
  if (complexity !== undefined) return complexity;
  if (files.length <= 1) return "simple";
  return files.length <= 3 ? "medium" : "complex";
}

/** The median cost of a phase without retries. */
export function computePlainTokens(
  { phaseType, tasks }: Omit<PlannedPhase, "id">,
  constants: CostConstants = costConstantsDefault,
): number {
  if (tasks === null) return constants.default_estimates[phaseType];
  const taskCost = tasks.reduce(
    (sum, task) => sum + constants.task_tokens[computeComplexity(task)],
    0,
  );
  return constants.pipeline_overhead + taskCost;
}

/** The same with a buffer for debugging and repeated checks. */
export function estimateTokens(
  phase: Omit<PlannedPhase, "id">,
  constants: CostConstants = costConstantsDefault,
): number {
  return Math.round(computePlainTokens(phase, constants) * constants.buffer_multiplier);
}

/** A sentence if the estimate comes near the cap; else null. */
export function describeCostWarning(
  phase: string,
  estimated: number,
  capTokensPerPhase: number,
  constants: CostConstants = costConstantsDefault,
): string | null {
  if (estimated <= capTokensPerPhase * (constants.warning_threshold_pct / 100)) return null;
  const pct = capTokensPerPhase === 0 ? 100 : Math.round((estimated / capTokensPerPhase) * 100);
  return `Phase ${phase} estimated at ${estimated} tokens (${pct}% of budget cap).`;
}
