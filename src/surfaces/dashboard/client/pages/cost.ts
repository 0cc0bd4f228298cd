// cost: renders the page of what was spent, by day and by project, role or agent; the table is the
// chart's legend.

import { dailyCostChart, seriesClasses } from "../../../../views/web/charts.ts";
import type { CostView } from "../../../../views/facts/cost.ts";
import { type Child, el, type Element, foreignText } from "../../../../views/web/element.ts";
import { emptyState, commandBox, figureRow, section } from "../../../../views/web/components.ts";
import { icon } from "../../../../views/web/icons.ts";
import { formatMoney, formatShare, shortNumber } from "../../../../views/web/format-numbers.ts";
import { copyText } from "../actions.ts";
import { pageHeading } from "../controls.ts";
import { draw, state } from "../store.ts";

const groups = ["project", "role", "agent"] as const;
type GroupName = (typeof groups)[number];
type Spent = { readonly usd: number; readonly tokens: number };

export function costPage(): Child {
  const { cost, costBy } = state;
  if (cost === null) return pageHeading("Cost");
  if (cost.window.tokens === 0 && cost.month.tokens === 0) {
    return [
      pageHeading("Cost"),
      emptyState(
        {
          icon: icon("cost"),
          title: "Nothing was spent in the last 14 days",
          text: "Before a run, its estimate is in its preview.",
        },
        commandBox("autopilot estimate", copyText),
      ),
    ];
  }

  return [
    pageHead(cost, costBy),
    keyFigures(cost),
    section(
      "Per day",
      `by ${costBy}${cost.forecast === null ? "" : "; the band is the forecast, p50 to p90"}`,
      el(
        "div.panel",
        dailyCostChart(cost, costBy, matchMedia("(max-width:719px)").matches ? 360 : undefined),
        groupTable(cost, costBy),
      ),
    ),
  ];
}

function pageHead(cost: CostView, costBy: GroupName): Element {
  const { forecast } = cost;
  const spent = `${spentText(cost, cost.window)} in 14 days.`;
  const expected =
    forecast === null
      ? ""
      : ` A day that spends comes to ${unitText(cost, forecast.p50)}, nine of ten to at most ${unitText(cost, forecast.p90)}.`;

  return el(
    "div.head",
    el("div", pageHeading("Cost"), el("p", `${spent}${expected}`)),
    el(
      "div.switch",
      { role: "group", "aria-label": "Group by" },
      groups.map((name) =>
        el(
          "button",
          {
            type: "button",
            key: name,
            "aria-pressed": String(costBy === name),
            onClick: () => groupBy(name),
          },
          name,
        ),
      ),
    ),
  );
}

function keyFigures(cost: CostView): Element {
  const { forecast } = cost;
  const spent = (name: string, amount: Spent) => ({
    name,
    value: spentText(cost, amount),
    note: `${shortNumber(amount.tokens)} tokens`,
  });
  return figureRow([
    spent("Today", cost.today),
    spent("This month", cost.month),
    spent("14 days", cost.window),
    forecast === null
      ? { name: "Median day", value: "–", note: "too few days to say" }
      : {
          name: "Median day",
          value: unitText(cost, forecast.p50),
          note: `nine of ten under ${unitText(cost, forecast.p90)}`,
        },
  ]);
}

function groupTable(cost: CostView, costBy: GroupName): Element {
  return el(
    "table.grid.lists",
    el(
      "thead",
      el(
        "tr",
        el("th", { scope: "col" }, costBy),
        ...["Share", "14 days", "Tokens"].map((name) => el("th.n", { scope: "col" }, name)),
        el("th", { scope: "col" }, "Counted"),
      ),
    ),
    el(
      "tbody",
      cost.by[costBy].groups.map((group, index) =>
        el(
          "tr",
          { key: group.name },
          el(
            "th",
            { scope: "row" },
            el(
              "span.row",
              el("span.swatch", { class: seriesClasses[index % seriesClasses.length] ?? "" }),
              foreignText(group.name),
            ),
          ),
          el("td.n", { "data-label": "share" }, formatShare(group.share)),
          el("td.n", spentText(cost, group)),
          el("td.n", { "data-label": "tokens" }, shortNumber(group.tokens)),
          el("td.tiny.second", group.counted),
        ),
      ),
    ),
  );
}

/** An amount in the unit of the page: dollars where the agents report them, else tokens. */
const unitText = ({ unit }: CostView, value: number): string =>
  unit === "usd" ? formatMoney(value) : `${shortNumber(value)} tokens`;
const spentText = (cost: CostView, { usd, tokens }: Spent): string =>
  unitText(cost, cost.unit === "usd" ? usd : tokens);

function groupBy(name: GroupName): void {
  state.costBy = name;
  draw();
}
