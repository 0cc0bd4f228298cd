// store: holds the state of the page, and draws it at most once per frame.

import type { CostView } from "../../../views/facts/cost.ts";
import type { FileDiff } from "../../../views/facts/hunks.ts";
import type { LogRow } from "../../../views/facts/log-rows.ts";
import type { DiffPage } from "../../../commands/dashboard/diff-files.ts";
import type { SettingsPage } from "../../../commands/dashboard/facts.ts";
import type { FleetPage } from "../../../commands/dashboard/fleet-page.ts";
import type { Overview } from "../../../commands/dashboard/overview.ts";
import type { PortfolioPage } from "../../../commands/dashboard/portfolio-page.ts";
import type { RunHead, ShownRun } from "../../../commands/dashboard/run-page.ts";
import type { PageName } from "../rail.ts";

/** A note on a line of a file. `at`: the line's position in the diff as it is shown. */
export type LineNote = {
  readonly path: string;
  readonly line: number;
  readonly side: "old" | "new";
  readonly text: string;
  readonly at: number;
};

export type LogState = {
  rows: LogRow[];
  total: number;
  find: string;
  phase: string;
  event: string;
  reason: string;
  follow: boolean;
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
  fileDiff: FileDiff | null;
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
  held: boolean;
  /** Single keys are switched on. */
  single: boolean;
  /** The question whose card is open in the inbox; "" if the person closed them all. */
  question: string | null;
  /** The option chosen for each question, and the words written for it, before they are sent. */
  picks: Record<string, string>;
  words: Record<string, string>;
  /** The question that changed while its answer was written. */
  stale: string | null;
  /** The phases whose steps the waterfall lists; null: those that the server chooses. */
  expanded: Set<string> | null;
  /** The selected row of the waterfall. */
  chosen: string | null;
  /** Notes on lines of the diff that are not sent yet, and the one being written. */
  notes: LineNote[];
  noting: { readonly at: number; text: string } | null;
  toast: string | null;
  dialog: "keys" | "more" | "stop" | null;
  confirm: string;
  code: string;
  codeSays: string | null;
  busy: boolean;
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
  held: false,
  single: sessionStorage.getItem("autopilot.keys") !== "off",
  question: null,
  picks: {},
  words: {},
  stale: null,
  expanded: null,
  chosen: null,
  notes: [],
  noting: null,
  toast: null,
  dialog: null,
  confirm: "",
  code: "",
  codeSays: null,
  busy: false,
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

let toastTimer = 0;
export function toast(text: string): void {
  state.toast = text;
  clearTimeout(toastTimer);
  toastTimer = window.setTimeout(() => {
    state.toast = null;
    draw();
  }, 4_000);
  draw();
}

/** The server's time at the last load, and this page's monotonic clock then: the browser's wall clock may be wrong. */
let clock = { at: 0, seen: 0 };
export const setClock = (iso: string): void => void (clock = { at: Date.parse(iso), seen: performance.now() });
export const serverNow = (): string => new Date(clock.at + (clock.at === 0 ? 0 : performance.now() - clock.seen)).toISOString();

export const pageLink = (page: PageName, ...words: readonly (string | number | null)[]): string =>
  `#${[page, ...words.filter((word) => word !== null).map((word) => encodeURIComponent(String(word)))].join("/")}`;
