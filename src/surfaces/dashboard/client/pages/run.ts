// run: renders the page of one run: its live line or why it doesn't go on, key figures, waterfall,
// budget, the runner's proof, and the agents' claims.

import type { WaterfallRow } from "../../../../views/facts/waterfall.ts";
import { burnDownChart } from "../../../../views/web/charts.ts";
import { type Child, el, type Element, foreignText } from "../../../../views/web/element.ts";
import {
  claimQuote,
  commandBox,
  definitionList,
  figureRow,
  limitMeter,
  noticeBox,
  section,
} from "../../../../views/web/components.ts";
import { criteriaList, verifiedClaims, proofTable } from "../../../../views/web/proof-table.ts";
import { stateIcon, stateLabel } from "../../../../views/web/icons.ts";
import { waterfallList } from "../../../../views/web/waterfall-list.ts";
import {
  formatAmount,
  formatNumber,
  formatShare,
  plural,
  shortNumber,
  formatShortTime,
} from "../../../../views/web/format-numbers.ts";
import type { ShownRun } from "../../../../commands/dashboard/run-page.ts";
import { copyText } from "../actions.ts";
import { countDetailedRows } from "../detailed-rows.ts";
import { reloadPage } from "../loading.ts";
import { draw, pageLink, state } from "../store.ts";
import { runHead } from "./run-head.ts";

const isWide = (): boolean => matchMedia("(min-width:1200px)").matches;

export function runPage(): Child {
  const top = runHead("run");
  const { run } = state;
  if ("instead" in top) return top.instead;
  if (run === null) return top.head; // after a page that needs only the head, the rest is still being loaded
  const { waterfall } = run;
  const row = waterfall.rows.find(({ id }) => id === state.selectedRow) ?? null;

  return [
    top.head,
    describeState(run),
    keyFigures(run),
    el(
      "div.cols",
      section(
        "Waterfall",
        `${formatShortTime(waterfall.startsAt)} to ${waterfall.nowMs < 0 ? "the end" : "now"}, UTC`,
        drawWaterfall(waterfall),
      ),
      el(
        "aside",
        { "aria-label": "Budget and step" },
        budgetSection(run),
        row !== null && isWide() ? el("div.side", stepPane(row)) : null,
      ),
    ),
    criteriaSection(run),
    ...proofSections(run),
    ...claimSections(run),
  ];
}

function criteriaSection({ report: { criteria }, goal_rest: goalRest }: ShownRun): Child {
  if (criteria.length === 0 && goalRest === "") return null;
  const proved = criteria.filter((criterion) => criterion.proved).length;
  return section(
    "Asked for",
    criteria.length === 0 ? "" : `${proved} of ${criteria.length} proved`,
    criteriaList(criteria, goalRest),
  );
}

function proofSections({ report, card }: ShownRun): readonly Child[] {
  return [
    report.evidence.length === 0
      ? null
      : section(
          "Proof",
          "made by the runner itself, failing first",
          proofTable(report.evidence, copyText),
          el("div.gap-top", commandBox(`autopilot verify --run ${card.run}`, copyText)),
        ),
    report.gaps.length === 0
      ? null
      : section(
          "Not proved",
          "",
          el(
            "ul.panel",
            report.gaps.map((gap) =>
              el("li.item.row.top", { key: gap }, stateIcon("gap"), el("span", foreignText(gap))),
            ),
          ),
        ),
  ];
}

function claimSections({ report }: ShownRun): readonly Child[] {
  return [
    report.looked_up.claims.length === 0
      ? null
      : section("What agents said, looked up", "", verifiedClaims(report.looked_up)),
    report.claims.length === 0
      ? null
      : section(
          "What agents say",
          "their word, no proof",
          el(
            "div.panel",
            report.claims.map(({ attempt, agent, said }) =>
              el(
                "div.item",
                { key: attempt },
                el("div.tiny.dim", `${agent}, ${attempt}`),
                claimQuote(said),
              ),
            ),
          ),
        ),
  ];
}

let cachedWaterfall: { readonly inputs: readonly unknown[]; readonly element: Element } | null =
  null;

/**
 * Returns the same element while the waterfall is unchanged: a run of 500 phases has thousands of
 * nodes, and other changes redraw too.
 */
function drawWaterfall(waterfall: ShownRun["waterfall"]): Element {
  const whole = countDetailedRows(`waterfall ${state.key ?? ""}`, waterfall.rows.length);
  const inputs = [waterfall, state.selectedRow, isWide(), whole];
  if (
    cachedWaterfall === null ||
    !inputs.every((value, index) => value === cachedWaterfall?.inputs[index])
  ) {
    cachedWaterfall = {
      inputs,
      element: waterfallList(waterfall, {
        selected: state.selectedRow,
        select: selectRow,
        detailedRows: whole,
        detailsOf: (row) => (!isWide() && row.id === state.selectedRow ? stepPane(row) : null),
      }),
    };
  }

  return cachedWaterfall.element;
}

function describeState(run: ShownRun): Child {
  const { card, liveLine, next_actions: actions, detail } = run;
  if (card.state === "running" && card.hasOwner) {
    return el(
      "div.panel.live",
      el("span.pulse"),
      el("span.mono.dim.no-wrap.wide-only", foreignText(card.currentPlace)),
      el(
        "span.mono.cut",
        liveLine === "" ? el("span.dim", "between two steps") : foreignText(liveLine),
      ),
      card.questionCount === 0
        ? null
        : el(
            "a.link.tiny.no-wrap",
            { href: "#inbox" },
            `${plural(card.questionCount, "question")} in the Inbox`,
          ),
    );
  }

  const ending = run.report.ending;
  if (card.state === "completed") {
    return el(
      "div.panel.live",
      stateIcon(card.shape),
      el("span", foreignText(ending ?? card.meaning)),
    );
  }

  return el(
    "div.gap-top",
    noticeBox(
      {
        icon: stateIcon(card.shape),
        kind: card.state === "stopped" || card.state === "draft" ? "plain" : "you",
      },
      foreignText(card.meaning),
      el("div.tiny.dim.mono", card.reason),
      detail === null || detail === "" ? null : el("div.second", foreignText(detail)),
      card.questionCount === 0
        ? null
        : el("div.gap-top", el("a.button", { href: "#inbox" }, "Answer in the Inbox")),
      el(
        "div.gap-top",
        actions
          .slice(0, 3)
          .map((action) =>
            action.startsWith("autopilot") || action.startsWith("git")
              ? commandBox(action, copyText)
              : el("div.second", foreignText(action)),
          ),
      ),
    ),
  );
}

function keyFigures({
  card,
  report,
  budget: spent,
  breaker,
  breaker_words: words,
}: ShownRun): Element {
  const tightest = card.fullestLimit;
  return figureRow([
    {
      name: "Progress",
      value: card.progressText === "" || card.criteriaCount > 0 ? card.word : card.progressText,
      note: card.currentPlace === "" ? card.flow : foreignText(card.currentPlace),
    },
    {
      name: "Proved",
      value:
        card.criteriaCount === 0
          ? `${formatNumber(report.gates)} gates`
          : `${card.provedCount} of ${card.criteriaCount}`,
      note: describeChecks(report.evidence),
    },
    {
      name:
        tightest === null ? "Tokens" : tightest.of.replace(/^./, (first) => first.toUpperCase()),
      value: tightest === null ? shortNumber(card.tokens) : formatShare(tightest.ratio),
      note:
        tightest === null
          ? "no limit"
          : `${shortNumber(spent.counters.tokens)} tokens, warned at ${formatShare(tightest.soft)}`,
    },
    {
      name: "Breaker",
      value: breaker.state.replace("_", " "),
      note: words === "closed" ? "it isn't going in circles" : words.replace(/^closed, /, ""),
    },
  ]);
}

function describeChecks(evidence: ShownRun["report"]["evidence"]): string {
  const failing = evidence.filter(({ status }) => status === "failed").length;
  if (failing > 0) return `${plural(failing, "check")} ${failing === 1 ? "fails" : "fail"}`;
  const passing = evidence.filter(({ status }) => status === "passed").length;

  return `${formatNumber(passing)} of ${plural(evidence.length, "check")} ${evidence.length === 1 ? "passes" : "pass"}`;
}

function budgetSection({ budget: view, points, waterfall, at, card }: ShownRun): Element {
  const chart = burnDownChart(points, view, {
    from: waterfall.startsAt,
    until: card.ended_at ?? at,
  });
  return section(
    "Budget",
    chart === null ? "" : "what is left",
    el(
      "div.panel",
      chart,
      el(
        "div.pad.stack",
        (["tokens", "minutes", "calls", "usd"] as const).map((dimension) =>
          budgetRow(view, dimension),
        ),
        view.warnings.map((warning) =>
          el("div.tiny.c-you", { key: warning }, foreignText(warning)),
        ),
        el("p.tiny.dim", `A limit can be passed by ${view.overshoot} at most.`),
      ),
    ),
  );
}

function budgetRow(
  view: ShownRun["budget"],
  dimension: "tokens" | "minutes" | "calls" | "usd",
): Child {
  const limit = view.limits[dimension];
  const used = view.counters[dimension];

  const row = (text: string): readonly Child[] => [
    el("span", dimension),
    el("span.grow"),
    el("span.num.tiny.second", text),
  ];

  if (limit === undefined) {
    return used === 0
      ? null
      : el(
          "div.row.small",
          { key: dimension },
          ...row(`${formatAmount(dimension, used)}, no limit`),
        );
  }

  const ratio = view.ratios[dimension] ?? 0;
  const usedText = dimension === "usd" ? formatAmount(dimension, used) : shortNumber(used);
  return el(
    "div",
    { key: dimension },
    el("div.row.small", ...row(`${usedText} of ${formatAmount(dimension, limit)}`)),
    limitMeter(ratio, view.soft_ratio, `${formatShare(ratio)} of ${dimension} used`),
  );
}

/**
 * Shows the row's details; choosing a phase that is chosen already, or that is collapsed, expands
 * or collapses it.
 */
function selectRow(row: WaterfallRow): void {
  const rows = state.run?.waterfall.rows ?? [];
  if (row.depth === 0 && row.kids > 0) {
    const open =
      state.expanded ??
      new Set(
        rows.filter(({ depth, isExpanded }) => depth === 0 && isExpanded).map(({ id }) => id),
      );

    if (state.selectedRow === row.id || !row.isExpanded) {
      if (row.isExpanded) open.delete(row.id);
      else open.add(row.id);

      state.expanded = open;
      void reloadPage();
    }
  }

  state.selectedRow = row.id;
  draw();
}

function stepPane(row: WaterfallRow): Element {
  return el(
    "div.panel.pane",
    { role: "region", "aria-label": `Step ${row.name}`, key: `pane ${row.id}` },
    el("h3", foreignText(row.name)),
    el("div", { style: { "margin-bottom": "12px" } }, stateLabel(row.shape, row.word)),
    definitionList([
      ["Took", row.took],
      ...row.facts.map(([name, value]) => [name, foreignText(value)] as const),
    ]),
    row.said === null || row.said === ""
      ? null
      : el("div.gap-top", el("div.tiny.dim", "The agent says, as a claim"), claimQuote(row.said)),
    el(
      "div.row.gap-top",
      el("a.link.tiny", { href: pageLink("log", state.key) }, "The log"),
      el("a.link.tiny", { href: pageLink("diff", state.key) }, "What changed"),
    ),
  );
}
