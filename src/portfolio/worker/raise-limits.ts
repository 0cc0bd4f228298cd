// raise-limits: a run that rests at its budget may use more: its limits are raised in its own journal, as `budget raise` does it.
//
// Invariants:
//   Y1. A limit is raised before the dispatch is journaled, and to what the run has used and what it is given: whoever comes back after a crash
//       between the two raises it to the same, or finds it raised.

import type { PortfolioBudget } from "../../contracts/portfolio-journal.ts";
import { listUnraisedLimits } from "../../core/limit-hit.ts";
import type { CommandContext } from "../../project/command-context.ts";
import type { LoadedRun } from "../../project/runs/loaded-run.ts";
import { sendToRun } from "../../runner/send-to-run.ts";
import { formatAmount } from "../../views/wording.ts";
import type { TaskView } from "../planner/state.ts";

/** `allowance`: what the run may use beside what it has used. Y1 */
export async function raiseLimits(
  context: CommandContext,
  loaded: LoadedRun,
  { task_id }: TaskView,
  allowance: PortfolioBudget,
): Promise<void> {
  for (const { scope, dimension, limit } of listUnraisedLimits(loaded.view)) {
    const more = dimension === "tokens" || dimension === "usd" ? allowance[dimension] : undefined;
    if (scope !== "run" || more === undefined) continue;
    const to = loaded.view.ledger.run[dimension] + more;
    if (to <= limit) continue;
    const detail = `the portfolio gives ${task_id} ${formatAmount(dimension, more)} more`;
    await sendToRun(
      context,
      loaded,
      { event: "limit_raised", scope, dimension, to, detail },
      (run) => (run.limits.run[dimension] ?? 0) >= to,
    );
  }
}
