// waterfall-list: renders a run's phases and steps as rows, each with a bar that shows when it
// began and ended.

import { formatIsoTime, parseIsoTime } from "../../kit/iso-time.ts";
import type { Waterfall, WaterfallRow } from "../facts/waterfall.ts";
import { el, type Element, foreignText } from "./element.ts";
import { stateIcon } from "./icons.ts";

/** The axis of a shorter run has seconds. */
const showSecondsBelowMs = 300_000;

/** In the dashboard a row can be selected; a report in a file has no selection. */
type RowSelection = {
  readonly selected: string | null;
  readonly select: (row: WaterfallRow) => void;
  readonly detailsOf: (row: WaterfallRow) => Element | null;
  /**
   * How many rows are shown with icon and bar; those after them show their names only, which a
   * browser draws faster.
   */
  readonly detailedRows: number;
};

export function waterfallList(
  { rows, startsAt: from, spanMs, nowMs }: Waterfall,
  selection?: RowSelection,
): Element {
  return el(
    "div.panel.waterfall",
    el(
      "div.w-head",
      el("span", "Phase and step"),
      timeAxis(from, spanMs, nowMs >= 0 ? "now" : "time"),
      el("span.right", "Took"),
    ),
    rows.map((row, index) => {
      const isDetailed = selection === undefined || index < selection.detailedRows;
      return [
        waterfallRow(row, { spanMs, isDetailed, selection }),
        selection?.detailsOf(row) ?? null,
      ];
    }),
    el(
      "div.w-key",
      { "aria-hidden": "true" },
      (
        [
          ["agent", "agent's turn"],
          ["runner", "runner"],
          ["bad", "failed or set aside"],
          ["you", "waits for you"],
          ["parked", "nobody works"],
        ] as const
      ).map(([kind, word]) => el("span", el("span.w-track", el("i", { class: kind })), word)),
    ),
  );
}

const toPercent = (part: number, whole: number): string =>
  `${Math.max(0, Math.min(100, (part / whole) * 100)).toFixed(2)}%`;

/** `end`: whether the axis ends with the word "now" or with a time. */
function timeAxis(from: string, spanMs: number, end: "now" | "time"): Element {
  const start = parseIsoTime(from) ?? 0;
  // Times with seconds are wider, so there is room for fewer.
  const hasSeconds = spanMs < showSecondsBelowMs;
  const parts = hasSeconds ? [0, 1 / 2, 1] : [0, 1 / 3, 2 / 3, 1];
  const formatTime = (iso: string): string => iso.slice(11, hasSeconds ? 19 : 16); // 09:24:13 or 09:24
  const label = (part: number): string =>
    part === 1 && end === "now" ? "now" : formatTime(formatIsoTime(start + spanMs * part));

  return el(
    "span.w-axis",
    parts.map((part) =>
      el("span", { style: { left: `${(part * 100).toFixed(1)}%` } }, label(part)),
    ),
  );
}

const barElement = (
  { kind, from, to }: NonNullable<WaterfallRow["bar"]>,
  spanMs: number,
): Element =>
  el("i", {
    class: kind,
    style: `left:${toPercent(from, spanMs)};width:${toPercent(to - from, spanMs)}`,
  });

type RowView = {
  readonly spanMs: number;
  readonly isDetailed: boolean;
  readonly selection: RowSelection | undefined;
};

function waterfallRow(row: WaterfallRow, { spanMs, isDetailed, selection }: RowView): Element {
  const canExpand = isDetailed && row.kids > 0 && selection !== undefined;
  const cells = [
    el(
      "span.w-name",
      isDetailed ? stateIcon(row.shape) : null,
      el("span.cut", foreignText(row.name)),
      canExpand ? el("span.dim.tiny", { "aria-hidden": "true" }, row.isExpanded ? "−" : "+") : null,
      el("span.hidden-text", `, ${row.word}`),
    ),
    isDetailed &&
      el(
        "span.w-track",
        { "aria-hidden": "true" },
        row.bar === null ? null : barElement(row.bar, spanMs),
      ),
    isDetailed && el("span.tiny.dim.right.no-wrap.took", row.took),
  ];

  const classes = `w-row d${row.depth}`;
  if (selection === undefined) return el("div", { class: classes, key: row.id }, cells);
  return el(
    "button",
    {
      type: "button",
      class: classes,
      key: row.id,
      "data-row": "",
      "aria-pressed": String(selection.selected === row.id),
      ...(row.kids > 0 && row.depth === 0 ? { "aria-expanded": String(row.isExpanded) } : {}),
      onClick: () => selection.select(row),
    },
    cells,
  );
}
