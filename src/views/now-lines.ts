// now-lines: renders the last rows of a terminal while a run works in it: each turn or check under
// way with its latest live event, and what is spent.

import { listOpenAttempts } from "../core/selectors.ts";
import type { RunView } from "../core/state.ts";
import { buildBudgetView } from "./budget-view.ts";
import { labelWidth, formatStepPrefix, formatTurnLabel } from "./progress.ts";
import { describeBudget, formatNumber, formatCompactDuration } from "./wording.ts";

const actionsMax = 4;

export type LiveActivity = {
  /** The latest live event of an attempt, as a line. */
  readonly latestLineOf: (attempt: string) => string | null;
  /** How long an attempt has been under way. */
  readonly ageMs: (attempt: string) => number;
};

/**
 * Renders a row for each turn or check under way, and what is spent; empty if none is under way.
 */
export function renderNowLines(
  run: RunView,
  { latestLineOf, ageMs }: LiveActivity,
): readonly string[] {
  const open = listOpenAttempts(run);
  if (run.status !== "running" || open.length === 0) return [];

  const rows = open.slice(0, actionsMax).map(({ attempt, kind, stage }) => {
    const isTurn = kind === "agent" && stage === "started"; // after its turn, an attempt's changes are checked
    const label = isTurn ? formatTurnLabel(run, attempt) : "Checks";
    const activity = latestLineOf(attempt) ?? (isTurn ? "at work" : "looking at the result");
    const age = formatCompactDuration(ageMs(attempt)).padStart(7);
    const prefix = kind === "agent" ? formatStepPrefix(run, attempt) : "";

    return `● ${label.padEnd(labelWidth)} ${age}  ${prefix}${activity.trim()}`;
  });

  const omitted =
    open.length > actionsMax
      ? [`  and ${formatNumber(open.length - actionsMax)} more under way`]
      : [];

  const { counters, limits } = buildBudgetView(run);
  const minutes =
    counters.minutes + Math.max(...open.map(({ attempt }) => ageMs(attempt))) / 60_000;
  return [
    ...rows,
    ...omitted,
    `  ${describeBudget({ ...counters, minutes }, limits)}   Ctrl-C pauses`,
  ];
}
