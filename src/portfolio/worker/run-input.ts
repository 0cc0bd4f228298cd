// run-input: builds the `go` input of a task's run: its goal, criteria, scope, agent and budget.

import type { PortfolioBudget } from "../../contracts/portfolio/portfolio-journal.ts";
import { shellWord } from "../../kit/shell-word.ts";
import type { GoInput } from "../../playbooks/contract/go-input.ts";
import type { TaskView } from "../planner/state.ts";

/** What the pool gives a task's run. */
export type RunTerms = {
  readonly isolation?: string | undefined;
  readonly agent?: string | undefined;
  /** What the run may use. */
  readonly allowance: PortfolioBudget;
};

/**
 * The flags of `go` for a task's run. `nonce`: the result must repeat it, so that the result of an
 * earlier dispatch isn't taken for this one's. `conflicts`: files of the copy in which a conflict
 * was left for the agent to resolve.
 */
export function buildRunInput(
  task: TaskView,
  nonce: string,
  conflicts: readonly string[],
  { agent, isolation: poolIsolation, allowance }: RunTerms,
): GoInput {
  const isolation = task.isolation ?? poolIsolation;
  const maxBudget = formatAllowance(allowance);
  // Without a flow of its own: the pool merges the work itself (`land`), and the agent returns what
  // result.ts reads (`wants_result`).
  const flowInput =
    task.flow === null ? { options: { land: "false", wants_result: "true" } } : { flow: task.flow };

  return {
    words: [],
    isCopy: true,
    goal: buildGoal(task, nonce),
    criteria: buildCriteria(task, conflicts),
    ...(task.touches.length === 0 ? {} : { scope: [...task.touches] }),
    ...(agent === undefined ? {} : { agent }),
    ...(isolation === undefined ? {} : { isolation }),
    ...(maxBudget === "" ? {} : { maxBudget }),
    ...flowInput,
  };
}

function formatAllowance({ tokens, usd }: PortfolioBudget): string {
  const amounts: string[] = [];
  if (tokens !== undefined) amounts.push(`tokens=${tokens}`);
  if (usd !== undefined) amounts.push(`usd=${usd}`);

  return amounts.join(",");
}

const feedbackCharsMax = 8000;

/**
 * What the agent is told: the objective, the result of the last attempt, and the names its result
 * must have.
 */
function buildGoal({ objective, feedback, flow, task_id }: TaskView, nonce: string): string {
  const paragraphs = [objective];

  if (feedback !== null) {
    const heading = "What earlier attempts came to, and what was answered to their questions:";
    paragraphs.push(`${heading}\n${feedback.slice(0, feedbackCharsMax)}`);
  }

  if (flow === null) paragraphs.push(`task_id: ${task_id}\nevent_nonce: ${nonce}`);
  return paragraphs.join("\n\n");
}

type RunCriteria = NonNullable<GoInput["criteria"]>;

function buildCriteria(task: TaskView, conflicts: readonly string[]): RunCriteria {
  const criteria = task.acceptance_criteria.map(({ text, command }) => ({ text, check: command }));
  return conflicts.length === 0 ? criteria : [...criteria, createConflictCriterion(conflicts)];
}

/**
 * Proves that a conflict was resolved: no file that had one still has its marks. `=======` alone is
 * no mark: headings of documents are underlined so.
 */
function createConflictCriterion(conflicts: readonly string[]): RunCriteria[number] {
  const files = conflicts.map(shellWord).join(" ");

  return {
    text: "the conflict marks are gone from every file",
    check: `! grep -sE '^(<<<<<<<|>>>>>>>) ' ${files}`,
  };
}
