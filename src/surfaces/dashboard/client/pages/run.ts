// run: one run: its live line or why it rests, four figures, its waterfall with a pane, its budget, its proof, and apart from it the claims.

import type { WaterfallRow } from "../../../../views/facts/waterfall.ts";
import { burnDownChart } from "../../../../views/web/charts.ts";
import { type Child, el, type Element, foreignText } from "../../../../views/web/element.ts";
import { claimQuote, commandBox, definitionList, figureRow, limitMeter, notice, section } from "../../../../views/web/components.ts";
import { criteriaList, verifiedClaims, proofTable } from "../../../../views/web/proof-table.ts";
import { stateIcon, stateLabel } from "../../../../views/web/icons.ts";
import { waterfallList } from "../../../../views/web/waterfall-list.ts";
import { amount, figure, percent, plural, shortNumber, shortTime } from "../../../../views/web/page-figures.ts";
import type { ShownRun } from "../../../../commands/dashboard/run-page.ts";
import { copy } from "../actions.ts";
import { wholeRows } from "../in-parts.ts";
import { load } from "../loading.ts";
import { draw, href, state } from "../store.ts";
import { runHead } from "./run-head.ts";

const isWide = (): boolean => matchMedia("(min-width:1200px)").matches;

export function runPage(): Child {
  const top = runHead("run");
  const { run } = state;
  if ("instead" in top) return top.instead;
  if (run === null) return top.head; // one came from the log: the rest is on its way
  const { waterfall, report } = run;
  const row = waterfall.rows.find(({ id }) => id === state.chosen) ?? null;
  const claims = report.claims;
  return [
    top.head,
    describeState(run),
    strip(run),
    el(
      "div.cols",
      section("Waterfall", `${shortTime(waterfall.from)} to ${waterfall.nowMs < 0 ? "the end" : "now"}, UTC`, drawWaterfall(waterfall)),
      el("aside", { "aria-label": "Budget and step" }, budget(run), row !== null && isWide() ? el("div.side", pane(row)) : null),
    ),
    report.criteria.length === 0 && run.goal_rest === ""
      ? null
      : section(
          "Asked for",
          report.criteria.length === 0
            ? ""
            : `${report.criteria.filter(({ proved }) => proved).length} of ${report.criteria.length} proved`,
          criteriaList(report.criteria, run.goal_rest),
        ),
    report.evidence.length === 0
      ? null
      : section(
          "Proof",
          "made by the runner itself, failing first",
          proofTable(report.evidence, copy),
          el("div.gap-top", commandBox(`autopilot verify --run ${run.card.run}`, copy)),
        ),
    report.gaps.length === 0
      ? null
      : section(
          "Not proved",
          "",
          el(
            "ul.panel",
            report.gaps.map((gap) => el("li.item.row.top", { key: gap }, stateIcon("gap"), el("span", foreignText(gap)))),
          ),
        ),
    report.looked_up.claims.length === 0 ? null : section("What agents said, looked up", "", verifiedClaims(report.looked_up)),
    claims.length === 0
      ? null
      : section(
          "What agents say",
          "their word, no proof",
          el(
            "div.panel",
            claims.map((item) =>
              el("div.item", { key: item.attempt }, el("div.tiny.dim", `${item.agent}, ${item.attempt}`), claimQuote(item.said)),
            ),
          ),
        ),
  ];
}

let cachedWaterfall: { readonly of: readonly unknown[]; readonly element: Element } | null = null;

/** The same element while nothing of it changed: a run of 500 phases has thousands of parts, and a page is drawn for many other reasons. */
function drawWaterfall(waterfall: ShownRun["waterfall"]): Element {
  const whole = wholeRows(`waterfall ${state.key ?? ""}`, waterfall.rows.length);
  const of = [waterfall, state.chosen, isWide(), whole];
  if (cachedWaterfall === null || !of.every((value, at) => value === cachedWaterfall?.of[at]))
    cachedWaterfall = {
      of,
      element: waterfallList(waterfall, {
        selected: state.chosen,
        select: choose,
        detailedRows: whole,
        detailsOf: (waterfallRow) => (!isWide() && waterfallRow.id === state.chosen ? pane(waterfallRow) : null),
      }),
    };
  return cachedWaterfall.element;
}

function describeState(run: ShownRun): Child {
  const { card, live, next_actions: actions, detail } = run;
  if (card.state === "running" && card.live)
    return el(
      "div.panel.live",
      el("span.pulse"),
      el("span.mono.dim.no-wrap.wide-only", foreignText(card.place)),
      el("span.mono.cut", live === "" ? el("span.dim", "between two steps") : foreignText(live)),
      card.questions === 0 ? null : el("a.link.tiny.no-wrap", { href: "#inbox" }, `${plural(card.questions, "question")} in the Inbox`),
    );
  const ending = run.report.ending;
  if (card.state === "completed") return el("div.panel.live", stateIcon(card.shape), el("span", foreignText(ending ?? card.meaning)));
  return el(
    "div.gap-top",
    notice(
      { icon: stateIcon(card.shape), kind: card.state === "stopped" || card.state === "draft" ? "plain" : "you" },
      foreignText(card.meaning),
      el("div.tiny.dim.mono", card.reason),
      detail === null || detail === "" ? null : el("div.second", foreignText(detail)),
      card.questions === 0 ? null : el("div.gap-top", el("a.button", { href: "#inbox" }, "Answer in the Inbox")),
      el(
        "div.gap-top",
        actions
          .slice(0, 3)
          .map((action) =>
            action.startsWith("autopilot") || action.startsWith("git") ? commandBox(action, copy) : el("div.second", foreignText(action)),
          ),
      ),
    ),
  );
}

function strip({ card, report, budget: spent, breaker, breaker_words: words }: ShownRun): Element {
  const failing = report.evidence.filter(({ status: word }) => word === "failed").length;
  const tightest = card.used;
  const evidence = `${figure(report.evidence.filter(({ status: word }) => word === "passed").length)} of ${plural(report.evidence.length, "check")} ${report.evidence.length === 1 ? "passes" : "pass"}`;
  return figureRow([
    {
      name: "Progress",
      value: card.at === "" || card.criteria > 0 ? card.word : card.at,
      note: card.place === "" ? card.flow : foreignText(card.place),
    },
    {
      name: "Proved",
      value: card.criteria === 0 ? `${figure(report.gates)} gates` : `${card.proved} of ${card.criteria}`,
      note: failing > 0 ? `${plural(failing, "check")} ${failing === 1 ? "fails" : "fail"}` : evidence,
    },
    {
      name: tightest === null ? "Tokens" : tightest.of.replace(/^./, (first) => first.toUpperCase()),
      value: tightest === null ? shortNumber(card.tokens) : percent(tightest.ratio),
      note: tightest === null ? "no limit" : `${shortNumber(spent.counters.tokens)} tokens, warned at ${percent(tightest.soft)}`,
    },
    {
      name: "Breaker",
      value: breaker.state.replace("_", " "),
      note: words === "closed" ? "it isn't going in circles" : words.replace(/^closed, /, ""),
    },
  ]);
}

function budget({ budget: view, points, waterfall, at, card }: ShownRun): Element {
  const chart = burnDownChart(points, view, { from: waterfall.from, until: card.ended_at ?? at });
  return section(
    "Budget",
    chart === null ? "" : "what is left",
    el(
      "div.panel",
      chart,
      el(
        "div.pad.stack",
        (["tokens", "minutes", "calls", "usd"] as const).flatMap((dimension) => {
          const limit = view.limits[dimension];
          const used = view.counters[dimension];
          if (limit === undefined)
            return used === 0
              ? []
              : [
                  el(
                    "div.row.small",
                    { key: dimension },
                    el("span", dimension),
                    el("span.grow"),
                    el("span.num.tiny.second", `${amount(dimension, used)}, no limit`),
                  ),
                ];
          const ratio = view.ratios[dimension] ?? 0;
          return [
            el(
              "div",
              { key: dimension },
              el(
                "div.row.small",
                el("span", dimension),
                el("span.grow"),
                el(
                  "span.num.tiny.second",
                  `${dimension === "usd" ? amount(dimension, used) : shortNumber(used)} of ${amount(dimension, limit)}`,
                ),
              ),
              limitMeter(ratio, view.soft_ratio, `${percent(ratio)} of ${dimension} used`),
            ),
          ];
        }),
        view.warnings.map((warning) => el("div.tiny.c-you", { key: warning }, foreignText(warning))),
        el("p.tiny.dim", `A limit can be passed by ${view.overshoot} at most.`),
      ),
    ),
  );
}

function choose(row: WaterfallRow): void {
  const rows = state.run?.waterfall.rows ?? [];
  if (row.depth === 0 && row.kids > 0) {
    const open = state.expanded ?? new Set(rows.filter(({ depth, isExpanded }) => depth === 0 && isExpanded).map(({ id }) => id));
    if (state.chosen === row.id || !row.isExpanded) {
      if (row.isExpanded) open.delete(row.id);
      else open.add(row.id);
      state.expanded = open;
      void load();
    }
  }
  state.chosen = row.id;
  draw();
}

function pane(row: WaterfallRow): Element {
  return el(
    "div.panel.pane",
    { role: "region", "aria-label": `Step ${row.name}`, key: `pane ${row.id}` },
    el("h3", foreignText(row.name)),
    el("div", { style: { "margin-bottom": "12px" } }, stateLabel(row.shape, row.word)),
    definitionList([["Took", row.took], ...row.facts.map(([name, value]) => [name, foreignText(value)] as const)]),
    row.said === null || row.said === "" ? null : el("div.gap-top", el("div.tiny.dim", "The agent says, as a claim"), claimQuote(row.said)),
    el(
      "div.row.gap-top",
      el("a.link.tiny", { href: href("log", state.key) }, "The log"),
      el("a.link.tiny", { href: href("diff", state.key) }, "What changed"),
    ),
  );
}
