// log: renders the page with a run's journal in words: filters, a list that draws only the rows in
// sight, and one entry in full.

import type { LogRow } from "../../../../views/facts/log-rows.ts";
import { type Child, el, type Element, foreignText } from "../../../../views/web/element.ts";
import { stateLabel } from "../../../../views/web/icons.ts";
import { formatNumber } from "../../../../views/web/format-numbers.ts";
import { copyText } from "../actions.ts";
import { fetchFacts } from "../api.ts";
import { button } from "../controls.ts";
import { logRowsMax } from "../loading.ts";
import { draw, pageLink, state } from "../store.ts";
import {
  logList,
  narrowScreen,
  filteredRows,
  setFollow,
  scrollToLine,
  scrollToTop,
} from "./log-list.ts";
import { runHead } from "./run-head.ts";

/** Of one line in full; a line may be a megabyte. */
const entryCharsMax = 60_000;

export function logPage(): Child {
  const top = runHead("log");
  if ("instead" in top) return top.instead;
  const { log } = state;
  const rows = filteredRows();
  const older = (log.rows[0]?.seq ?? 1) - 1;

  return [
    top.head,
    el(
      "div.filters",
      el("input.field", {
        type: "search",
        id: "find",
        placeholder: narrowScreen.matches ? "Find in the lines" : "Find in the lines   /",
        "aria-label": "Find in the lines",
        value: log.find,
        onInput: (event: Event) => setFilter("find", event),
      }),
      filterSelect("Phase", "phase", listChoices().phase),
      filterSelect("Event", "event", listChoices().event),
      filterSelect("Reason", "reason", listChoices().reason),
      button("Follow", () => setFollow(!log.follow), "", { "aria-pressed": String(log.follow) }),
      el(
        "span.dim.tiny.num",
        { role: "status" },
        `${formatNumber(rows.length)} of ${formatNumber(log.total)} lines${describeOlder(older)}`,
      ),
    ),
    rows.length === 0 ? noRows() : logList(openRow),
    log.open === null ? null : entryPane(log.open),
  ];
}

/** Where the lines are that this page doesn't have. */
function describeOlder(older: number): string {
  if (older === 0) return "";
  return state.log.rows.length < logRowsMax
    ? "; older ones are on their way"
    : `; the first ${formatNumber(older)} only in autopilot log`;
}

let filterChoices: {
  readonly rows: unknown;
  readonly phase: readonly string[];
  readonly event: readonly string[];
  readonly reason: readonly string[];
} | null = null;

/** The possible filters; computed again only when the rows change, never while scrolling. */
function listChoices(): NonNullable<typeof filterChoices> {
  const { rows } = state.log;
  const distinct = (wordOf: (row: LogRow) => string): readonly string[] =>
    [...new Set(rows.map(wordOf))].filter((word) => word !== "").toSorted();

  if (filterChoices?.rows !== rows) {
    filterChoices = {
      rows,
      phase: keepIfEqual(
        filterChoices?.phase,
        distinct(({ phase }) => phase),
      ),
      event: keepIfEqual(
        filterChoices?.event,
        distinct(({ event }) => event),
      ),
      reason: keepIfEqual(
        filterChoices?.reason,
        distinct(({ reason }) => reason),
      ),
    };
  }

  return filterChoices;
}

/** The earlier list if both are equal, so that Preact sees no change and draws nothing again. */
const keepIfEqual = (
  earlier: readonly string[] | undefined,
  words: readonly string[],
): readonly string[] =>
  earlier?.length === words.length && earlier.every((word, index) => word === words[index])
    ? earlier
    : words;

const noRows = (): Element =>
  el(
    "div.panel",
    { style: { padding: "40px", "text-align": "center" } },
    el(
      "div.second",
      state.log.total === 0 ? "No line yet." : "No line of the journal fits these filters.",
    ),
    state.log.total === 0 ? null : button("Clear filters", clearFilters),
  );

function clearFilters(): void {
  Object.assign(state.log, { find: "", phase: "", event: "", reason: "" });
  draw();
}

type CachedSelect = {
  readonly words: readonly string[];
  readonly value: string;
  readonly element: Element;
};
const cachedSelects = new Map<string, CachedSelect>();

/**
 * The same element while nothing of it changed: a run of 500 phases has 500 options, and none is
 * inspected while one scrolls.
 */
function filterSelect(
  label: string,
  filter: "phase" | "event" | "reason",
  words: readonly string[],
): Element {
  const value = state.log[filter];
  const cached = cachedSelects.get(filter);
  if (cached?.words === words && cached.value === value) return cached.element;

  const element = el(
    "select.field",
    { "aria-label": label, value, onChange: (event: Event) => setFilter(filter, event) },
    el("option", { value: "" }, label),
    words.map((word) =>
      el("option", { value: word, key: word, selected: value === word }, word.slice(0, 60)),
    ),
  );

  cachedSelects.set(filter, { words, value, element });
  return element;
}

function setFilter(filter: "find" | "phase" | "event" | "reason", event: Event): void {
  state.log[filter] = (event.target as HTMLInputElement | HTMLSelectElement).value;
  state.log.follow = false;
  scrollToTop();
  draw();
}

function openRow(seq: number): void {
  history.replaceState(null, "", pageLink("log", state.key, seq));
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
  void fetchFacts<{ readonly entry: string }>("entry", { run: key ?? "", seq: String(seq) })
    .then(({ entry }) => {
      if (state.log.open === seq) state.log.entry = JSON.stringify(JSON.parse(entry), null, 1);
      scrollToLine(seq);
      draw();
    })
    .catch(() => draw());
}

function entryPane(seq: number): Element {
  const row = state.log.rows.find((candidate) => candidate.seq === seq);
  const text = state.log.entry;
  return el(
    "div.panel.pane.gap-top",
    { role: "region", "aria-label": `Line ${seq}` },
    el(
      "div.row.wrap",
      row === undefined ? null : stateLabel(row.shape, row.event),
      el("span.grow"),
      button(`Copy link to line ${formatNumber(seq)}`, () =>
        copyText(`${location.origin}/${pageLink("log", state.key, seq)}`),
      ),
      button(
        "Close",
        () => {
          state.log.open = null;
          draw();
        },
        "quiet",
      ),
    ),
    row === undefined ? null : el("p.gap-top", foreignText(row.text)),
    text === null ? null : el("pre", { tabindex: "0" }, foreignText(cutEntry(text))),
  );
}

function cutEntry(text: string): string {
  const hidden = text.length - entryCharsMax;
  return hidden > 0
    ? `${text.slice(0, entryCharsMax)}\n… ${formatNumber(hidden)} more characters`
    : text;
}
