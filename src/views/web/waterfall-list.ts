// waterfall-list: a run's phases and steps as rows with a bar in time each.

import { formatIsoTime, parseIsoTime } from "../../kit/iso-time.ts";
import type { Waterfall, WaterfallRow } from "../facts/waterfall.ts";
import { el, type Element, foreignText } from "./element.ts";
import { mark } from "./shapes.ts";

const secondsBelowMs = 300_000;

type Choosing = {
  readonly chosen: string | null;
  readonly choose: (row: WaterfallRow) => void;
  readonly pane: (row: WaterfallRow) => Element | null;
  /** Rows from this one on show their names alone. */
  readonly whole: number;
};

export function waterfallList({ rows, from, spanMs, nowMs }: Waterfall, choosing?: Choosing): Element {
  return el(
    "div.panel.waterfall",
    el("div.w-head", el("span", "Phase and step"), axis(from, spanMs, nowMs >= 0), el("span.right", "Took")),
    rows.map((row, index) => [rowOf(row, spanMs, choosing, index), choosing?.pane(row) ?? null]),
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

const share = (part: number, whole: number): string => `${Math.max(0, Math.min(100, (part / whole) * 100)).toFixed(2)}%`;

function axis(from: string, spanMs: number, isNow: boolean): Element {
  const start = parseIsoTime(from) ?? 0;
  const isShort = spanMs < secondsBelowMs; // times with seconds are wider, so there is room for fewer
  const marks = (isShort ? [0, 1 / 2, 1] : [0, 1 / 3, 2 / 3, 1]).map((part) => ({
    left: `${(part * 100).toFixed(1)}%`,
    word: part === 1 && isNow ? "now" : formatIsoTime(start + spanMs * part).slice(11, isShort ? 19 : 16),
  }));
  return el(
    "span.w-axis",
    marks.map(({ left, word }) => el("span", { style: { left } }, word)),
  );
}

function rowOf(row: WaterfallRow, spanMs: number, choosing: Choosing | undefined, at: number): Element {
  const isWhole = choosing === undefined || at < choosing.whole;
  const inner = [
    el(
      "span.w-name",
      isWhole ? mark(row.shape) : null,
      el("span.cut", foreignText(row.name)),
      isWhole && row.kids > 0 && choosing !== undefined ? el("span.dim.tiny", { "aria-hidden": "true" }, row.isExpanded ? "−" : "+") : null,
      el("span.hidden-text", `, ${row.word}`),
    ),
    isWhole &&
      el(
        "span.w-track",
        { "aria-hidden": "true" },
        row.bar === null
          ? null
          : el("i", {
              class: row.bar.kind,
              style: `left:${share(row.bar.from, spanMs)};width:${share(row.bar.to - row.bar.from, spanMs)}`,
            }),
      ),
    isWhole && el("span.tiny.dim.right.no-wrap.took", row.took),
  ];
  const classes = `w-row d${row.depth}`;
  if (choosing === undefined) return el("div", { class: classes, key: row.id }, inner);
  return el(
    "button",
    {
      type: "button",
      class: classes,
      key: row.id,
      "data-row": "",
      "aria-pressed": String(choosing.chosen === row.id),
      ...(row.kids > 0 && row.depth === 0 ? { "aria-expanded": String(row.isExpanded) } : {}),
      onClick: () => choosing.choose(row),
    },
    inner,
  );
}
