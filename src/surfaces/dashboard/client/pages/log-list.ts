// log-list: the scrolling list of a log: filters its lines, draws only those in sight, and finds a
// line's position.
//
// Invariants:
//   L1. Scrolling draws rows and nothing else, into elements that are there already, and asks the
//       browser for no sizes.
//   L2. The lines in sight stay where they are while others come in before or after them.
//   L3. The focus stays on its line; if that is out of sight, on the list.

import { render } from "preact";
import type { LogRow } from "../../../../views/facts/log-rows.ts";
import { el, type Element, foreignText } from "../../../../views/web/element.ts";
import { stateIcon } from "../../../../views/web/icons.ts";
import { formatNumber } from "../../../../views/web/page-figures.ts";
import { draw, state } from "../store.ts";

export const narrowScreen = matchMedia("(max-width:719px)");
const rowPx = (): number => (narrowScreen.matches ? 58 : 30);
/**
 * How many rows more than visible are drawn above and below. Rows are drawn again each time the
 * list has scrolled by as many.
 */
const spareRows = 4;
/**
 * How far below the upper edge a line is put that is scrolled to: those before it are in sight too.
 */
const contextPx = 120;
/** Scrolling by less is the browser's rounding. */
const scrollNoisePx = 2;
const view = { top: 0, height: 600 };
let list: HTMLElement | null = null;
let body: HTMLElement | null = null;
/**
 * The rows that matched the filters last time, with the rows and the filters they were computed
 * from.
 */
let matching: {
  readonly from: unknown;
  readonly filters: string;
  readonly rows: readonly LogRow[];
} = {
  from: null,
  filters: "",
  rows: [],
};
const sizeObserver = new ResizeObserver(([entry]) => {
  view.height = entry?.contentRect.height ?? view.height;
  placeRows();
});

/** Four empty filters, joined as below. */
const noFilter = "\0\0\0";

/** The rows that match the filters; computed again only when rows or filters change. */
export function filteredRows(): readonly LogRow[] {
  const { rows, find, phase, event, reason } = state.log;
  const filters = [find, phase, event, reason].join("\0");
  if (matching.from === rows && matching.filters === filters) return matching.rows;
  const needle = find.toLowerCase();

  const fits = (row: LogRow): boolean =>
    (phase === "" || row.phase === phase) &&
    (event === "" || row.event === event) &&
    (reason === "" || row.reason === reason) &&
    (needle === "" || row.text.toLowerCase().includes(needle));

  matching = { from: rows, filters, rows: filters === noFilter ? rows : rows.filter(fits) };
  return matching.rows;
}

/** The list's element; `onChoose` gets the number of a line that was pressed. */
export function logList(onChoose: (seq: number) => void): Element {
  choose = onChoose;
  queueMicrotask(placeRows);
  return el(
    "div.panel.log",
    {
      ref: rememberSize,
      tabindex: "0",
      role: "region",
      "aria-label": "Journal in words",
      onScroll,
    },
    el("div", { ref: rememberBody, style: { height: `${filteredRows().length * rowPx()}px` } }),
  );
}

let choose: (seq: number) => void = () => undefined;

let lastDrawn: readonly unknown[] = [];

/**
 * L1: item n of the list is line `first + n`, whichever that is: elements stay and their words
 * change.
 */
function drawRows(): void {
  if (body === null) return;
  const rows = filteredRows();
  const px = rowPx();
  const sight = Math.ceil(view.height / px) + 1;
  const firstVisible = Math.max(
    0,
    Math.min(rows.length - sight, Math.floor(view.top / px - spareRows)),
  );
  // Spare rows above, below, and as many again, because the first one drawn is rounded down.
  const firstDrawn = firstVisible - (firstVisible % spareRows);
  const inputs = [rows, firstDrawn, sight, px, state.log.open, body];
  if (inputs.every((value, index) => value === lastDrawn[index])) return;
  lastDrawn = inputs;
  const focused =
    document.activeElement instanceof HTMLElement && body.contains(document.activeElement)
      ? findRowIndex(document.activeElement)
      : null;

  render(
    el(
      "ol",
      {
        style: { transform: `translateY(${firstDrawn * px}px)` },
        onClick: onPress,
        onKeyDown: onPress,
      },
      rows
        .slice(firstDrawn, firstDrawn + sight + 3 * spareRows)
        .map((row, index) => lineElement(row, firstDrawn + index, rows.length)),
    ),
    body,
  );

  if (focused !== null) (findRow(focused) ?? list)?.focus({ preventScroll: true }); // L3
}

const findRowIndex = (element: unknown): number | null => {
  const indexText =
    element instanceof HTMLElement
      ? element.closest<HTMLElement>("[data-at]")?.dataset["at"]
      : undefined;
  return indexText === undefined ? null : Number(indexText);
};
const findRow = (index: number): HTMLElement | null =>
  body?.querySelector<HTMLElement>(`[data-at="${index}"]`) ?? null;

function lineElement(row: LogRow, index: number, count: number): Element {
  return el(
    "li",
    { "aria-setsize": String(count), "aria-posinset": String(index + 1) },
    el(
      "div.log-row",
      {
        tabindex: "0",
        role: "button",
        "data-at": String(index),
        ...(state.log.open === row.seq ? { "aria-current": "true" } : {}),
      },
      el("span.seq.mono.dim", formatNumber(row.seq)),
      el("span.time.mono.dim", row.at.slice(11, 19)),
      stateIcon(row.shape),
      el(
        "span.place.tiny.dim.cut",
        foreignText(`${row.phase === "" ? "run" : row.phase} · ${row.event.replaceAll("_", " ")}`),
      ),
      el("span.text.cut", foreignText(row.text)),
      el("span.who.tiny.dim", foreignText(row.actor)),
    ),
  );
}

function rememberSize(element: HTMLElement | null): void {
  sizeObserver.disconnect();
  list = element;
  view.top = 0;
  placedRows = null;
  if (element !== null) sizeObserver.observe(element);
}

function rememberBody(element: HTMLElement | null): void {
  body = element;
}

let placedRows: readonly LogRow[] | null = null;

/**
 * L2: after the page was drawn; where lines came in, the one on top stays on top, or the end stays
 * in sight.
 */
function placeRows(): void {
  const rows = filteredRows();
  if (list === null || (rows === placedRows && !state.log.follow)) return drawRows();
  const px = rowPx();
  const top = state.log.follow ? rows.length * px - view.height : findMovedTop(rows, px);
  placedRows = rows;
  if (top !== view.top) list.scrollTop = view.top = Math.max(0, top);
  drawRows();
}

/** Where the list must be scrolled to so that the line on top stays there. */
function findMovedTop(rows: readonly LogRow[], px: number): number {
  const topRow = placedRows?.[Math.floor(view.top / px)];
  if (topRow === undefined) return view.top;
  const index = rows.findIndex(({ seq }) => seq === topRow.seq);

  return index < 0 ? view.top : index * px + (view.top % px);
}

/** Scrolling up stops following the end of the log. */
function onScroll(): void {
  if (list === null) return;
  const top = list.scrollTop;
  const isLettingGo =
    state.log.follow &&
    top < view.top - scrollNoisePx &&
    top + view.height < (filteredRows().length - 1) * rowPx();

  view.top = top;
  if (isLettingGo) setFollow(false);
  drawRows();
}

function onPress(event: MouseEvent | KeyboardEvent): void {
  if (event instanceof KeyboardEvent && event.key !== "Enter" && event.key !== " ") return;
  const row = filteredRows()[findRowIndex(event.target) ?? -1];
  if (row === undefined) return;
  event.preventDefault();
  choose(row.seq);
}

export function setFollow(follow: boolean): void {
  state.log.follow = follow;
  draw();
}

/** Scrolls to the first row, because a filter has changed which rows there are. */
export function scrollToTop(): void {
  if (list !== null) list.scrollTop = view.top = 0;
  placedRows = null;
}

export function scrollToLine(seq: number): void {
  const top = filteredRows().findIndex((row) => row.seq === seq) * rowPx();
  if (list !== null && top >= 0 && (top < view.top || top > view.top + view.height)) {
    list.scrollTop = Math.max(0, top - contextPx);
  }
}

/** j and k move along all rows, also those that are not drawn yet. */
export function moveInLog(step: 1 | -1): boolean {
  if (state.page !== "log" || list === null) return false;
  const active = findRowIndex(document.activeElement);
  const px = rowPx();
  const index =
    active === null
      ? Math.ceil(view.top / px)
      : Math.max(0, Math.min(filteredRows().length - 1, active + step));

  if (state.log.follow) setFollow(false);
  if (index * px < view.top) list.scrollTop = index * px;
  if ((index + 1) * px > view.top + view.height) list.scrollTop = (index + 1) * px - view.height;
  view.top = list.scrollTop;
  drawRows();
  findRow(index)?.focus({ preventScroll: true });

  return true;
}
