// show: `portfolio status`: shows projects and tasks, what waits and why, and what needs a person.

import type { CommandResponse } from "../../contracts/command-response.ts";
import { renderBoard } from "../../portfolio/views/board.ts";
import { countByStatus, computeMetrics } from "../../portfolio/views/metrics.ts";
import { describePhase } from "../../portfolio/views/pages.ts";
import { listHeldLandings } from "../../portfolio/planner/held-landings.ts";
import { listTasksNeedingPerson } from "../../portfolio/planner/needs-person.ts";
import { listOpenBlocks } from "../../portfolio/planner/state.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { catchRefusals, respond } from "../../project/respond.ts";
import { systemClock } from "../../project/runs/system-clock.ts";
import { catchUp } from "../../portfolio/store/catch-up.ts";
import { findVisiblePortfolio } from "../../portfolio/store/folder.ts";
import { readPoolTerms } from "./lock-pool.ts";
import type { PoolInput } from "./pool-state.ts";
import { foreignWarning, readVisiblePlan } from "./visible-plan.ts";

const rowsShownDefault = 40;

/**
 * Shows the board, of `rows` rows. If the portfolio is in a store, this machine's copy is brought
 * up to date first.
 */
export function showPortfolio(
  context: CommandContext,
  input: PoolInput & { readonly rows?: number | undefined },
): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const visible = findVisiblePortfolio(context);
    const localCopy = visible.foreign === null ? await catchUp(context.env, visible.paths) : null;
    const { state, plan } = await readVisiblePlan(context, visible, input);
    const counts = countByStatus(state);
    const behindReason = localCopy?.behind ?? null;
    const shownLines = `${behindReason === null ? "" : "this machine's copy "}up to line ${state.seq}`;
    const shownFrom = behindReason === null ? "store" : "copy";
    const isWorkedOn =
      localCopy !== null || visible.foreign !== null || readPoolTerms(visible.paths) !== null;

    return respond("ok", {
      ...(behindReason === null
        ? {}
        : { warnings: [`Shown is this machine's copy, up to line ${state.seq}: ${behindReason}`] }),
      ...foreignWarning(visible.foreign),
      message: `${counts.running} running, ${counts.ready} ready, ${counts.blocked_human} blocked, ${counts.done} done of ${Object.keys(state.tasks).length}.`,
      page: [
        ...renderBoard(state, plan, {
          now: systemClock.now(),
          rows: input.rows ?? rowsShownDefault,
          isIdle: !isWorkedOn,
        }),
        ...(localCopy === null ? [] : ["", `${localCopy.key} in the store, ${shownLines}`]),
      ],
      data: {
        name: state.name,
        foreign: visible.foreign,
        ...(localCopy === null
          ? {}
          : { store: { key: localCopy.key, line: state.seq, shown: shownFrom } }),
        paused: state.paused,
        planner_heartbeat_at: state.heartbeat,
        counts,
        metrics: computeMetrics(state),
        spent: state.spent,
        projects: Object.values(state.projects).map((project) => ({
          id: project.project_id,
          name: project.name,
          phase: describePhase(state, project),
          ...countByStatus(state, project.tasks),
          spent: project.spent,
        })),
        tasks: Object.values(state.tasks).map(
          ({ task_id, project_id, status, stage, run_id, priority, landed }) => ({
            id: task_id,
            project_id,
            status,
            stage,
            run_id,
            priority,
            landed,
          }),
        ),
        waiting: plan.waiting,
        held: listHeldLandings(state).map(({ held, tasks }) => ({
          ...held,
          tasks: tasks.map(({ task_id }) => task_id),
        })),
        blocks: listOpenBlocks(state).length,
        needs_you:
          listOpenBlocks(state).length + listTasksNeedingPerson(state, systemClock.now()).length,
      },
    });
  });
}
