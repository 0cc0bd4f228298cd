// cost: sums up what was spent by day, and by project, role or agent, with a forecast that says how
// sure it is.

import { formatIsoTime, parseIsoTime } from "../../kit/iso-time.ts";
import { groupBy } from "./group-by.ts";
import type { UsageRow } from "./run-index.ts";

export type CostInput = UsageRow & { readonly project: string };

export type CostGroup = {
  readonly name: string;
  readonly share: number;
  readonly usd: number;
  readonly tokens: number;
  /** How it was counted: metered, reported, estimated. */
  readonly counted: string;
};

export type CostView = {
  /** Money where anything has a price, else tokens. */
  readonly unit: "usd" | "tokens";
  /** The days of the window, oldest first, as `2026-01-01`. */
  readonly days: readonly string[];
  /** `bars`: for each day, the amount of each group. */
  readonly by: Readonly<
    Record<
      "project" | "role" | "agent",
      { readonly groups: readonly CostGroup[]; readonly bars: readonly (readonly number[])[] }
    >
  >;
  readonly today: { readonly usd: number; readonly tokens: number };
  readonly window: { readonly usd: number; readonly tokens: number };
  readonly month: { readonly usd: number; readonly tokens: number };
  /**
   * A day's likely spending: the median and the ninth decile of the days with spending; null with
   * fewer than three.
   */
  readonly forecast: { readonly p50: number; readonly p90: number } | null;
};

const daysShown = 14;
/** The last of them is `others`, if there are more. */
const groupsMax = 4;
const daysForForecastMin = 3;
const dayMs = 86_400_000;

export function buildCostView(rows: readonly CostInput[], now: string): CostView {
  const today = now.slice(0, 10);
  const todayMs = parseIsoTime(`${today}T00:00:00.000Z`) ?? 0;
  const days = Array.from({ length: daysShown }, (_, index) =>
    formatIsoTime(todayMs - (daysShown - 1 - index) * dayMs).slice(0, 10),
  );

  const unit = rows.some(({ usd }) => usd > 0) ? "usd" : "tokens";
  const recent = rows.filter(({ day }) => day >= (days[0] ?? today));
  const perDay = days.map((day) => sumRows(recent.filter((row) => row.day === day))[unit]);
  const spendingDays = perDay.filter((value) => value > 0).toSorted((left, right) => left - right);
  const groupedBy = (keyOf: (row: CostInput) => string) => groupRows(recent, { days, unit, keyOf });

  return {
    unit,
    days,
    by: {
      project: groupedBy(({ project }) => project),
      role: groupedBy(({ role }) => role),
      agent: groupedBy(({ agent }) => agent),
    },
    today: sumRows(recent.filter(({ day }) => day === today)),
    window: sumRows(recent),
    month: sumRows(rows.filter(({ day }) => day.startsWith(today.slice(0, 7)))),
    forecast:
      spendingDays.length < daysForForecastMin
        ? null
        : { p50: quantile(spendingDays, 0.5), p90: quantile(spendingDays, 0.9) },
  };
}

/**
 * The groups that spent most, and the rest as `others`, each with its share and its spending per
 * day.
 */
function groupRows(
  rows: readonly CostInput[],
  {
    days,
    unit,
    keyOf,
  }: Pick<CostView, "days" | "unit"> & { readonly keyOf: (row: CostInput) => string },
): CostView["by"]["role"] {
  const total = sumRows(rows)[unit];
  const sortedGroups = [...groupBy(rows, keyOf)].toSorted(
    ([, left], [, right]) => sumRows(right)[unit] - sumRows(left)[unit],
  );
  const shownGroups =
    sortedGroups.length > groupsMax ? sortedGroups.slice(0, groupsMax - 1) : sortedGroups;
  const otherRows = sortedGroups.slice(shownGroups.length).flatMap(([, members]) => members);
  const groups: readonly (readonly [string, readonly CostInput[]])[] =
    otherRows.length === 0 ? shownGroups : [...shownGroups, ["others", otherRows]];

  return {
    groups: groups.map(([name, members]) => {
      const spent = sumRows(members);
      const counted = [...new Set(members.map(({ source }) => source))].toSorted().join(", ");
      return { name, share: total === 0 ? 0 : spent[unit] / total, ...spent, counted };
    }),
    bars: days.map((day) =>
      groups.map(([, members]) => sumRows(members.filter((row) => row.day === day))[unit]),
    ),
  };
}

const sumRows = (
  rows: readonly Pick<UsageRow, "usd" | "tokens">[],
): { readonly usd: number; readonly tokens: number } => ({
  usd: rows.reduce((sum, { usd }) => sum + usd, 0),
  tokens: rows.reduce((sum, { tokens }) => sum + tokens, 0),
});

const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
