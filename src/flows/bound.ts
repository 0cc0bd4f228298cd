// bound: computes the most attempts that one visit of a flow's phases can take.

import type { Flow, Step } from "../contracts/flow.ts";
import { listStepLists, type StepList } from "./step-lists.ts";
import { listSpentRows } from "./lint-routes.ts";

export type OptionValues = Readonly<Record<string, string | number | boolean>>;

/**
 * The most attempts that one visit of a list of steps can take without a manual resume, those of
 * its tasks not counted: counts never reset inside a visit, so cycles add up and do not multiply. A
 * count kept per invocation bounds one invocation.
 */
export function computeAttemptsMax(
  flow: Flow,
  steps: readonly Step[],
  options: OptionValues = {},
): number {
  const stepRows = steps.flatMap((step) => [...(step.then ?? []), ...(step.otherwise ?? [])]);
  const rows = [...stepRows, ...(flow.when_step_fails ?? [])];
  const countNames = rows.flatMap((row) => [
    row.count,
    ...listSpentRows(flow, row).map((spent) => spent.row.count),
  ]);

  let waysBack = 0;
  for (const name of new Set(countNames.filter((countName) => countName !== undefined))) {
    waysBack += resolveAmount(flow, flow.counts?.[name]?.at_most ?? 0, options);
  }

  let attemptsPerPass = 0;
  for (const step of steps) {
    const retries = step.retry ?? flow.defaults?.step?.retry ?? 0;
    attemptsPerPass += 1 + retries;
  }

  return (1 + waysBack) * attemptsPerPass;
}

/**
 * The same for every phase of a flow, by its id: `1`, `before.baseline`, `after.land`, `closing`;
 * `*` for phases that are read.
 */
export function computePhaseBounds(
  flow: Flow,
  options: OptionValues = {},
): Readonly<Record<string, number>> {
  const bounds: Record<string, number> = {};
  for (const list of listStepLists(flow)) {
    if (list.kind === "phase" || list.kind === "closing") {
      bounds[phaseId(list)] = computeAttemptsMax(flow, list.steps, options);
    }
  }

  return bounds;
}

function phaseId({ kind, group, phase }: StepList): string {
  if (kind === "closing") return "closing";
  return group === "phases" ? phase : `${group}.${phase}`;
}

/** A number, or the value of an option: `option.max_cycles`. */
function resolveAmount(flow: Flow, amount: number | string, options: OptionValues): number {
  if (typeof amount === "number") return amount;
  const name = amount.slice("option.".length);
  const value = Object.hasOwn(options, name) ? options[name] : flow.options?.[name]?.default;

  return typeof value === "number" ? value : 0;
}
