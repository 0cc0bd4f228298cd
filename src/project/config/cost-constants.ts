// cost-constants: the constants of cost estimates, with the config's overrides applied.

import { complexities, phaseTypes } from "../../contracts/roadmap-values.ts";
import { type CostConstants, costConstantsDefault } from "../../insight/roadmap-cost-formula.ts";

/** The constants of an estimate, by the names that override them in the config's `limits`. */
export const costConstantNames: readonly string[] = [
  ...complexities.map((name) => `task_tokens_${name}`),
  "pipeline_overhead",
  "buffer_multiplier",
  "warning_threshold_pct",
  ...phaseTypes.map((name) => `default_estimates_${name}`),
];

/** The constants in force: the config's `limits` over the defaults. */
export function readCostConstants(limits: Readonly<Record<string, number>>): CostConstants {
  const value = (name: string, defaultValue: number): number =>
    Object.hasOwn(limits, name) ? (limits[name] ?? defaultValue) : defaultValue;
  const {
    task_tokens,
    pipeline_overhead,
    buffer_multiplier,
    warning_threshold_pct,
    default_estimates,
  } = costConstantsDefault;

  return {
    task_tokens: {
      simple: value("task_tokens_simple", task_tokens.simple),
      medium: value("task_tokens_medium", task_tokens.medium),
      complex: value("task_tokens_complex", task_tokens.complex),
    },
    pipeline_overhead: value("pipeline_overhead", pipeline_overhead),
    buffer_multiplier: value("buffer_multiplier", buffer_multiplier),
    warning_threshold_pct: value("warning_threshold_pct", warning_threshold_pct),
    default_estimates: {
      protocol: value("default_estimates_protocol", default_estimates.protocol),
      ui: value("default_estimates_ui", default_estimates.ui),
      data: value("default_estimates_data", default_estimates.data),
      mixed: value("default_estimates_mixed", default_estimates.mixed),
    },
  };
}
