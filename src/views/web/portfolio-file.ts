// portfolio-file: the report of a portfolio as one HTML file to send around.

import type { RunCard } from "../facts/run-card.ts";
import { el, foreignText } from "./element.ts";
import { htmlPage } from "./page-file.ts";
import { section } from "./components.ts";
import { type PortfolioBoard, portfolioBoard } from "./portfolio-board.ts";
import { stateLabel } from "./icons.ts";
import { money, plural, shortNumber } from "./page-figures.ts";

export type PortfolioReport = PortfolioBoard & {
  readonly at: string;
  readonly name: string;
  readonly needs_you: number;
  readonly product: string;
  readonly runs: readonly RunCard[];
};

export function portfolioReportHtml(portfolio: PortfolioReport): string {
  const { name, counts, needs_you, at, product, runs } = portfolio;
  const taskCount = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return htmlPage(
    `${name} · autopilot portfolio`,
    el(
      "div.head",
      el(
        "div",
        el("h1", foreignText(name)),
        el(
          "p",
          `${plural(taskCount, "task")}: ${counts["running"] ?? 0} running, ${counts["ready"] ?? 0} ready, ${needs_you} ${needs_you === 1 ? "needs" : "need"} you, ${counts["done"] ?? 0} done. As of ${at.slice(0, 16).replace("T", " ")} UTC.`,
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
          el("thead", el("tr", ...["Run", "State", "Proved", "Cost"].map((word) => el("th", { scope: "col" }, word)))),
          el(
            "tbody",
            runs.map((run) =>
              el(
                "tr",
                el("th", { scope: "row" }, foreignText(run.goal), el("div.tiny.dim", foreignText(`${run.project} · ${run.run}`))),
                el("td", stateLabel(run.shape, run.word)),
                el("td.n", `${run.proved} of ${run.criteria}`),
                el("td.n", run.usd > 0 ? money(run.usd) : `${shortNumber(run.tokens)} tokens`),
              ),
            ),
          ),
        ),
      ),
    ),
    el("footer", el("p", `Made by ${product} at ${at}.`)),
  );
}
