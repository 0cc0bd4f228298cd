// tick: `portfolio tick`: plans and acts once, or shows with --dry-run what it would do.

import type { CommandResponse } from "../../contracts/command-response.ts";
import type { Plan, PlanAction } from "../../portfolio/planner/plan-actions.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { catchRefusals, respond } from "../../project/respond.ts";
import { findVisiblePortfolio } from "../../portfolio/store/folder.ts";
import { runPortfolio } from "./pool.ts";
import type { PoolInput } from "./pool-state.ts";
import { foreignWarning, readVisiblePlan } from "./visible-plan.ts";

/** One tick; with --dry-run only what it would do, and why everything else waits. */
export function tickPortfolio(
  context: CommandContext,
  input: PoolInput & { readonly dryRun: boolean },
): Promise<CommandResponse> {
  if (!input.dryRun) return runPortfolio(context, { ...input, ticksMax: 1 });
  return catchRefusals(async () => {
    const visible = findVisiblePortfolio(context);
    const { plan } = await readVisiblePlan(context, visible, input);
    const { actions, waiting } = plan;
    const count = `${actions.length} ${actions.length === 1 ? "action" : "actions"}`;

    return respond("ok", {
      ...foreignWarning(visible.foreign),
      message: `${count}; ${waiting.length} wait. Nothing was done.`,
      page: renderPlan(plan),
      data: { actions, waiting },
    });
  });
}

function renderPlan({ actions, waiting }: Plan): readonly string[] {
  const actionLines = actions.length === 0 ? ["Nothing to do now."] : actions.map(describeAction);
  if (waiting.length === 0) return actionLines;

  const waitingLines = waiting.map(
    ({ task_id, code, because }) => `waits ${task_id}  ${code}: ${because}`,
  );
  return [...actionLines, "", ...waitingLines];
}

function describeAction(action: PlanAction): string {
  const verb =
    "is_approved" in action && action.is_approved
      ? "queue the approved work of"
      : action.do.replaceAll("_", " ");

  return `would ${verb} ${describeSubject(action)}`;
}

/** What an action is about. A new kind of action without any of these fields does not compile. */
function describeSubject(action: PlanAction): string {
  if ("ended" in action) {
    return `of ${action.ended.project_id ?? action.ended.scope}: ${action.ended.because}`;
  }

  if ("tasks" in action) return action.tasks.join(", ");
  return "task_id" in action ? action.task_id : action.project_id;
}
