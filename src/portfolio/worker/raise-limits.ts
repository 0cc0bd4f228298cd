// raise-limits: raises the limits of a run that rests at its budget, in the run's own journal, as
// `budget raise` does.
//
// Invariants:
//   Y1. A limit is raised before the dispatch is journaled, to what the run has used plus its new
//       allowance: after a crash between the two it is raised to the same value again, or found
//       raised.

import type { PortfolioBudget } from "../../contracts/portfolio/portfolio-journal.ts";
import { listUnraisedLimits } from "../../core/react-to-limit.ts";
import type { CommandContext } from "../../project/command-context.ts";
import type { LoadedRun } from "../../project/runs/loaded-run.ts";
import { sendToRun } from "../../runner/send-to-run.ts";
import { formatAmount } from "../../views/wording.ts";
import type { TaskView } from "../planner/state.ts";

/** `allowance`: what the run may use beside what it has used (Y1). */
export async function raiseLimits(
  context: CommandContext,
  loaded: LoadedRun,
  { task_id }: TaskView,
  allowance: PortfolioBudget,
): Promise<void> {
  for (const { scope, dimension, limit } of listUnraisedLimits(loaded.view)) {
    const extraAmount =
      dimension === "tokens" || dimension === "usd" ? allowance[dimension] : undefined;
    if (scope !== "run" || extraAmount === undefined) continue;
    const newLimit = loaded.view.ledger.run[dimension] + extraAmount;
    if (newLimit <= limit) continue;
    const detail = `the portfolio gives ${task_id} ${formatAmount(dimension, extraAmount)} more`;
    await sendToRun(
      context,
      loaded,
      { event: "limit_raised", scope, dimension, to: newLimit, detail },
      (run) => (run.limits.run[dimension] ?? 0) >= newLimit,
    );
  }
}
