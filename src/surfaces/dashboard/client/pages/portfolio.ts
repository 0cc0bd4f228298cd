// portfolio: renders the page of a portfolio: projects by state, the merge queue, who works on
// what, and why other tasks wait.

import { type Child, el, foreignText } from "../../../../views/web/element.ts";
import { emptyState, commandBox } from "../../../../views/web/components.ts";
import { portfolioBoard } from "../../../../views/web/portfolio-board.ts";
import { icon } from "../../../../views/web/icons.ts";
import { formatElapsed, formatNumber } from "../../../../views/web/format-numbers.ts";
import { copyText, sendRequest } from "../actions.ts";
import { actionButton, pageHeading } from "../controls.ts";
import { pageLink, serverNow, state } from "../store.ts";

export function portfolioPage(): Child {
  const { portfolio, overview } = state;
  if (overview !== null && !overview.hasPortfolio) {
    return [
      pageHeading("Portfolio"),
      emptyState(
        {
          icon: icon("portfolio"),
          title: "No portfolio here",
          text: "Several projects, one queue of tasks, one merge queue a repository.",
        },
        commandBox("autopilot portfolio init", copyText),
        commandBox('autopilot portfolio add project NAME --repo DIR --objective "…"', copyText),
      ),
    ];
  }

  if (portfolio === null) return pageHeading("Portfolio");
  const { counts, paused } = portfolio;
  const taskCount = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const needsYou = `${portfolio.needs_you} ${portfolio.needs_you === 1 ? "needs" : "need"} you`;
  const states = `${counts.running} running, ${counts.ready} ready, ${needsYou}, ${counts.done} done`;
  const planned =
    portfolio.planned_at === null
      ? "Never planned yet."
      : `Planned ${formatElapsed(portfolio.planned_at, serverNow())} ago.`;

  const pausedText = paused ? " Nothing new is dispatched: it is paused." : "";
  return [
    el(
      "div.head",
      el(
        "div",
        pageHeading(foreignText(portfolio.name)),
        el("p", `${formatNumber(taskCount)} tasks: ${states}. ${planned}${pausedText}`),
      ),
      el(
        "div.row",
        actionButton(
          paused ? "Go on dispatching" : "Pause dispatching",
          () => void sendRequest({ do: "dispatch", key: "portfolio", paused: !paused }),
        ),
      ),
    ),
    portfolioBoard(portfolio, (key) => pageLink("run", key)),
  ];
}
