// store: holds the state of the page, and draws it at most once per frame.

import type { CostView } from "../../../views/facts/cost.ts";
import type { LogRow } from "../../../views/facts/log-rows.ts";
import type { DiffPage, ShownFile } from "../../../commands/dashboard/diff-files.ts";
import type { SettingsPage } from "../../../commands/dashboard/settings-page.ts";
import type { FleetPage } from "../../../commands/dashboard/fleet-page.ts";
import type { Overview } from "../../../commands/dashboard/overview.ts";
import type { PortfolioPage } from "../../../commands/dashboard/portfolio-page.ts";
import type { RunHead, ShownRun } from "../../../commands/dashboard/run-page.ts";
import type { PageName } from "../rail.ts";

/**
 * A note on a line of a file. `at`: the line's position in the diff up to `commit`, which the
 * person saw.
 */
export type LineNote = {
  readonly commit: string;
  readonly path: string;
  readonly line: number;
  readonly side: "old" | "new";
  readonly text: string;
  readonly at: number;
};

export type LogState = {
  /** The newest lines of the journal, oldest first. */
  rows: LogRow[];
  /** How many lines the journal has. */
  total: number;
  /** The filters; empty ones let everything through. */
  find: string;
  phase: string;
  event: string;
  reason: string;
  /** Whether the list stays at its end as lines come in. */
  follow: boolean;
  /** The number of the line that is shown in full, and its JSON once it has come. */
  open: number | null;
  entry: string | null;
};

export type State = {
  page: PageName;
  /** The run that a page is about. */
  key: string | null;
  overview: Overview | null;
  head: RunHead | null;
  run: ShownRun | null;
  /** The key of a run that was not found. */
  missing: string | null;
  log: LogState;
  diff: DiffPage | null;
  file: string | null;
  fileDiff: ShownFile | null;
  portfolio: PortfolioPage | null;
  fleet: FleetPage | null;
  cost: CostView | null;
  costBy: keyof CostView["by"];
  settings: SettingsPage | null;
  /** `token`: this link opens nothing. */
  connection: "opening" | "live" | "gone" | "token";
  goneSince: string | null;
  retryInS: number;
  /** Updates are held: nothing on the page changes by itself. */
  areUpdatesHeld: boolean;
  /** Single keys are switched on. */
  hasSingleKeys: boolean;
  /**
   * The question whose card is open in the inbox; "" if the person closed them all, null before the
   * first was chosen.
   */
  question: string | null;
  /** The option chosen for each question, and the words written for it, before they are sent. */
  chosenOptions: Record<string, string>;
  typedAnswers: Record<string, string>;
  /** The question that changed while its answer was written. */
  changedQuestion: string | null;
  /** The phases whose steps the waterfall lists; null: those that the server chooses. */
  expanded: Set<string> | null;
  /** The selected row of the waterfall. */
  selectedRow: string | null;
  /** Notes on lines of the diff that are not sent yet, and the one being written. */
  notes: LineNote[];
  openNote: LineNote | null;
  toast: string | null;
  dialog: "keys" | "more" | "stop" | null;
  /**
   * What the person has typed so far: a run's id to stop it, the code from the terminal, and why
   * that was refused.
   */
  typedRunId: string;
  typedCode: string;
  codeError: string | null;
  /** A request is under way: no other is sent meanwhile. */
  isSending: boolean;
};

export const emptyLog = (): LogState => ({
  rows: [],
  total: 0,
  find: "",
  phase: "",
  event: "",
  reason: "",
  follow: true,
  open: null,
  entry: null,
});

export const state: State = {
  page: "now",
  key: null,
  overview: null,
  head: null,
  run: null,
  missing: null,
  log: emptyLog(),
  diff: null,
  file: null,
  fileDiff: null,
  portfolio: null,
  fleet: null,
  cost: null,
  costBy: "project",
  settings: null,
  connection: "opening",
  goneSince: null,
  retryInS: 0,
  areUpdatesHeld: false,
  hasSingleKeys: sessionStorage.getItem("autopilot.keys") !== "off",
  question: null,
  chosenOptions: {},
  typedAnswers: {},
  changedQuestion: null,
  expanded: null,
  selectedRow: null,
  notes: [],
  openNote: null,
  toast: null,
  dialog: null,
  typedRunId: "",
  typedCode: "",
  codeError: null,
  isSending: false,
};

let drawNow: () => void = () => undefined;
let isDrawPlanned = false;

export const onDraw = (draw: () => void): void => void (drawNow = draw);

/** Draws once in the next frame. */
export function draw(): void {
  if (isDrawPlanned) return;
  isDrawPlanned = true;
  requestAnimationFrame(() => {
    isDrawPlanned = false;
    drawNow();
  });
}

const toastMs = 4_000;
let toastTimer = 0;
export function toast(text: string): void {
  state.toast = text;
  clearTimeout(toastTimer);
  toastTimer = window.setTimeout(() => {
    state.toast = null;
    draw();
  }, toastMs);

  draw();
}

/**
 * The server's time at the last load, and this page's monotonic clock then: the browser's wall
 * clock may be wrong.
 */
let clock = { serverMs: 0, pageMs: 0 };
export const setClock = (iso: string): void =>
  void (clock = { serverMs: Date.parse(iso), pageMs: performance.now() });
/** The time by the server's clock; 1970 before the first load. */
export const serverNow = (): string =>
  new Date(
    clock.serverMs + (clock.serverMs === 0 ? 0 : performance.now() - clock.pageMs),
  ).toISOString();

/** `#log/shop%3Arun-1/12` */
export const pageLink = (page: PageName, ...words: readonly (string | number | null)[]): string =>
  `#${[page, ...words.filter((word) => word !== null).map((word) => encodeURIComponent(String(word)))].join("/")}`;
