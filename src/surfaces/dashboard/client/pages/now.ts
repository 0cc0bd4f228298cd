// now: whether anything waits for a person, who is at work, what ended today, and the limits.

import type { RunCard } from "../../../../views/facts/run-card.ts";
import { type Child, el, type Element, foreignText } from "../../../../views/web/element.ts";
import {
  emptyState,
  commandBox,
  definitionList,
  limitMeter,
  section,
  timeElement,
  segmentTrack,
} from "../../../../views/web/components.ts";
import { icon, stateIcon, stateLabel } from "../../../../views/web/icons.ts";
import { elapsedText, figure, money, percent, plural, shortNumber } from "../../../../views/web/page-figures.ts";
import { copy } from "../actions.ts";
import { h1 } from "../controls.ts";
import { wholeRows } from "../in-parts.ts";
import { href, now, state } from "../store.ts";

const asksShownMax = 3;
const endedShownMax = 12;

export function nowPage(): Child {
  const { overview } = state;
  if (overview === null) return h1("…");
  if (overview.runs.length === 0 && overview.unreadable.length === 0 && !overview.hasPortfolio) return noRuns();
  const asks = overview.attention;
  const openRunCards = overview.runs.filter(
    ({ state: word }) => word === "running" || word === "paused" || word === "interrupted" || word === "draft",
  );
  const atWork = openRunCards.filter(({ state: word }) => word !== "draft");
  const today = overview.at.slice(0, 10);
  const endedRuns = overview.runs.filter(({ state: word }) => word === "completed" || word === "stopped");
  const endedToday = endedRuns.filter((run) => (run.ended_at ?? run.updated_at).startsWith(today));
  const shownRuns = endedToday.length > 0 ? endedToday : endedRuns;
  return [
    el(
      "div.head",
      el(
        "div",
        h1(asks.length === 0 ? "Nothing needs you" : `${figure(asks.length)} ${asks.length === 1 ? "thing needs" : "things need"} you`),
        el("p", state.connection === "gone" ? el("strong", "As of then: ") : null, sentence(overview.runs, endedToday.length)),
      ),
    ),
    el(
      "div.cols",
      el(
        "div",
        asks.length === 0
          ? section(
              "Needs you",
              "",
              el("div.panel", el("div.item.second", "Nothing waits for you. When something does, it is the first thing here.")),
            )
          : needsYou(),
        atWork.length === 0
          ? null
          : section("At work", plural(atWork.length, "open run"), el("div.panel", atWork.map(findLine(wholeRows("now", atWork.length))))),
        openRunCards.length === atWork.length
          ? null
          : section(
              "Drafts",
              "not started",
              el("div.panel", openRunCards.filter(({ state: word }) => word === "draft").map(findLine(Infinity))),
            ),
        shownRuns.length === 0
          ? null
          : section(
              endedToday.length > 0 ? "Ended today" : "Ended before",
              endedWords(shownRuns),
              el("div.panel", shownRuns.slice(0, endedShownMax).map(endedLine)),
              shownRuns.length > endedShownMax
                ? el("p.tiny.dim.gap-top", `${figure(shownRuns.length - endedShownMax + overview.more)} more: autopilot runs --all`)
                : null,
            ),
        overview.unreadable.length === 0
          ? null
          : section(
              "Cannot be read",
              "",
              el(
                "div.panel",
                overview.unreadable.map(({ key, run, problem }) =>
                  el("div.item", { key }, stateLabel("bad", run), el("div.tiny.second", foreignText(problem))),
                ),
              ),
            ),
      ),
      el("aside", { "aria-label": "Limits and today" }, limits(atWork), runnersDay()),
    ),
  ];
}

function sentence(runs: readonly RunCard[], ended: number): string {
  const count = (shape: string): number => runs.filter((run) => run.shape === shape && run.state !== "completed").length;
  const parked = runs.find(({ shape }) => shape === "parked");
  return (
    [
      `${plural(runs.filter(({ live, state: word }) => live && word === "running").length, "run")} at work`,
      ...(count("parked") === 0
        ? []
        : [`${count("parked")} parked${parked?.until == null ? "" : ` until ${parked.until.slice(11, 16)} UTC`}`]),
      ...(count("paused") === 0 ? [] : [`${count("paused")} paused`]),
      `${figure(ended)} ended today`,
    ].join(", ") + "."
  );
}

function needsYou(): Element {
  const asks = state.overview?.attention ?? [];
  return section(
    "Needs you",
    "what holds up most comes first",
    el(
      "div.panel.asks",
      asks
        .slice(0, asksShownMax)
        .map((ask) =>
          el(
            "a.item",
            { href: href("inbox", ask.key, ask.id), "data-row": "", key: `${ask.key} ${ask.id}` },
            stateIcon("you"),
            el("h3", foreignText(ask.question)),
            el("span.age.num.tiny.c-you", `waits ${elapsedText(ask.asked_at, now())}`),
            el("p", el("span.hidden-text", "needs you. "), `${ask.kind} · ${ask.project} · ${ask.impact}`),
          ),
        ),
      asks.length > asksShownMax
        ? el(
            "a.item.tiny.second",
            { href: "#inbox", "data-row": "", style: { display: "block" } },
            `${figure(asks.length - asksShownMax)} more in the Inbox`,
          )
        : null,
    ),
  );
}

const findLine =
  (whole: number) =>
  (run: RunCard, at: number): Element =>
    at < whole ? runLine(run) : runName(run);

/** A run far down, before the rest of its line is drawn. */
const runName = (run: RunCard): Element =>
  el(
    "a.item.run-line",
    { href: href("run", run.key), "data-row": "", key: run.key },
    el("span.title", el("b.cut", foreignText(run.goal)), el("span.hidden-text", `, ${run.word}`)),
    el("span.now-line", el("span.project", foreignText(run.project))),
  );

function runLine(run: RunCard): Element {
  const line = state.overview?.live[run.key] ?? "";
  return el(
    "a.item.run-line",
    { href: href("run", run.key), "data-row": "", key: run.key },
    el(
      "span.title",
      stateIcon(run.shape),
      el("b.cut", foreignText(run.goal)),
      run.foreign ? el("span.tiny.dim.no-wrap", "from elsewhere") : null,
      el("span.hidden-text", `, ${run.word}`),
    ),
    el("span.gauge", segmentTrack(run.segments, run.at), el("span.num", run.at)),
    el(
      "span.gauge.budget",
      run.used === null
        ? null
        : [
            limitMeter(run.used.ratio, run.used.soft, `${percent(run.used.ratio)} of ${run.used.of}`),
            el("span.num", `${percent(run.used.ratio)} ${run.used.of}`),
          ],
    ),
    el(
      "span.tiny.dim.right.no-wrap.num",
      run.shape === "parked" && run.until !== null ? `until ${run.until.slice(11, 16)}` : elapsedText(run.started_at, now()),
    ),
    el(
      "span.now-line",
      el("span.project", foreignText(run.project)),
      run.live && run.shape === "run" ? el("span.pulse") : null,
      el(
        "span.cut",
        line === ""
          ? el(
              "span.dim",
              run.shape === "run"
                ? foreignText(run.place)
                : run.word === "paused" || run.word === "interrupted"
                  ? foreignText(run.meaning)
                  : run.word,
            )
          : foreignText(line),
      ),
    ),
  );
}

function endedLine(run: RunCard): Element {
  const proof = run.criteria === 0 ? run.at : `${run.proved} of ${run.criteria} proved`;
  return el(
    "a.item.ended",
    { href: href("run", run.key), "data-row": "", key: run.key },
    stateIcon(run.shape),
    el("span.cut", foreignText(run.goal), " ", el("span.dim.tiny", foreignText(run.project))),
    el("span.tiny.second.no-wrap", `${run.word}${proof === "" ? "" : `, ${proof}`}`),
    el("span.tiny.dim.num.right", run.usd > 0 ? money(run.usd) : `${shortNumber(run.tokens)} tokens`),
    el("span.tiny.dim.num.right", timeElement(run.ended_at ?? run.updated_at)),
  );
}

function endedWords(runs: readonly RunCard[]): string {
  const sum = (of: (run: RunCard) => number): number => runs.reduce((total, run) => total + of(run), 0);
  const usd = sum((run) => run.usd);
  return `${plural(runs.length, "run")}, ${sum((run) => run.proved)} of ${sum((run) => run.criteria)} criteria proved${usd > 0 ? `, ${money(usd)}` : ""}`;
}

function limits(openRunCards: readonly RunCard[]): Element {
  const used = openRunCards.flatMap((run) => (run.used === null ? [] : [{ run, ...run.used }])).toSorted((a, b) => b.ratio - a.ratio);
  const broken = openRunCards.filter(({ breaker }) => breaker !== "closed").length;
  const levels = [...new Set(openRunCards.map(({ isolation }) => isolation))].join(", ");
  return section(
    "Limits",
    "",
    el(
      "div.panel.pad.stack",
      used
        .slice(0, 3)
        .map(({ run, of, ratio, soft }) =>
          el(
            "div",
            { key: run.key },
            el(
              "div.row.small",
              el("span.cut", foreignText(run.goal)),
              el("span.grow"),
              el("span.num.tiny.second.no-wrap", `${percent(ratio)} of ${of}`),
            ),
            limitMeter(ratio, soft, `${percent(ratio)} of ${of} used`),
            ratio >= soft ? el("div.tiny.c-you", `Over the warning line at ${percent(soft)}`) : null,
          ),
        ),
      definitionList([
        [
          "Breaker",
          openRunCards.length === 0
            ? "no open run"
            : broken === 0
              ? stateLabel("ok", "closed in all runs")
              : stateLabel("bad", `open in ${plural(broken, "run")}`),
        ],
        ["Isolation", levels === "" ? "–" : levels],
      ]),
    ),
  );
}

function runnersDay(): Element {
  const day = state.overview?.today;
  return section(
    "Today, by the runner itself",
    "",
    el(
      "div.panel.pad",
      definitionList(
        [
          ["Checks run", figure(day?.checks ?? 0)],
          ["Claims looked up", figure(day?.claims ?? 0)],
          ["Found false", figure(day?.refuted ?? 0)],
          ["Attempts not kept", figure(day?.set_aside ?? 0)],
          ["Times a run was opened", figure(day?.openings ?? 0)],
        ],
        "ends num",
      ),
    ),
  );
}

const noRuns = (): Child => [
  el("div.head", el("div", h1("Nothing runs yet"))),
  emptyState(
    {
      icon: icon("logo"),
      title: "No run was ever started here",
      text: "A run is drafted in the terminal, shown as a preview, and starts when you acknowledge it. From then on you can follow it here.",
    },
    commandBox("autopilot doctor", copy),
    commandBox('autopilot "what you want done"', copy),
    commandBox("autopilot demo", copy),
  ),
];
