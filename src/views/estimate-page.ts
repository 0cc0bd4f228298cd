// estimate-page: renders the estimate of what a roadmap's phases will use.

import type {
  PhaseEstimate,
  ForecastRange,
  RoadmapEstimate,
} from "../insight/estimate-roadmap-phases.ts";
import type { ForecastRecord } from "../insight/forecast.ts";
import { alignColumns } from "./align-columns.ts";
import { formatNumber, formatMoney, oneLine, plural } from "./wording.ts";

export type EstimateRow = PhaseEstimate & {
  readonly name: string;
  /** Whether its plan exists, so that its tasks are known. */
  readonly planned: boolean;
  readonly warning: string | null;
};

const rowsMax = 60;
const nameCharsMax = 40;

type EstimatePageInput = {
  readonly roadmap: string;
  readonly rows: readonly EstimateRow[];
  readonly total: Omit<RoadmapEstimate, "phases">;
  readonly caps: { readonly phase: number; readonly run: number };
  readonly record: ForecastRecord | null;
};

export function estimatePage({
  roadmap,
  rows,
  total,
  caps,
  record,
}: EstimatePageInput): readonly string[] {
  const cells = (
    id: string,
    name: string,
    { tokens, minutes, usd, success }: Omit<PhaseEstimate, "id" | "basis">,
  ): string[] => [
    id,
    name,
    formatNumber(Math.round(tokens.p50)),
    formatNumber(Math.round(tokens.p90)),
    minutes === null ? "-" : range(minutes, (value) => formatNumber(Math.round(value))),
    usd === null ? "-" : range(usd, formatMoney),
    success === null ? "-" : `${Math.round(success * 100)} %`,
  ];

  const shownRows = rows.slice(0, rowsMax);
  const table = alignColumns(
    [
      ["phase", "name", "tokens, likely", "at most in 9 of 10", "minutes", "cost", "success"],
      ...shownRows.map((row) =>
        cells(
          row.id,
          `${oneLine(row.name, nameCharsMax)}${row.planned ? "" : " (no plan yet)"}`,
          row,
        ),
      ),
      ...(rows.length > rowsMax
        ? [["…", `${formatNumber(rows.length - rowsMax)} more`, "", "", "", "", ""]]
        : []),
      cells("all", "", total),
    ],
    { right: [2, 3] },
  );

  return [
    `What ${plural(rows.length, "phase")} of ${roadmap} will probably use`,
    ...table.map((line) => `  ${line}`),
    "",
    `  Based on ${oneLine(total.basis)}.`,
    ...describeForecastRecord(record),
    `  Caps: ${formatNumber(caps.phase)} tokens a phase, ${formatNumber(caps.run)} a run. Nothing has been run.`,
  ];
}

/** How good such estimates were, each made from the runs before it. */
export function describeForecastRecord(record: ForecastRecord | null): readonly string[] {
  if (record === null) return [];
  const { forecasts, within_p90, bias, brier } = record;
  const direction = bias > 0 ? "high" : "low";
  const biasText =
    bias === 0 ? "on the mark" : `${Math.abs(Math.round(bias * 100))} % too ${direction}`;
  const accuracy = `${Math.round(within_p90 * 100)} % of ${plural(forecasts, "past case")} stayed within the 9-of-10 figure`;

  return [
    `  Record: ${accuracy}; likely figures were ${biasText}; success scored ${brier} (0 is perfect, 0.25 a coin).`,
  ];
}

const range = ({ p50, p90 }: ForecastRange, format: (value: number) => string): string =>
  format(p50) === format(p90) ? format(p50) : `${format(p50)} to ${format(p90)}`;
