// describe-results: puts the numbers, gains, intervals and states of a cycle into words.

import { plural } from "../../views/wording.ts";
import { type NextStep, getScale } from "./decide.ts";
import type { Cycle } from "./state.ts";
import type { GainInterval } from "./statistics.ts";
import { formatGainAmount } from "./verdict.ts";

export const formatFigure = (value: number | null): string =>
  value === null ? "n/a" : String(Math.round(value * 1e4) / 1e4);

export function formatGain(cycle: Cycle, gain: number | null): string {
  if (gain === null) return "n/a";
  const text = formatGainAmount(getScale(cycle), gain);
  return gain > 0 ? `+${text}` : text;
}

export const describeInterval = (
  cycle: Cycle,
  { low, high, level, better_share }: GainInterval,
): string =>
  `${level * 100} % interval ${formatGain(cycle, low)} to ${formatGain(cycle, high)}, better in ${Math.round(better_share * 100)} % of draws`;

/** The state of a cycle, in one word or two. */
export function describeState(cycle: Cycle): string {
  if (cycle.end !== null) return cycle.end.verdict;
  if (cycle.stopped !== null) return "stopped";
  if (cycle.applied !== null) return "measuring after the lever";

  return cycle.runs.size > 0 ? "measuring before the lever" : "not begun";
}

const stepTexts = {
  nothing: "nothing",
  apply: "commit the lever",
  revert: "take the lever back",
  end: "the verdict",
} as const;
/** The next step, in a few words. */
export const describeNext = (next: NextStep): string =>
  next.do === "run" ? `${plural(next.runs.length, "run")} ${next.lever_state}` : stepTexts[next.do];
