// cost: what was spent, by day and by project, role or agent; the table is the chart's legend.

import { dailyCostChart, seriesClasses } from "../../../../views/web/charts.ts";
import { type Child, el, foreignText } from "../../../../views/web/element.ts";
import { emptyState, commandBox, figureRow, section } from "../../../../views/web/components.ts";
import { icon } from "../../../../views/web/icons.ts";
import { money, percent, shortNumber } from "../../../../views/web/page-figures.ts";
import { copy } from "../actions.ts";
import { h1 } from "../controls.ts";
import { draw, state } from "../store.ts";

const groups = ["project", "role", "agent"] as const;

export function costPage(): Child {
  const { cost, costBy } = state;
  if (cost === null) return h1("Cost");
  if (cost.window.tokens === 0 && cost.month.tokens === 0)
    return [
      h1("Cost"),
      emptyState(
        { icon: icon("cost"), title: "Nothing was spent in the last 14 days", text: "Before a run, its estimate is in its preview." },
        commandBox("autopilot estimate", copy),
      ),
    ];
  const words = ({ usd, tokens }: { readonly usd: number; readonly tokens: number }): string =>
    cost.unit === "usd" ? money(usd) : `${shortNumber(tokens)} tokens`;
  const day = (value: number): string => (cost.unit === "usd" ? money(value) : `${shortNumber(value)} tokens`);
  return [
    el(
      "div.head",
      el(
        "div",
        h1("Cost"),
        el(
          "p",
          `${words(cost.window)} in 14 days.${cost.forecast === null ? "" : ` A day that spends comes to ${day(cost.forecast.p50)}, nine of ten to at most ${day(cost.forecast.p90)}.`}`,
        ),
      ),
      el(
        "div.switch",
        { role: "group", "aria-label": "Group by" },
        groups.map((name) =>
          el("button", { type: "button", key: name, "aria-pressed": String(costBy === name), onClick: () => group(name) }, name),
        ),
      ),
    ),
    figureRow([
      { name: "Today", value: words(cost.today), note: `${shortNumber(cost.today.tokens)} tokens` },
      { name: "This month", value: words(cost.month), note: `${shortNumber(cost.month.tokens)} tokens` },
      { name: "14 days", value: words(cost.window), note: `${shortNumber(cost.window.tokens)} tokens` },
      {
        name: "Median day",
        value: cost.forecast === null ? "–" : day(cost.forecast.p50),
        note: cost.forecast === null ? "too few days to say" : `nine of ten under ${day(cost.forecast.p90)}`,
      },
    ]),
    section(
      "Per day",
      `by ${costBy}${cost.forecast === null ? "" : "; the band is the forecast, p50 to p90"}`,
      el(
        "div.panel",
        dailyCostChart(cost, costBy, matchMedia("(max-width:719px)").matches ? 360 : undefined),
        el(
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
            cost.by[costBy].groups.map((item, at) =>
              el(
                "tr",
                { key: item.name },
                el(
                  "th",
                  { scope: "row" },
                  el("span.row", el("span.swatch", { class: seriesClasses[at % seriesClasses.length] ?? "" }), foreignText(item.name)),
                ),
                el("td.n", { "data-label": "share" }, percent(item.share)),
                el("td.n", words(item)),
                el("td.n", { "data-label": "tokens" }, shortNumber(item.tokens)),
                el("td.tiny.second", item.counted),
              ),
            ),
          ),
        ),
      ),
    ),
  ];
}

function group(name: (typeof groups)[number]): void {
  state.costBy = name;
  draw();
}
