// budget-view: builds what a run may use, has used and is about to use, under the same four names
// everywhere.

import type { Dimension } from "../contracts/budget.ts";
import { dimensions } from "../contracts/budget.ts";
import type { RunView } from "../core/state.ts";
import { formatAmount, formatNumber, formatPercent } from "./wording.ts";

type PerDimension = { readonly [D in Dimension]?: number };

export type BudgetView = {
  readonly profile: string | null;
  readonly soft_ratio: number;
  readonly limits: PerDimension;
  readonly counters: { readonly [D in Dimension]: number };
  readonly ratios: PerDimension;
  /** Reserved for turns that are running. */
  readonly reserved: { readonly tokens: number; readonly minutes: number; readonly calls: number };
  /** How much of the counters is our estimate, because an agent reported nothing believable. */
  readonly estimated: number;
  /** How far a limit can be passed before anything is cut. */
  readonly overshoot: "one request" | "one turn";
  readonly warnings: readonly string[];
};

/** Whether a warning is due: the warning's share is reached, and something is left. */
export const isNearLimit = (ratio: number, softRatio: number): boolean =>
  ratio >= softRatio && ratio < 1;

export function buildBudgetView(run: RunView): BudgetView {
  const { soft_ratio, profile } = run.drafted.budget;
  const { tokens, minutes, calls, usd, estimated } = run.ledger.run;
  const counters = { tokens, minutes: round(minutes), calls, usd: round(usd, 6) };
  const limits: { [D in Dimension]?: number } = {};
  const ratios: { [D in Dimension]?: number } = {};
  const warnings: string[] = [];

  for (const dimension of dimensions) {
    const limit = run.limits.run[dimension];
    if (limit === undefined) continue;
    const ratio = limit === 0 ? 1 : counters[dimension] / limit;
    limits[dimension] = limit;
    ratios[dimension] = round(ratio, 4);
    const limitText = formatAmount(dimension, limit);

    if (ratio >= 1) {
      warnings.push(`${dimension}: the limit of ${limitText} is used up`);
    } else if (isNearLimit(ratio, soft_ratio)) {
      warnings.push(
        `${dimension}: ${formatPercent(ratio)} of ${limitText} is used (warned at ${formatPercent(soft_ratio)})`,
      );
    }
  }

  if (estimated > 0) {
    warnings.push(
      `part of the usage is estimated; an agent reported none (${formatNumber(estimated)})`,
    );
  }

  return {
    profile,
    soft_ratio,
    limits,
    counters,
    ratios,
    reserved: sumReserved(run),
    estimated,
    overshoot: isMetered(run) ? "one request" : "one turn",
    warnings,
  };
}

/**
 * Whether the meter counted the last turn of every role: it refuses the request after the limit.
 * An agent's own report comes only when its turn is over, and before the first turn nothing is known.
 */
function isMetered({ ledger }: RunView): boolean {
  const turns = Object.values(ledger.largest);
  return turns.length > 0 && turns.every(({ source }) => source === "metered");
}

function sumReserved(run: RunView): BudgetView["reserved"] {
  const reserved = { tokens: 0, minutes: 0, calls: 0 };
  for (const { need } of Object.values(run.open)) {
    if (need === null) continue;
    reserved.tokens += need.tokens;
    reserved.minutes += need.minutes;
    reserved.calls += need.calls;
  }

  return reserved;
}

const round = (value: number, digits = 2): number => Number(value.toFixed(digits));

const barCells = 20;

/**
 * One line a dimension: a bar if it has a limit, only the amount if it has none, nothing if it has
 * neither.
 */
export function renderBudgetLines(budget: BudgetView): readonly string[] {
  return dimensions.flatMap((dimension) => {
    const limit = budget.limits[dimension];
    const used = budget.counters[dimension];

    if (limit === undefined) {
      return used > 0 ? [`${dimension.padEnd(8)} ${formatAmount(dimension, used)}, no limit`] : [];
    }

    const ratio = budget.ratios[dimension] ?? 0;
    const filled = Math.min(barCells, Math.round(ratio * barCells));
    const bar = `${"█".repeat(filled)}${"░".repeat(barCells - filled)}`;
    const usedText = dimension === "usd" ? formatAmount(dimension, used) : formatNumber(used);

    return [
      `${dimension.padEnd(8)} ${bar} ${formatPercent(ratio).padStart(5)}  ${usedText} of ${formatAmount(dimension, limit)}`,
    ];
  });
}

export const describeOvershoot = ({ overshoot }: Pick<BudgetView, "overshoot">): string =>
  `A limit can be passed by ${overshoot} at most.`;

/** The budget as a person reads it, for `autopilot budget`. */
export function budgetPage(run: RunView): readonly string[] {
  const view = buildBudgetView(run);
  const reserved =
    view.reserved.tokens > 0
      ? [
          `  reserved for turns under way: ${formatAmount("tokens", view.reserved.tokens)}, ${formatAmount("minutes", view.reserved.minutes)}`,
        ]
      : [];

  return [
    `Budget of ${run.drafted.run_id}${view.profile === null ? "" : ` (${view.profile})`}`,
    ...renderBudgetLines(view).map((line) => `  ${line}`),
    ...reserved,
    ...view.warnings.map((warning) => `  ! ${warning}`),
    `  ${describeOvershoot(view)}`,
  ];
}
