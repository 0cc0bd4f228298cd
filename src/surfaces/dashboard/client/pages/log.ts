// log: the journal in words, newest at the end, only the rows in sight drawn; filters, and a link to each line.
//
// Invariants:
//   L1. Scrolling draws rows and nothing else, into elements that are there already, and asks the browser for no sizes.
//   L2. What one reads stays where it is while lines come in before or after it.
//   L3. The focus stays on its line; where that is out of sight, on the list.

import { render } from "preact";
import type { LogRow } from "../../../../views/facts/log-rows.ts";
import { type Child, el, type Element, said } from "../../../../views/web/element.ts";
import { mark, status } from "../../../../views/web/shapes.ts";
import { figure } from "../../../../views/web/page-figures.ts";
import { copy } from "../actions.ts";
import { facts } from "../api.ts";
import { button } from "../controls.ts";
import { logRowsMax } from "../loading.ts";
import { draw, href, state } from "../store.ts";
import { runHead } from "./run-head.ts";

const narrow = matchMedia("(max-width:719px)");
const rowPx = (): number => (narrow.matches ? 58 : 30);
/** Rows are drawn anew when one has scrolled past this many, and as many stand ready above and below. */
const stride = 4;
const view = { top: 0, height: 600 };
let list: HTMLElement | null = null;
let body: HTMLElement | null = null;
let sifted: { readonly of: unknown; readonly by: string; readonly rows: readonly LogRow[] } = { of: null, by: "", rows: [] };
const sized = new ResizeObserver(([entry]) => {
  view.height = entry?.contentRect.height ?? view.height;
  placed();
});

const noFilter = "\0\0\0";

/** The rows that fit the filters; sifted anew only when rows or filters are others. */
function rowsShown(): readonly LogRow[] {
  const { rows, find, phase, event, reason } = state.log;
  const by = [find, phase, event, reason].join("\0");
  if (sifted.of === rows && sifted.by === by) return sifted.rows;
  const needle = find.toLowerCase();
  const fits = (row: LogRow): boolean =>
    (phase === "" || row.phase === phase) &&
    (event === "" || row.event === event) &&
    (reason === "" || row.reason === reason) &&
    (needle === "" || row.text.toLowerCase().includes(needle));
  sifted = { of: rows, by, rows: by === noFilter ? rows : rows.filter(fits) };
  return sifted.rows;
}

export function logPage(): Child {
  const top = runHead("log");
  if ("instead" in top) return top.instead;
  const { log } = state;
  const shown = rowsShown();
  queueMicrotask(placed);
  const older = (log.rows[0]?.seq ?? 1) - 1;
  return [
    top.head,
    el(
      "div.filters",
      el("input.field", {
        type: "search",
        id: "find",
        placeholder: narrow.matches ? "Find in the lines" : "Find in the lines   /",
        "aria-label": "Find in the lines",
        value: log.find,
        onInput: (event: Event) => filter("find", event),
      }),
      choice("Phase", "phase", choices().phase),
      choice("Event", "event", choices().event),
      choice("Reason", "reason", choices().reason),
      button("Follow", () => setFollow(!log.follow), "", { "aria-pressed": String(log.follow) }),
      el(
        "span.dim.tiny.num",
        { role: "status" },
        `${figure(shown.length)} of ${figure(log.total)} lines${older === 0 ? "" : log.rows.length < logRowsMax ? "; older ones are on their way" : `; the first ${figure(older)} only in autopilot log`}`,
      ),
    ),
    el(
      "div.panel.log",
      {
        ref: measured,
        tabindex: "0",
        role: "region",
        "aria-label": "Journal in words",
        onScroll: scrolled,
      },
      shown.length === 0 ? nothing() : null,
      el("div", { ref: taken, style: { height: `${shown.length * rowPx()}px` } }),
    ),
    log.open === null ? null : detail(log.open),
  ];
}

let words: {
  readonly of: unknown;
  readonly phase: readonly string[];
  readonly event: readonly string[];
  readonly reason: readonly string[];
} | null = null;

/** What can be filtered by; looked through anew only when there are other rows, never while one scrolls. */
function choices(): NonNullable<typeof words> {
  const { rows } = state.log;
  const distinct = (of: (row: LogRow) => string): readonly string[] => [...new Set(rows.map(of))].filter((word) => word !== "").toSorted();
  if (words?.of !== rows)
    words = {
      of: rows,
      phase: same(
        words?.phase,
        distinct(({ phase }) => phase),
      ),
      event: same(
        words?.event,
        distinct(({ event }) => event),
      ),
      reason: same(
        words?.reason,
        distinct(({ reason }) => reason),
      ),
    };
  return words;
}

/** The list of before where nothing of it changed, so that nothing is drawn anew for it. */
const same = (before: readonly string[] | undefined, after: readonly string[]): readonly string[] =>
  before?.length === after.length && before.every((word, at) => word === after[at]) ? before : after;

let drawn: readonly unknown[] = [];

/** L1: item n of the list is line `first + n`, whichever that is: elements stay and their words change. */
function drawRows(): void {
  if (body === null) return;
  const rows = rowsShown();
  const px = rowPx();
  const sight = Math.ceil(view.height / px) + 1;
  const first = Math.max(0, Math.min(rows.length - sight, Math.floor(view.top / px - stride)));
  const from = first - (first % stride);
  const now = [rows, from, sight, px, state.log.open, body];
  if (now.every((value, at) => value === drawn[at])) return;
  drawn = now;
  const focused =
    document.activeElement instanceof HTMLElement && body.contains(document.activeElement) ? atOf(document.activeElement) : null;
  render(
    el(
      "ol",
      { style: { transform: `translateY(${from * px}px)` }, onClick: pressed, onKeyDown: pressed },
      rows.slice(from, from + sight + 3 * stride).map((row, at) => line(row, from + at, rows.length)),
    ),
    body,
  );
  if (focused !== null) (rowAt(focused) ?? list)?.focus({ preventScroll: true }); // L3
}

const atOf = (element: unknown): number | null => {
  const at = element instanceof HTMLElement ? element.closest<HTMLElement>("[data-at]")?.dataset["at"] : undefined;
  return at === undefined ? null : Number(at);
};
const rowAt = (at: number): HTMLElement | null => body?.querySelector<HTMLElement>(`[data-at="${at}"]`) ?? null;

function line(row: LogRow, at: number, count: number): Element {
  return el(
    "li",
    { "aria-setsize": String(count), "aria-posinset": String(at + 1) },
    el(
      "div.log-row",
      { tabindex: "0", role: "button", "data-at": String(at), ...(state.log.open === row.seq ? { "aria-current": "true" } : {}) },
      el("span.seq.mono.dim", figure(row.seq)),
      el("span.time.mono.dim", row.at.slice(11, 19)),
      mark(row.shape),
      el("span.place.tiny.dim.cut", said(`${row.phase === "" ? "run" : row.phase} · ${row.event.replaceAll("_", " ")}`)),
      el("span.text.cut", said(row.text)),
      el("span.who.tiny.dim", said(row.actor)),
    ),
  );
}

const nothing = (): Element =>
  el(
    "div",
    { style: { padding: "40px", "text-align": "center" } },
    el("div.second", state.log.total === 0 ? "No line yet." : "No line of the journal fits these filters."),
    state.log.total === 0 ? null : button("Clear filters", clear),
  );

function clear(): void {
  Object.assign(state.log, { find: "", phase: "", event: "", reason: "" });
  draw();
}

type Choice = { readonly of: readonly string[]; readonly value: string; readonly element: Element };
const chosen = new Map<string, Choice>();

/** The same element while nothing of it changed: a run of 500 phases has 500 options, and none is looked at while one scrolls. */
function choice(label: string, of: "phase" | "event" | "reason", words: readonly string[]): Element {
  const value = state.log[of];
  const known = chosen.get(of);
  if (known?.of === words && known.value === value) return known.element;
  const element = el(
    "select.field",
    { "aria-label": label, value, onChange: (event: Event) => filter(of, event) },
    el("option", { value: "" }, label),
    words.map((word) => el("option", { value: word, key: word, selected: value === word }, word.slice(0, 60))),
  );
  chosen.set(of, { of: words, value, element });
  return element;
}

function filter(of: "find" | "phase" | "event" | "reason", event: Event): void {
  state.log[of] = (event.target as HTMLInputElement | HTMLSelectElement).value;
  state.log.follow = false;
  if (list !== null) list.scrollTop = view.top = 0;
  placedRows = null;
  draw();
}

function setFollow(is: boolean): void {
  state.log.follow = is;
  draw();
}

function measured(element: HTMLElement | null): void {
  sized.disconnect();
  list = element;
  view.top = 0;
  placedRows = null;
  if (element !== null) sized.observe(element);
}

function taken(element: HTMLElement | null): void {
  body = element;
}

let placedRows: readonly LogRow[] | null = null;

/** L2: after the page was drawn; where lines came in, the one on top stays on top, or the end stays in sight. */
function placed(): void {
  const rows = rowsShown();
  if (list === null || (rows === placedRows && !state.log.follow)) return drawRows();
  const px = rowPx();
  const top = state.log.follow ? rows.length * px - view.height : movedTop(rows, px);
  placedRows = rows;
  if (top !== view.top) list.scrollTop = view.top = Math.max(0, top);
  drawRows();
}

function movedTop(rows: readonly LogRow[], px: number): number {
  const seen = placedRows?.[Math.floor(view.top / px)];
  if (seen === undefined) return view.top;
  const at = rows.findIndex(({ seq }) => seq === seen.seq);
  return at < 0 ? view.top : at * px + (view.top % px);
}

/** Scrolling up lets go of the end. */
function scrolled(): void {
  if (list === null) return;
  const top = list.scrollTop;
  const isLettingGo = state.log.follow && top < view.top - 2 && top + view.height < (rowsShown().length - 1) * rowPx();
  view.top = top;
  if (isLettingGo) setFollow(false);
  drawRows();
}

function pressed(event: MouseEvent | KeyboardEvent): void {
  if (event instanceof KeyboardEvent && event.key !== "Enter" && event.key !== " ") return;
  const row = rowsShown()[atOf(event.target) ?? -1];
  if (row === undefined) return;
  event.preventDefault();
  show(row.seq);
}

function show(seq: number): void {
  history.replaceState(null, "", href("log", state.key, seq));
  openLine(seq);
}

/** Opens a line by its number, as its link does. */
export function openLine(seq: number): void {
  if (!Number.isSafeInteger(seq) || seq < 1) return;
  state.log.open = seq;
  state.log.entry = null;
  state.log.follow = false;
  draw();
  const { key } = state;
  void facts<{ readonly entry: string }>("entry", { run: key ?? "", seq: String(seq) })
    .then(({ entry }) => {
      if (state.log.open === seq) state.log.entry = JSON.stringify(JSON.parse(entry), null, 1);
      const at = rowsShown().findIndex((row) => row.seq === seq);
      if (list !== null && at >= 0 && (at * rowPx() < list.scrollTop || at * rowPx() > list.scrollTop + list.clientHeight))
        list.scrollTop = Math.max(0, at * rowPx() - 120);
      draw();
    })
    .catch(() => draw());
}

function detail(seq: number): Element {
  const row = state.log.rows.find((one) => one.seq === seq);
  const text = state.log.entry;
  return el(
    "div.panel.pane.gap-top",
    { role: "region", "aria-label": `Line ${seq}` },
    el(
      "div.row.wrap",
      row === undefined ? null : status(row.shape, row.event),
      el("span.grow"),
      button(`Copy link to line ${figure(seq)}`, () => copy(`${location.origin}/${href("log", state.key, seq)}`)),
      button(
        "Close",
        () => {
          state.log.open = null;
          draw();
        },
        "quiet",
      ),
    ),
    row === undefined ? null : el("p.gap-top", said(row.text)),
    text === null
      ? null
      : el(
          "pre",
          { tabindex: "0" },
          said(text.length > 60_000 ? `${text.slice(0, 60_000)}\n… ${figure(text.length - 60_000)} more characters` : text),
        ),
  );
}

/** j and k move along all rows, also those that are not drawn yet. */
export function moveInLog(step: 1 | -1): boolean {
  if (state.page !== "log" || list === null) return false;
  const active = atOf(document.activeElement);
  const px = rowPx();
  const at = active === null ? Math.ceil(view.top / px) : Math.max(0, Math.min(rowsShown().length - 1, active + step));
  if (state.log.follow) setFollow(false);
  if (at * px < view.top) list.scrollTop = at * px;
  if ((at + 1) * px > view.top + view.height) list.scrollTop = (at + 1) * px - view.height;
  view.top = list.scrollTop;
  drawRows();
  rowAt(at)?.focus({ preventScroll: true });
  return true;
}
