// report-file: renders the report of a run as one HTML file to send around: what was asked for, the
// proof, the change, the cost, the timeline. What the runner proved and what agents claim are in
// separate sections.

import { describeOrigin } from "../facts/fork-origin.ts";
import type { Shape } from "../facts/shape.ts";
import { formatAmount } from "../wording.ts";
import { burnDownChart, spendingChart } from "./charts.ts";
import { type Child, el, type Element, foreignText } from "./element.ts";
import { forecastSection } from "./forecast-chart.ts";
import { commandBox, definitionList, figureRow, noticeBox, section } from "./components.ts";
import { renderHtmlPage } from "./page-file.ts";
import { criteriaList, proofTable } from "./proof-table.ts";
import {
  changeSection,
  claimsSection,
  decisionsSection,
  type ReportFileInput,
  phasesSection,
} from "./report-sections.ts";
import { stateIcon, stateLabel } from "./icons.ts";
import { waterfallList } from "./waterfall-list.ts";
import { formatNumber, formatMoney, plural, shortNumber } from "./format-numbers.ts";

export function renderReportFile(run: ReportFileInput): string {
  const { card, report } = run;
  return renderHtmlPage(
    `${card.goal.slice(0, 120)} · autopilot`,
    reportHeader(run),
    el("p.second.gap-top", foreignText(report.summary)),
    report.ending === null
      ? null
      : el(
          "div.gap-top",
          noticeBox(
            { icon: stateIcon(card.shape), kind: noticeKinds[card.shape] ?? "you" },
            foreignText(report.ending),
          ),
        ),
    report.forked_from === null
      ? null
      : el("p.second", foreignText(`Forked from ${describeOrigin(report.forked_from)}.`)),
    tableOfContents(run),
    mainFigures(run),
    withAnchor("asked", objectiveSection(run)),
    withAnchor("proof", proofSection(run)),
    withAnchor("time", section("What happened, in time", "UTC", waterfallList(run.waterfall))),
    withAnchor("cost", costSection(run)),
    forecastSection(card.flow, run.forecasts ?? [], card.run),
    report.phases.length === 0 ? null : withAnchor("phases", phasesSection(run)),
    withAnchor("change", changeSection(run)),
    withAnchor("claims", claimsSection(run)),
    decisionsSection(run),
    reportFooter(run),
  );
}

const noticeKinds: Partial<Record<Shape, "plain" | "bad">> = { bad: "bad", ok: "plain" };
const withAnchor = (id: string, content: Child): Element => el("div", { id }, content);

const tableOfContents = ({ report }: ReportFileInput): Element =>
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

const reportHeader = ({ card, branch, agents, isolation, at }: ReportFileInput): Element =>
  el(
    "div.head",
    el(
      "div",
      el("div.tiny.dim", foreignText(card.project), " / ", el("span.mono", card.run)),
      el("h1", foreignText(card.goal)),
      el(
        "div.meta",
        stateLabel(card.shape, card.word),
        el("span", card.progressText === "" ? card.flow : `${card.flow}, ${card.progressText}`),
        el("span", [...new Set(agents.map(([, agent]) => agent))].join(" · ")),
        el("span", `isolation ${isolation.level}`),
        el("span.mono", branch),
        el("span.dim", `as of ${at.slice(0, 16).replace("T", " ")} UTC`),
      ),
    ),
  );

function mainFigures({ card, report }: ReportFileInput): Element {
  const passed = report.evidence.filter(({ status: word }) => word === "passed").length;
  return figureRow([
    {
      name: "Verdict",
      value: card.verdict === null ? card.word : card.verdict.replaceAll("_", " "),
      note: card.hasLanded
        ? "the work is on the branch it began from"
        : "the work is on the run's own branch",
    },
    {
      name: "Proved",
      value:
        card.criteriaCount === 0
          ? `${formatNumber(report.gates)} gates`
          : `${card.provedCount} of ${card.criteriaCount}`,
      note: `${formatNumber(passed)} of ${plural(report.evidence.length, "check")} pass`,
    },
    {
      name: "Change",
      value: plural(report.changes.files, "file"),
      note: `+${formatNumber(report.changes.insertions ?? 0)} −${formatNumber(report.changes.deletions ?? 0)} in ${plural(report.changes.commits.length, "commit")}`,
    },
    {
      name: "Cost",
      value:
        report.cost.usd > 0
          ? formatMoney(report.cost.usd)
          : `${shortNumber(report.cost.tokens)} tokens`,
      note: `${shortNumber(report.cost.tokens)} tokens in ${plural(report.cost.calls, "call")}, ${formatAmount("minutes", report.cost.minutes)}`,
    },
  ]);
}

function objectiveSection({ report, scope, goal_rest: goalRest }: ReportFileInput): Child {
  return [
    report.criteria.length === 0 && goalRest === ""
      ? null
      : section("Asked for", "", criteriaList(report.criteria, goalRest)),
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

function proofSection({ report, card }: ReportFileInput): Child {
  return [
    section(
      "Proof",
      "made by the runner itself",
      report.evidence.length === 0
        ? el(
            "div.panel.pad.second",
            `No check proved anything. ${plural(report.gates, "gate")} held.`,
          )
        : proofTable(report.evidence),
    ),
    report.gaps.length === 0 ? null : section("Not proved", "", iconList(report.gaps, "gap")),
    report.blockers.length === 0
      ? null
      : section("In the way", "", iconList(report.blockers, "bad")),
    report.look_at.length === 0
      ? null
      : section(
          "Look at",
          "what a person should see",
          el(
            "div.panel.pad",
            definitionList(
              report.look_at.map(({ path, what }) => [
                el("span.mono", foreignText(path)),
                foreignText(what),
              ]),
            ),
          ),
        ),
    section(
      "Check it again",
      "on a machine that has the run",
      commandBox(`autopilot verify --run ${card.run}`),
    ),
  ];
}

const iconList = (items: readonly string[], shape: "gap" | "bad"): Element =>
  el(
    "ul.panel",
    items.map((item) => el("li.item.row.top", stateIcon(shape), el("span", foreignText(item)))),
  );

function costSection({ points, budget, waterfall, card, at, report }: ReportFileInput): Element {
  const period = { from: waterfall.startsAt, until: card.ended_at ?? at };
  const chart = burnDownChart(points, budget, period) ?? spendingChart(points, period);

  const rows = (["tokens", "minutes", "calls", "usd"] as const).map((dimension) => {
    const limit = budget.limits[dimension];
    return [
      dimension,
      `${formatAmount(dimension, budget.counters[dimension])}${limit === undefined ? ", no limit" : ` of ${formatAmount(dimension, limit)}`}`,
    ] as const;
  });
  return section(
    "Cost over time",
    report.cost.estimated > 0 ? "part of it is an estimate" : "",
    el(
      "div.panel.two",
      el("div", chart ?? el("p.pad.second", "Nothing was spent.")),
      el("div.pad", definitionList(rows)),
    ),
  );
}

function reportFooter({ product, journal, isolation, at }: ReportFileInput): Element {
  const notEnforced =
    isolation.not_enforced.length === 0
      ? ""
      : `; not enforced: ${isolation.not_enforced.join(", ")}`;

  return el(
    "footer",
    el(
      "p",
      `Made by ${product} at ${at}. Isolation ${isolation.level}, ${isolation.mechanism}${notEnforced}.`,
    ),
    el("p.mono", `Journal: ${formatNumber(journal.events)} events, head ${journal.head}`),
  );
}
