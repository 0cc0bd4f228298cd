// log: the journal in words, newest at the end, only the rows in sight drawn; filters, and a link to each line.

import type { LogRow } from "../../../../views/facts/log-rows.ts";
import { type Child, el, type Element, said } from "../../../../views/web/element.ts";
import { mark, status } from "../../../../views/web/shapes.ts";
import { figure } from "../../../../views/web/page-figures.ts";
import { copy } from "../actions.ts";
import { facts } from "../api.ts";
import { button } from "../controls.ts";
import { draw, href, state } from "../store.ts";
import { runHead } from "./run-head.ts";

const isNarrow = (): boolean => matchMedia("(max-width:719px)").matches;
const rowPx = (): number => (isNarrow() ? 58 : 30);
const beyond = 8;
const view = { top: 0, height: 600 };
let list: HTMLElement | null = null;
let sifted: { readonly of: unknown; readonly by: string; readonly rows: readonly LogRow[] } = { of: null, by: "", rows: [] };

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
  sifted = { of: rows, by, rows: by === "\0\0\0" ? rows : rows.filter(fits) };
  return sifted.rows;
}

export function logPage(): Child {
  const top = runHead("log");
  if ("instead" in top) return top.instead;
  const { log } = state;
  const shown = rowsShown();
  if (log.follow) queueMicrotask(toEnd);
  const older = (log.rows[0]?.seq ?? 1) - 1;
  return [
    top.head,
    el(
      "div.filters",
      el("input.field", {
        type: "search",
        id: "find",
        placeholder: isNarrow() ? "Find in the lines" : "Find in the lines   /",
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
        `${figure(shown.length)} of ${figure(log.total)} lines${older > 0 ? `; the first ${figure(older)} only in autopilot log` : ""}`,
      ),
    ),
    el(
      "div.panel.log",
      {
        ref: (element: HTMLElement | null) => measure(element),
        tabindex: "0",
        role: "region",
        "aria-label": "Journal in words",
        onScroll: scrolled,
      },
      el("ol", { style: { height: `${Math.max(1, shown.length * rowPx())}px` } }, shown.length === 0 ? nothing() : inSight(shown)),
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
      phase: distinct(({ phase }) => phase),
      event: distinct(({ event }) => event),
      reason: distinct(({ reason }) => reason),
    };
  return words;
}

function inSight(rows: readonly LogRow[]): readonly Element[] {
  const px = rowPx();
  const first = Math.max(0, Math.floor(view.top / px) - beyond);
  const last = Math.min(rows.length, Math.ceil((view.top + view.height) / px) + beyond);
  return rows.slice(first, last).map((row, at) => line(row, first + at, rows.length, px));
}

function line(row: LogRow, at: number, count: number, px: number): Element {
  return el(
    "li",
    { key: String(row.seq), "aria-setsize": String(count), "aria-posinset": String(at + 1) },
    el(
      "div.log-row",
      {
        tabindex: "0",
        role: "button",
        "data-at": String(at),
        ...(state.log.open === row.seq ? { "aria-current": "true" } : {}),
        style: { top: `${at * px}px` },
        onClick: () => show(row.seq),
        onKeyDown: (event: KeyboardEvent) => (event.key === "Enter" ? show(row.seq) : undefined),
      },
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
    "li",
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
  if (list !== null) list.scrollTop = 0;
  draw();
}

function setFollow(is: boolean): void {
  state.log.follow = is;
  draw();
}

function measure(element: HTMLElement | null): void {
  list = element;
  if (element === null || element.clientHeight === view.height) return;
  view.height = element.clientHeight;
  draw();
}

function toEnd(): void {
  if (list === null || !state.log.follow) return;
  const end = list.scrollHeight - list.clientHeight;
  if (Math.abs(list.scrollTop - end) > 1) list.scrollTop = end;
}

/** Scrolling up lets go of the end. */
function scrolled(): void {
  if (list === null) return;
  if (list.scrollTop < view.top - 2 && list.scrollTop + list.clientHeight < list.scrollHeight - rowPx()) state.log.follow = false;
  view.top = list.scrollTop;
  draw();
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
  const active = document.activeElement instanceof HTMLElement ? document.activeElement.dataset["at"] : undefined;
  const px = rowPx();
  const at = active === undefined ? Math.ceil(list.scrollTop / px) : Math.max(0, Math.min(rowsShown().length - 1, Number(active) + step));
  state.log.follow = false;
  if (at * px < list.scrollTop) list.scrollTop = at * px;
  if ((at + 1) * px > list.scrollTop + list.clientHeight) list.scrollTop = (at + 1) * px - list.clientHeight;
  view.top = list.scrollTop;
  draw();
  requestAnimationFrame(() =>
    requestAnimationFrame(() => list?.querySelector<HTMLElement>(`[data-at="${at}"]`)?.focus({ preventScroll: true })),
  );
  return true;
}
