// grants: which changes of a portfolio an agent may make: it may propose tasks and pause. Only a
// person or the planner makes the others.

import type { PortfolioChange } from "../../contracts/portfolio/portfolio-journal.ts";

export function mayAgentWrite(change: PortfolioChange): boolean {
  switch (change.event) {
    case "task_created":
    case "followup_task_created":
      return change.status === "proposed";
    case "portfolio_updated":
      return isOnlyPause(change.paused, Object.keys(change));
    default:
      return false;
  }
}

const commonFields = ["event", "actor", "reason_code"];

const isOnlyPause = (paused: boolean | undefined, fields: readonly string[]): boolean =>
  paused === true && fields.every((field) => field === "paused" || commonFields.includes(field));
