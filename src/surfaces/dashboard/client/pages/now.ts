// now: renders the dashboard's first page: what waits for a person, which runs are at work, what
// ended today, and the limits.

import type { AttentionItem } from "../../../../views/facts/attention.ts";
import type { RunCard } from "../../../../views/facts/run-card.ts";
import type { Overview } from "../../../../commands/dashboard/overview.ts";
import { type Child, el, type Element, foreignText } from "../../../../views/web/element.ts";
import {
  emptyState,
  commandBox,
  definitionList,
  limitMeter,
  section,
} from "../../../../views/web/components.ts";
import { icon, stateIcon, stateLabel } from "../../../../views/web/icons.ts";
import {
  formatElapsed,
  formatNumber,
  formatMoney,
  formatShare,
  plural,
} from "../../../../views/web/format-numbers.ts";
import { copyText } from "../actions.ts";
import { pageHeading } from "../controls.ts";
import { countDetailedRows } from "../detailed-rows.ts";
import { pageLink, serverNow, state } from "../store.ts";
import { briefRunLine, endedLine, runLine } from "./run-lines.ts";

const itemsShownMax = 3;
const endedShownMax = 12;
/** The runs that are nearest to a limit. */
const limitsShownMax = 3;

export function nowPage(): Child {
  const { overview } = state;
  if (overview === null) return pageHeading("…");
  const { runs, attention, unreadable } = overview;
  if (runs.length === 0 && unreadable.length === 0 && !overview.hasPortfolio) return noRuns();
  const atWork = runs.filter(
    (run) => run.state === "running" || run.state === "paused" || run.state === "interrupted",
  );

  const drafts = runs.filter((run) => run.state === "draft");
  const ended = runs.filter((run) => run.state === "completed" || run.state === "stopped");
  const today = overview.at.slice(0, 10);
  const endedToday = ended.filter((run) => (run.ended_at ?? run.updated_at).startsWith(today));

  return [
    pageHead(attention.length, summarySentence(runs, endedToday.length)),
    el(
      "div.cols",
      el(
        "div",
        attention.length === 0 ? nothingNeedsYou() : needsYou(attention),
        atWork.length === 0 ? null : atWorkSection(atWork),
        drafts.length === 0
          ? null
          : section("Drafts", "not started", el("div.panel", drafts.map(runLine))),
        endedToday.length > 0
          ? endedSection("Ended today", endedToday, overview.unlistedRuns)
          : endedSection("Ended before", ended, overview.unlistedRuns),
        unreadable.length === 0 ? null : unreadableSection(unreadable),
      ),
      el("aside", { "aria-label": "Limits and today" }, limits(atWork), runnersDay(overview.today)),
    ),
  ];
}

function pageHead(asked: number, summary: string): Element {
  const title =
    asked === 0
      ? "Nothing needs you"
      : `${formatNumber(asked)} ${asked === 1 ? "thing needs" : "things need"} you`;
  return el(
    "div.head",
    el(
      "div",
      pageHeading(title),
      el("p", state.connection === "gone" ? el("strong", "As of then: ") : null, summary),
    ),
  );
}

function summarySentence(runs: readonly RunCard[], ended: number): string {
  const count = (shape: string): number =>
    runs.filter((run) => run.shape === shape && run.state !== "completed").length;
  const running = runs.filter((run) => run.hasOwner && run.state === "running").length;
  const parts = [`${plural(running, "run")} at work`];
  const parkedUntil = runs.find(({ shape }) => shape === "parked")?.parkedUntil ?? null;

  if (count("parked") > 0) {
    parts.push(
      `${count("parked")} parked${parkedUntil === null ? "" : ` until ${parkedUntil.slice(11, 16)} UTC`}`,
    );
  }

  if (count("paused") > 0) parts.push(`${count("paused")} paused`);
  return `${[...parts, `${formatNumber(ended)} ended today`].join(", ")}.`;
}

const nothingNeedsYou = (): Element =>
  section(
    "Needs you",
    "",
    el(
      "div.panel",
      el(
        "div.item.second",
        "Nothing waits for you. When something does, it is the first thing here.",
      ),
    ),
  );

function needsYou(items: readonly AttentionItem[]): Element {
  return section(
    "Needs you",
    "what holds up most comes first",
    el(
      "div.panel.asks",
      items.slice(0, itemsShownMax).map((item) =>
        el(
          "a.item",
          {
            href: pageLink("inbox", item.key, item.id),
            "data-row": "",
            key: `${item.key} ${item.id}`,
          },
          stateIcon("you"),
          el("h3", foreignText(item.question)),
          el("span.age.num.tiny.c-you", `waits ${formatElapsed(item.asked_at, serverNow())}`),
          el(
            "p",
            el("span.hidden-text", "needs you. "),
            `${item.kind} · ${item.project} · ${item.impact}`,
          ),
        ),
      ),
      items.length > itemsShownMax
        ? el(
            "a.item.tiny.second",
            { href: "#inbox", "data-row": "", style: { display: "block" } },
            `${formatNumber(items.length - itemsShownMax)} more in the Inbox`,
          )
        : null,
    ),
  );
}

function atWorkSection(runs: readonly RunCard[]): Element {
  const detailed = countDetailedRows("now", runs.length);
  return section(
    "At work",
    plural(runs.length, "open run"),
    el(
      "div.panel",
      runs.map((run, index) => (index < detailed ? runLine(run) : briefRunLine(run))),
    ),
  );
}

/** `unlistedCount`: how many ended runs the server left out. */
function endedSection(
  title: string,
  runs: readonly RunCard[],
  unlistedCount: number,
): Element | null {
  if (runs.length === 0) return null;
  const hidden = runs.length - endedShownMax;
  return section(
    title,
    endedSummary(runs),
    el("div.panel", runs.slice(0, endedShownMax).map(endedLine)),
    hidden > 0
      ? el(
          "p.tiny.dim.gap-top",
          `${formatNumber(hidden + unlistedCount)} more: autopilot runs --all`,
        )
      : null,
  );
}

function unreadableSection(unreadable: Overview["unreadable"]): Element {
  const rows = unreadable.map(({ key, run, problem }) =>
    el("div.item", { key }, stateLabel("bad", run), el("div.tiny.second", foreignText(problem))),
  );
  return section("Cannot be read", "", el("div.panel", rows));
}

function endedSummary(runs: readonly RunCard[]): string {
  const sum = (valueOf: (run: RunCard) => number): number =>
    runs.reduce((total, run) => total + valueOf(run), 0);
  const usd = sum((run) => run.usd);
  const proved = `${sum((run) => run.provedCount)} of ${sum((run) => run.criteriaCount)} criteria proved`;

  return [plural(runs.length, "run"), proved, ...(usd > 0 ? [formatMoney(usd)] : [])].join(", ");
}

function limits(openRunCards: readonly RunCard[]): Element {
  const used = openRunCards
    .flatMap((run) => (run.fullestLimit === null ? [] : [{ run, ...run.fullestLimit }]))
    .toSorted((left, right) => right.ratio - left.ratio);

  const levels = [...new Set(openRunCards.map(({ isolation }) => isolation))].join(", ");
  return section(
    "Limits",
    "",
    el(
      "div.panel.pad.stack",
      used
        .slice(0, limitsShownMax)
        .map(({ run, of, ratio, soft }) =>
          el(
            "div",
            { key: run.key },
            el(
              "div.row.small",
              el("span.cut", foreignText(run.goal)),
              el("span.grow"),
              el("span.num.tiny.second.no-wrap", `${formatShare(ratio)} of ${of}`),
            ),
            limitMeter(ratio, soft, `${formatShare(ratio)} of ${of} used`),
            ratio >= soft
              ? el("div.tiny.c-you", `Over the warning line at ${formatShare(soft)}`)
              : null,
          ),
        ),
      definitionList([
        ["Breaker", breakerSummary(openRunCards)],
        ["Isolation", levels === "" ? "–" : levels],
      ]),
    ),
  );
}

function breakerSummary(openRunCards: readonly RunCard[]): Child {
  if (openRunCards.length === 0) return "no open run";
  const open = openRunCards.filter(({ breaker }) => breaker !== "closed").length;
  return open === 0
    ? stateLabel("ok", "closed in all runs")
    : stateLabel("bad", `open in ${plural(open, "run")}`);
}

function runnersDay(day: Overview["today"]): Element {
  return section(
    "Today, by the runner itself",
    "",
    el(
      "div.panel.pad",
      definitionList(
        [
          ["Checks run", formatNumber(day.checks)],
          ["Claims looked up", formatNumber(day.claims)],
          ["Found false", formatNumber(day.refuted)],
          ["Attempts not kept", formatNumber(day.set_aside)],
          ["Times a run was opened", formatNumber(day.openings)],
        ],
        "ends num",
      ),
    ),
  );
}

const noRuns = (): Child => [
  el("div.head", el("div", pageHeading("Nothing runs yet"))),
  emptyState(
    {
      icon: icon("logo"),
      title: "No run was ever started here",
      text: "A run is drafted in the terminal, shown as a preview, and starts when you acknowledge it. From then on you can follow it here.",
    },
    commandBox("autopilot doctor", copyText),
    commandBox('autopilot "what you want done"', copyText),
    commandBox("autopilot demo", copyText),
  ),
];
