// trend-page: renders the runs of a flow one below the other, each with what had changed since the
// run before it.

import type { RunTrend, TrendRow } from "../../insight/run-trend.ts";
import { alignColumns } from "../align-columns.ts";
import { formatShortNumber } from "../runs-page.ts";
import { formatVerdictCell } from "../sentences/verdict-sentences.ts";
import { formatAmount, formatNumber, formatMoney, oneLine, plural } from "../wording.ts";

const rowsMax = 22;
const changedCharsMax = 44;

/** Newest first; older ones are counted. */
export function trendPage(flow: string, { rows, latest, historical }: RunTrend): readonly string[] {
  const shownRows = rows.toReversed().slice(0, rowsMax);
  const { success_rate, total_runs } = historical;
  const completed = success_rate === null ? "" : `, ${Math.round(success_rate * 100)} % completed`;

  return [
    `Flow ${oneLine(flow)}: ${plural(total_runs, "run")} that ended${completed}`,
    ...averageLines(historical),
    "",
    ...alignColumns(
      [
        ["", "RUN", "VERDICT", "TOKENS", "COST", "MIN", "DIFFERENT FROM THE RUN BEFORE"],
        ...shownRows.map(trendRow),
      ],
      {
        right: [3, 4, 5],
      },
    ),
    ...(rows.length > shownRows.length
      ? [`  … ${plural(rows.length - shownRows.length, "older run")} (--json)`]
      : []),
    ...(latest === null ? [] : ["", describeLatest(latest)]),
  ];
}

function averageLines({ tokens, minutes, usd }: RunTrend["historical"]): readonly string[] {
  if (tokens === null || minutes === null) return [];
  const range = `${formatShortNumber(tokens.min)} to ${formatShortNumber(tokens.max)}, ${formatShortNumber(tokens.avg)} on average`;
  const price = usd === null || usd.max === 0 ? "" : `, ${formatMoney(usd.avg)}`;

  return [`  tokens ${range}; ${formatAmount("minutes", minutes.avg)}${price} on average`];
}

const trendMark = ({ isDone, verdict }: TrendRow): string => {
  if (!isDone) return "✗";
  return verdict === "verified" ? "✓" : "!";
};

const trendRow = (row: TrendRow): readonly string[] => [
  trendMark(row),
  row.run,
  formatVerdictCell(row.verdict),
  formatShortNumber(row.tokens),
  row.usd > 0 ? formatMoney(row.usd) : "-",
  formatNumber(Math.round(row.minutes * 10) / 10),
  oneLine(row.changed.join("; "), changedCharsMax),
];

function describeLatest({ tokens, changed }: NonNullable<RunTrend["latest"]>): string {
  const because =
    changed.length === 0
      ? "nothing was different, so this is noise"
      : `different: ${oneLine(changed.join("; "))}`;

  return `The newest used ${compareTokens(tokens)} the one before; ${because}. autopilot calibrate tells noise from gain.`;
}

function compareTokens(difference: number): string {
  if (difference === 0) return "as many tokens as";
  return `${formatNumber(Math.abs(difference))} tokens ${difference > 0 ? "more than" : "fewer than"}`;
}
