// queue-notices: queues notices about a portfolio as events are journaled. No failure here changes
// the portfolio; it is reported.

import type { PortfolioEntry } from "../../contracts/portfolio/portfolio-journal.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { readHooks } from "../../project/notify/hooks.ts";
import { openNoticeQueue } from "../../project/notify/notice-queue.ts";
import { queueForHooks } from "../../runner/run-notices.ts";
import type { PortfolioView } from "../planner/state.ts";
import { findAnsweredNotices, buildPortfolioNotices } from "../views/portfolio-notices.ts";

/** Queues the notices that an entry causes, and withdraws those that it answers. */
export function queueNotices(
  context: CommandContext,
  root: string,
  entry: PortfolioEntry,
  state: PortfolioView,
): void {
  const newNotices = buildPortfolioNotices(entry, state, root);
  const isAnswered = findAnsweredNotices(entry, state);
  if (newNotices.length === 0 && isAnswered === null) return;

  const { hooks } = readHooks(context.env);
  if (hooks.length === 0) return;

  try {
    const queue = openNoticeQueue(context.env);
    if (isAnswered !== null) queue.withdraw(isAnswered);
    queueForHooks(context.env, queue, hooks, newNotices);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    context.show(`! Nobody can be notified: ${why}`);
  }
}
