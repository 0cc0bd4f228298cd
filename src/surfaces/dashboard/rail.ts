// rail: renders the dashboard's navigation, the list of pages beside the content. The server draws
// it first, then the script.

import { type Child, el, type Element } from "../../views/web/element.ts";
import { type Icon, icon, stateIcon } from "../../views/web/icons.ts";
import { formatNumber } from "../../views/web/format-numbers.ts";

export const pageKeys = [
  "now",
  "inbox",
  "run",
  "log",
  "diff",
  "portfolio",
  "fleet",
  "cost",
  "settings",
] as const;
export type PageName = (typeof pageKeys)[number];

/** The pages that show one run. */
export const isAboutRun = (page: PageName): boolean =>
  page === "run" || page === "log" || page === "diff";

/** `key`: the letter that opens the page after `g`. */
export const pageNames: Readonly<
  Record<PageName, readonly [word: string, icon: Icon, key: string]>
> = {
  now: ["Now", "now", "n"],
  inbox: ["Inbox", "inbox", "i"],
  run: ["Run", "runs", "r"],
  log: ["Log", "log", "l"],
  diff: ["Diff", "diff", "d"],
  portfolio: ["Portfolio", "portfolio", "p"],
  fleet: ["Fleet", "fleet", "f"],
  cost: ["Cost", "cost", "c"],
  settings: ["Settings", "settings", "s"],
};

/** `waits`: how many things wait for the person. */
export type RailState = {
  readonly page: PageName | null;
  readonly waits: number;
  readonly addressOf: (page: PageName) => string;
};

export function railItem(page: PageName, kind: string, rail: RailState): Element {
  const [word, shape] = pageNames[page];
  const waits = page === "inbox" ? rail.waits : 0;
  return el(
    kind === "" ? "a" : `a.${kind}`,
    { href: rail.addressOf(page), ...(rail.page === page ? { "aria-current": "page" } : {}) },
    icon(shape),
    word,
    waits === 0
      ? null
      : el(
          "span.count",
          stateIcon("you"),
          el("span.num", formatNumber(waits)),
          el("span.hidden-text", " need you"),
        ),
  );
}

export const renderRail = (rail: RailState, hasFleet: boolean, foot: Child): Element =>
  el(
    "nav.rail",
    { "aria-label": "Pages" },
    el(
      "a.brand",
      { href: "#now", "aria-label": "autopilot, to Now" },
      icon("logo"),
      el("span", "autopilot"),
    ),
    ...(["now", "inbox", "run"] as const).map((page) => railItem(page, "nav", rail)),
    railItem("log", "nav.sub", rail),
    railItem("diff", "nav.sub", rail),
    railItem("portfolio", "nav", rail),
    hasFleet ? railItem("fleet", "nav", rail) : null,
    ...(["cost", "settings"] as const).map((page) => railItem(page, "nav", rail)),
    el("div.foot", foot),
  );

/** The navigation on a phone, at the lower edge: four pages, and `more` for the rest. */
export const railTabs = (rail: RailState, more: Child): Element =>
  el(
    "nav.tabs",
    { "aria-label": "Pages" },
    ...(["now", "inbox", "run", "portfolio"] as const).map((page) => railItem(page, "", rail)),
    more,
  );
