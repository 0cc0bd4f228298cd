// portfolio-file: renders the report of a portfolio as one HTML file to send around.

import type { RunCard } from "../facts/run-card.ts";
import { el, foreignText } from "./element.ts";
import { renderHtmlPage } from "./page-file.ts";
import { section, tableHead } from "./components.ts";
import { type PortfolioBoard, portfolioBoard } from "./portfolio-board.ts";
import { stateLabel } from "./icons.ts";
import { formatMoney, plural, shortNumber } from "./page-figures.ts";

export type PortfolioReport = PortfolioBoard & {
  readonly at: string;
  readonly name: string;
  readonly needs_you: number;
  readonly product: string;
  readonly runs: readonly RunCard[];
};

export function renderPortfolioFile(portfolio: PortfolioReport): string {
  const { name, counts, needs_you, at, product, runs } = portfolio;
  const taskCount = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const needsYou = `${needs_you} ${needs_you === 1 ? "needs" : "need"} you`;

  const states = [
    `${counts["running"] ?? 0} running`,
    `${counts["ready"] ?? 0} ready`,
    needsYou,
    `${counts["done"] ?? 0} done`,
  ];

  return renderHtmlPage(
    `${name} · autopilot portfolio`,
    el(
      "div.head",
      el(
        "div",
        el("h1", foreignText(name)),
        el(
          "p",
          `${plural(taskCount, "task")}: ${states.join(", ")}. As of ${at.slice(0, 16).replace("T", " ")} UTC.`,
        ),
      ),
    ),
    portfolioBoard(portfolio, () => null),
    section(
      "Runs",
      plural(runs.length, "run"),
      el(
        "div.panel.clip",
        el(
          "table.grid.lists",
          tableHead("Run", "State", "Proved", "Cost"),
          el(
            "tbody",
            runs.map((run) =>
              el(
                "tr",
                el(
                  "th",
                  { scope: "row" },
                  foreignText(run.goal),
                  el("div.tiny.dim", foreignText(`${run.project} · ${run.run}`)),
                ),
                el("td", stateLabel(run.shape, run.word)),
                el("td.n", `${run.proved} of ${run.criteria}`),
                el(
                  "td.n",
                  run.usd > 0 ? formatMoney(run.usd) : `${shortNumber(run.tokens)} tokens`,
                ),
              ),
            ),
          ),
        ),
      ),
    ),
    el("footer", el("p", `Made by ${product} at ${at}.`)),
  );
}
