import { expect, test } from "vitest";
import type { PortfolioChange } from "../../contracts/portfolio/portfolio-journal.ts";
import { portfolioChangeNames } from "../../contracts/portfolio/portfolio-journal.ts";
import { mayAgentWrite } from "./grants.ts";

const change = (event: string, more: object = {}): PortfolioChange =>
  ({ event, actor: "agent:x", reason_code: "ok", ...more }) as unknown as PortfolioChange;

test("an agent proposes tasks and pauses, and nothing else", () => {
  expect(mayAgentWrite(change("task_created", { status: "proposed" }))).toBe(true);
  expect(mayAgentWrite(change("task_created", { status: "ready" }))).toBe(false);
  expect(mayAgentWrite(change("followup_task_created", { status: "proposed" }))).toBe(true);
  expect(mayAgentWrite(change("portfolio_updated", { paused: true }))).toBe(true);
  expect(mayAgentWrite(change("portfolio_updated", { paused: false }))).toBe(false);
  expect(mayAgentWrite(change("portfolio_updated", { paused: true, budget: { usd: 1000 } }))).toBe(
    false,
  );

  expect(portfolioChangeNames.filter((event) => mayAgentWrite(change(event)))).toEqual([]);
});
