// report-file: a run as one file to send around: what was asked, the proof, the change, the cost, what happened when.
// What the runner proved and what agents say stand apart.

import { describeOrigin } from "../facts/origin.ts";
import { amount } from "../wording.ts";
import { burnDown, spendingCurve } from "./charts.ts";
import { type Child, el, type Element, foreignText } from "./element.ts";
import { forecastSection } from "./forecast-chart.ts";
import { command, facts, figures, notice, section } from "./pieces.ts";
import { page } from "./page-file.ts";
import { criteriaList, proofTable } from "./proof.ts";
import { change, claims, decisions, type FileReport, phases } from "./report-sections.ts";
import { mark, status } from "./shapes.ts";
import { waterfallList } from "./waterfall-list.ts";
import { figure, money, plural, short } from "./page-figures.ts";

export function reportFile(run: FileReport): string {
  const { card, report } = run;
  return page(
    `${card.goal.slice(0, 120)} · autopilot`,
    head(run),
    el("p.second.gap-top", foreignText(report.summary)),
    report.ending === null
      ? null
      : el(
          "div.gap-top",
          notice(mark(card.shape), card.shape === "bad" ? "bad" : card.shape === "ok" ? "plain" : "you", foreignText(report.ending)),
        ),
    report.forked_from === null ? null : el("p.second", foreignText(`Forked from ${describeOrigin(report.forked_from)}.`)),
    contents(run),
    numbers(run),
    anchored("asked", objectiveSection(run)),
    anchored("proof", proof(run)),
    anchored("time", section("What happened, in time", "UTC", waterfallList(run.waterfall))),
    anchored("cost", cost(run)),
    forecastSection(card.flow, run.forecasts ?? [], card.run),
    report.phases.length === 0 ? null : anchored("phases", phases(run)),
    anchored("change", change(run)),
    anchored("claims", claims(run)),
    decisions(run),
    footer(run),
  );
}

const anchored = (id: string, content: Child): Element => el("div", { id }, content);

const contents = ({ report }: FileReport): Element =>
  el(
    "nav.toc",
    { "aria-label": "In this report" },
    [
      ["asked", "Asked for"],
      ["proof", "Proof"],
      ["time", "In time"],
      ["cost", "Cost"],
      ...(report.phases.length === 0 ? [] : [["phases", "Phases"]]),
      ["change", "Change"],
      ["claims", "Claims"],
    ].map(([id, word]) => el("a.link", { href: `#${id ?? ""}` }, word ?? "")),
  );

const head = ({ card, branch, agents, isolation, at }: FileReport): Element =>
  el(
    "div.head",
    el(
      "div",
      el("div.tiny.dim", foreignText(card.project), " / ", el("span.mono", card.run)),
      el("h1", foreignText(card.goal)),
      el(
        "div.meta",
        status(card.shape, card.word),
        el("span", card.at === "" ? card.flow : `${card.flow}, ${card.at}`),
        el("span", [...new Set(agents.map(([, agent]) => agent))].join(" · ")),
        el("span", `isolation ${isolation.level}`),
        el("span.mono", branch),
        el("span.dim", `as of ${at.slice(0, 16).replace("T", " ")} UTC`),
      ),
    ),
  );

function numbers({ card, report }: FileReport): Element {
  const passed = report.evidence.filter(({ status: word }) => word === "passed").length;
  return figures([
    {
      name: "Verdict",
      value: card.verdict === null ? card.word : card.verdict.replaceAll("_", " "),
      note: card.landed ? "the work is on the branch it began from" : "the work is on the run's own branch",
    },
    {
      name: "Proved",
      value: card.criteria === 0 ? `${figure(report.gates)} gates` : `${card.proved} of ${card.criteria}`,
      note: `${figure(passed)} of ${plural(report.evidence.length, "check")} pass`,
    },
    {
      name: "Change",
      value: plural(report.changes.files, "file"),
      note: `+${figure(report.changes.insertions ?? 0)} −${figure(report.changes.deletions ?? 0)} in ${plural(report.changes.commits.length, "commit")}`,
    },
    {
      name: "Cost",
      value: report.cost.usd > 0 ? money(report.cost.usd) : `${short(report.cost.tokens)} tokens`,
      note: `${short(report.cost.tokens)} tokens in ${plural(report.cost.calls, "call")}, ${amount("minutes", report.cost.minutes)}`,
    },
  ]);
}

function objectiveSection({ report, scope, goal_rest: rest }: FileReport): Child {
  return [
    report.criteria.length === 0 && rest === "" ? null : section("Asked for", "", criteriaList(report.criteria, rest)),
    section(
      "Scope",
      "what could be changed",
      el(
        "div.panel.pad.mono",
        scope.map((pattern) => el("div", foreignText(pattern))),
      ),
    ),
  ];
}

function proof({ report, card }: FileReport): Child {
  return [
    section(
      "Proof",
      "made by the runner itself",
      report.evidence.length === 0
        ? el("div.panel.pad.second", `No check proved anything. ${plural(report.gates, "gate")} held.`)
        : proofTable(report.evidence),
    ),
    report.gaps.length === 0 ? null : section("Not proved", "", list(report.gaps, "gap")),
    report.blockers.length === 0 ? null : section("In the way", "", list(report.blockers, "bad")),
    report.look_at.length === 0
      ? null
      : section(
          "Look at",
          "what a person should see",
          el("div.panel.pad", facts(report.look_at.map(({ path, what }) => [el("span.mono", foreignText(path)), foreignText(what)]))),
        ),
    section("Check it again", "on a machine that has the run", command(`autopilot verify --run ${card.run}`)),
  ];
}

const list = (items: readonly string[], shape: "gap" | "bad"): Element =>
  el(
    "ul.panel",
    items.map((item) => el("li.item.row.top", mark(shape), el("span", foreignText(item)))),
  );

function cost({ points, budget, waterfall, card, at, report }: FileReport): Element {
  const until = card.ended_at ?? at;
  const chart = burnDown(points, budget, waterfall.from, until) ?? spendingCurve(points, waterfall.from, until);
  const rows = (["tokens", "minutes", "calls", "usd"] as const).map((dimension) => {
    const limit = budget.limits[dimension];
    return [
      dimension,
      `${amount(dimension, budget.counters[dimension])}${limit === undefined ? ", no limit" : ` of ${amount(dimension, limit)}`}`,
    ] as const;
  });
  return section(
    "Cost over time",
    report.cost.estimated > 0 ? "part of it is an estimate" : "",
    el("div.panel.two", el("div", chart ?? el("p.pad.second", "Nothing was spent.")), el("div.pad", facts(rows))),
  );
}

const footer = ({ product, journal, isolation, at }: FileReport): Element =>
  el(
    "footer",
    el(
      "p",
      `Made by ${product} at ${at}. Isolation ${isolation.level}, ${isolation.mechanism}${isolation.not_enforced.length === 0 ? "" : `; not enforced: ${isolation.not_enforced.join(", ")}`}.`,
    ),
    el("p.mono", `Journal: ${figure(journal.events)} events, head ${journal.head}`),
  );
