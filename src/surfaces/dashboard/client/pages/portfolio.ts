// portfolio: the page of a portfolio: projects by state, the merge queue, who works on what, and why the rest waits.

import { type Child, el, foreignText } from "../../../../views/web/element.ts";
import { emptyState, commandBox } from "../../../../views/web/components.ts";
import { portfolioBoard } from "../../../../views/web/portfolio-board.ts";
import { icon } from "../../../../views/web/icons.ts";
import { elapsedText, figure } from "../../../../views/web/page-figures.ts";
import { copy, send } from "../actions.ts";
import { acting, h1 } from "../controls.ts";
import { href, now, state } from "../store.ts";

export function portfolioPage(): Child {
  const { portfolio, overview } = state;
  if (overview !== null && !overview.hasPortfolio)
    return [
      h1("Portfolio"),
      emptyState(
        {
          icon: icon("portfolio"),
          title: "No portfolio here",
          text: "Several projects, one queue of tasks, one merge queue a repository.",
        },
        commandBox("autopilot portfolio init", copy),
        commandBox('autopilot portfolio add project NAME --repo DIR --objective "…"', copy),
      ),
    ];
  if (portfolio === null) return h1("Portfolio");
  const { counts, paused } = portfolio;
  const taskCount = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return [
    el(
      "div.head",
      el(
        "div",
        h1(foreignText(portfolio.name)),
        el(
          "p",
          `${figure(taskCount)} tasks: ${counts.running} running, ${counts.ready} ready, ${portfolio.needs_you} ${portfolio.needs_you === 1 ? "needs" : "need"} you, ${counts.done} done. ${portfolio.planned_at === null ? "Never planned yet." : `Planned ${elapsedText(portfolio.planned_at, now())} ago.`}${paused ? " Nothing new is dispatched: it is paused." : ""}`,
        ),
      ),
      el(
        "div.row",
        acting(paused ? "Go on dispatching" : "Pause dispatching", () => void send({ do: "dispatch", key: "portfolio", paused: !paused })),
      ),
    ),
    portfolioBoard(portfolio, (key) => href("run", key)),
  ];
}
