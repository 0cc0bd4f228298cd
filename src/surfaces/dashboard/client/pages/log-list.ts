// log-list: the scrolling list of a log (a virtual list): filters its rows, draws only those that are
// visible, and finds a row's position.
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
import { formatNumber } from "../../../../views/web/format-numbers.ts";
import { draw, state } from "../store.ts";

export const narrowScreen = matchMedia("(max-width:719px)");
/** The height of a row, as `.log-row` has it in views/web/style.ts and style-screens.ts. */
const rowPx = (): number => (narrowScreen.matches ? 58 : 30);
/**
 * How many rows more than visible are drawn above and below. Rows are drawn again each time the
 * list has scrolled by as many.
 */
const spareRowCount = 4;
/**
 * How far below the upper edge a line is put that is scrolled to: those before it are in sight too.
 */
const contextPx = 120;
/** Scrolling by less is the browser's rounding. */
const scrollNoisePx = 2;

/** What part of the list is visible, in pixels. */
const viewport = { top: 0, height: 600 };
/** The element that scrolls, and the one inside that is as high as all rows. */
let list: HTMLElement | null = null;
let content: HTMLElement | null = null;
const sizeObserver = new ResizeObserver(([entry]) => {
  viewport.height = entry?.contentRect.height ?? viewport.height;
  keepPlace();
});

/** The rows that matched last time, with the rows and the filters they were computed from. */
type FilterResult = {
  readonly allRows: unknown;
  readonly filters: string;
  readonly rows: readonly LogRow[];
};
let filterResult: FilterResult = { allRows: null, filters: "", rows: [] };
/** Four empty filters, joined as below. */
const noFilter = "\0\0\0";

/** The rows that match the filters; computed again only when rows or filters change. */
export function filteredRows(): readonly LogRow[] {
  const { rows, find, phase, event, reason } = state.log;
  const filters = [find, phase, event, reason].join("\0");
  const isCurrent = filterResult.allRows === rows && filterResult.filters === filters;
  if (isCurrent) return filterResult.rows;

  const searchText = find.toLowerCase();
  const matchesFilters = (row: LogRow): boolean =>
    (phase === "" || row.phase === phase) &&
    (event === "" || row.event === event) &&
    (reason === "" || row.reason === reason) &&
    (searchText === "" || row.text.toLowerCase().includes(searchText));

  const matchingRows = filters === noFilter ? rows : rows.filter(matchesFilters);
  filterResult = { allRows: rows, filters, rows: matchingRows };
  return matchingRows;
}

/** The list's element; `onChoose` gets the number of a line that was pressed. */
export function logList(onChoose: (seq: number) => void): Element {
  chooseLine = onChoose;
  queueMicrotask(keepPlace);
  const heightPx = filteredRows().length * rowPx();

  return el(
    "div.panel.log",
    {
      ref: attachList,
      tabindex: "0",
      role: "region",
      "aria-label": "Journal in words",
      onScroll,
    },
    el("div", { ref: attachContent, style: { height: `${heightPx}px` } }),
  );
}

let chooseLine: (seq: number) => void = () => undefined;

/** What the drawn rows depend on. */
let drawnInputs: readonly unknown[] = [];

/**
 * L1: item n of the list is line `firstDrawn + n`, whichever that is: elements stay and their words
 * change.
 */
function drawRows(): void {
  if (content === null) return;
  const rows = filteredRows();
  const px = rowPx();
  const { firstDrawn, visibleCount } = findDrawnRange(rows.length, px);

  const inputs = [rows, firstDrawn, visibleCount, px, state.log.open, content];
  if (inputs.every((value, index) => value === drawnInputs[index])) return;
  drawnInputs = inputs;

  const focusedIndex = findFocusedIndex(content);
  const drawnRows = rows.slice(firstDrawn, firstDrawn + visibleCount + 3 * spareRowCount);
  render(
    el(
      "ol",
      {
        style: { transform: `translateY(${firstDrawn * px}px)` },
        onClick: onPress,
        onKeyDown: onPress,
      },
      drawnRows.map((row, index) => rowElement(row, firstDrawn + index, rows.length)),
    ),
    content,
  );

  if (focusedIndex !== null) (findRow(focusedIndex) ?? list)?.focus({ preventScroll: true }); // L3
}

type DrawnRange = { readonly firstDrawn: number; readonly visibleCount: number };

/**
 * Spare rows are drawn above, below, and as many again, because the first row drawn is rounded
 * down.
 */
function findDrawnRange(rowCount: number, px: number): DrawnRange {
  const visibleCount = Math.ceil(viewport.height / px) + 1;
  const firstSpare = Math.floor(viewport.top / px - spareRowCount);
  const first = Math.max(0, Math.min(rowCount - visibleCount, firstSpare));
  return { firstDrawn: first - (first % spareRowCount), visibleCount };
}

function findFocusedIndex(container: HTMLElement): number | null {
  const focused = document.activeElement;
  const isInside = focused instanceof HTMLElement && container.contains(focused);
  return isInside ? findRowIndex(focused) : null;
}

function findRowIndex(element: unknown): number | null {
  if (!(element instanceof HTMLElement)) return null;
  const indexText = element.closest<HTMLElement>("[data-at]")?.dataset["at"];
  return indexText === undefined ? null : Number(indexText);
}

const findRow = (index: number): HTMLElement | null =>
  content?.querySelector<HTMLElement>(`[data-at="${index}"]`) ?? null;

function rowElement(row: LogRow, index: number, count: number): Element {
  const phase = row.phase === "" ? "run" : row.phase;
  const event = row.event.replaceAll("_", " ");

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
      el("span.place.tiny.dim.cut", foreignText(`${phase} · ${event}`)),
      el("span.text.cut", foreignText(row.text)),
      el("span.who.tiny.dim", foreignText(row.actor)),
    ),
  );
}

function attachList(element: HTMLElement | null): void {
  sizeObserver.disconnect();
  list = element;
  viewport.top = 0;
  placedRows = null;
  if (element !== null) sizeObserver.observe(element);
}

function attachContent(element: HTMLElement | null): void {
  content = element;
}

/** The rows for which the list was last scrolled. */
let placedRows: readonly LogRow[] | null = null;

/**
 * L2: after the page was drawn; where lines came in, the one on top stays on top, or the end stays
 * visible.
 */
function keepPlace(): void {
  const rows = filteredRows();
  const isUnchanged = rows === placedRows && !state.log.follow;
  if (list === null || isUnchanged) return drawRows();

  const px = rowPx();
  const top = state.log.follow ? rows.length * px - viewport.height : findMovedTop(rows, px);
  placedRows = rows;
  if (top !== viewport.top) scrollListTo(Math.max(0, top));
  drawRows();
}

function scrollListTo(top: number): void {
  if (list === null) return;
  list.scrollTop = top;
  viewport.top = top;
}

/** Where the list must be scrolled to so that the line on top stays there. */
function findMovedTop(rows: readonly LogRow[], px: number): number {
  const topRow = placedRows?.[Math.floor(viewport.top / px)];
  if (topRow === undefined) return viewport.top;
  const index = rows.findIndex(({ seq }) => seq === topRow.seq);

  return index < 0 ? viewport.top : index * px + (viewport.top % px);
}

/** Scrolling up stops following the end of the log. */
function onScroll(): void {
  if (list === null) return;
  const top = list.scrollTop;
  const isScrolledUp = top < viewport.top - scrollNoisePx;
  const isEndVisible = top + viewport.height >= (filteredRows().length - 1) * rowPx();

  viewport.top = top;
  if (state.log.follow && isScrolledUp && !isEndVisible) setFollow(false);
  drawRows();
}

function onPress(event: MouseEvent | KeyboardEvent): void {
  if (event instanceof KeyboardEvent && event.key !== "Enter" && event.key !== " ") return;
  const row = filteredRows()[findRowIndex(event.target) ?? -1];
  if (row === undefined) return;
  event.preventDefault();
  chooseLine(row.seq);
}

export function setFollow(follow: boolean): void {
  state.log.follow = follow;
  draw();
}

/** Scrolls to the first row, because a filter has changed which rows there are. */
export function scrollToTop(): void {
  scrollListTo(0);
  placedRows = null;
}

export function scrollToLine(seq: number): void {
  const top = filteredRows().findIndex((row) => row.seq === seq) * rowPx();
  if (list === null || top < 0) return;

  const isVisible = top >= viewport.top && top <= viewport.top + viewport.height;
  if (!isVisible) list.scrollTop = Math.max(0, top - contextPx);
}

/** j and k move along all rows, also those that are not drawn yet. */
export function moveInLog(step: 1 | -1): boolean {
  if (state.page !== "log" || list === null) return false;
  const px = rowPx();
  const index = findNextIndex(step, px);
  const rowTop = index * px;
  const rowBottom = rowTop + px;

  if (state.log.follow) setFollow(false);
  if (rowTop < viewport.top) list.scrollTop = rowTop;
  if (rowBottom > viewport.top + viewport.height) list.scrollTop = rowBottom - viewport.height;
  viewport.top = list.scrollTop;
  drawRows();
  findRow(index)?.focus({ preventScroll: true });

  return true;
}

/** The row after or before the focused one; without a focused one, the first that is visible. */
function findNextIndex(step: 1 | -1, px: number): number {
  const focusedIndex = findRowIndex(document.activeElement);
  if (focusedIndex === null) return Math.ceil(viewport.top / px);
  return Math.max(0, Math.min(filteredRows().length - 1, focusedIndex + step));
}
