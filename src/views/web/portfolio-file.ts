// portfolio-file: renders the report of a portfolio as one HTML file to send around.

import type { RunCard } from "../facts/run-card.ts";
import { el, type Element, foreignText } from "./element.ts";
import { renderHtmlPage } from "./page-file.ts";
import { section, tableHead } from "./components.ts";
import { type PortfolioBoard, portfolioBoard } from "./portfolio-board.ts";
import { stateLabel } from "./icons.ts";
import { formatMoney, plural, shortNumber } from "./format-numbers.ts";

export type PortfolioReport = PortfolioBoard & {
  readonly at: string;
  readonly name: string;
  readonly needs_you: number;
  readonly product: string;
  readonly runs: readonly RunCard[];
};

export function renderPortfolioFile(portfolio: PortfolioReport): string {
  const { name, counts, needs_you, at, product, runs } = portfolio;
  let taskCount = 0;
  for (const count of Object.values(counts)) taskCount += count;

  const needsYou = `${needs_you} ${needs_you === 1 ? "needs" : "need"} you`;
  const states = [
    `${counts["running"] ?? 0} running`,
    `${counts["ready"] ?? 0} ready`,
    needsYou,
    `${counts["done"] ?? 0} done`,
  ];
  const minute = at.slice(0, 16).replace("T", " ");
  const summary = `${plural(taskCount, "task")}: ${states.join(", ")}. As of ${minute} UTC.`;

  return renderHtmlPage(
    `${name} · autopilot portfolio`,
    el("div.head", el("div", el("h1", foreignText(name)), el("p", summary))),
    portfolioBoard(portfolio, () => null),
    runsSection(runs),
    el("footer", el("p", `Made by ${product} at ${at}.`)),
  );
}

function runsSection(runs: readonly RunCard[]): Element {
  const head = tableHead("Run", "State", "Proved", "Cost");
  const table = el("table.grid.lists", head, el("tbody", runs.map(runRow)));
  return section("Runs", plural(runs.length, "run"), el("div.panel.clip", table));
}

function runRow(run: RunCard): Element {
  const origin = el("div.tiny.dim", foreignText(`${run.project} · ${run.run}`));
  const cost = run.usd > 0 ? formatMoney(run.usd) : `${shortNumber(run.tokens)} tokens`;

  return el(
    "tr",
    el("th", { scope: "row" }, foreignText(run.goal), origin),
    el("td", stateLabel(run.shape, run.word)),
    el("td.n", `${run.provedCount} of ${run.criteriaCount}`),
    el("td.n", cost),
  );
}
