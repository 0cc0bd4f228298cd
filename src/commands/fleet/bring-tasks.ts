// bring-tasks: what a new planner of a portfolio needs of the tasks that another machine began: their copies, with the runs as the store has them.
//
// Invariants:
//   V1. A run is known by the key that the portfolio's journal names it with; nothing else in the store is looked at.
//   V2. Nothing of it is executed: a worker adopts it under its own config. It is bound to this machine, since the portfolio is its user's, but
//       for no weaker isolation than this machine's own.
//   V3. A copy is there whole or not at all. A task whose base nobody can get at begins anew.
//   V4. A hub that is away holds up the tasks of its repository only: they are brought when they are started again, and not before.

import { existsSync, renameSync } from "node:fs";
import { join } from "node:path";
import type { RunView } from "../../core/state.ts";
import { openHub } from "../../fleet/hub.ts";
import type { PostgresStore } from "../../fleet/postgres/store.ts";
import { markShared, runKey, sharedMark } from "../../fleet/shared-mark.ts";
import { bringCopy, storeIn } from "../../fleet/shared-run.ts";
import type { PortfolioView, ProjectView, TaskView } from "../../portfolio/planner/state.ts";
import { copyIn, type PortfolioPaths } from "../../portfolio/store/folder.ts";
import { withPortfolio } from "../../portfolio/store/open.ts";
import { exchangeFor, type ProjectExchange, withHub } from "../../portfolio/worker/exchange-for.ts";
import { homeOfCopy } from "../../portfolio/worker/worker.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { toFailure, findRetryPolicy } from "../../project/respond.ts";
import { requireSettings } from "../../project/config/settings.ts";
import { requireRepository } from "../../project/runs/require-repository.ts";
import { isBegun, ensureOwnFolder, type ProjectPaths, runFolder } from "../../project/runs/project-paths.ts";
import { readRunOrNull } from "../../project/runs/read-run.ts";
import { bindRun, isOwnRun } from "../../project/runs/run-binding.ts";
import { retryDuringOutage } from "./retry-during-outage.ts";
import { requireHub } from "./worker.ts";
import { bringRun, viewIn } from "./take.ts";

type Begun = {
  readonly task: TaskView;
  readonly project: ProjectView;
  readonly run: string;
  readonly nonce: string;
  readonly copy: string;
};

type Bringing = { readonly store: PostgresStore; readonly isolation: string | undefined };

/** Before a planner's first tick: makes or updates the local copies of the tasks that have begun, from the store and the hubs. */
export async function bringTasks(context: CommandContext, paths: PortfolioPaths, isolation: string | undefined): Promise<void> {
  const retry = retryDuringOutage(context);
  const store = await storeIn(context.env);
  const { hubs, projects, begun } = await retry(() =>
    withPortfolio(context, paths, ({ state }) =>
      Promise.resolve(structuredClone({ hubs: state.hubs, projects: state.projects, begun: begunTasks(paths, state) })),
    ),
  );
  for (const task of begun) {
    const { repository } = task.project;
    const bring = async (): Promise<void> => {
      const here = withHub(context, paths, { hubs, projects }, repository);
      const openExchange = () => exchangeFor(paths, { hubs, projects }, repository ?? "");
      await (existsSync(task.copy)
        ? updateCopy(here, task, { store, isolation })
        : makeCopy(here, task, { store, isolation, openExchange }));
    };
    await retry(async () => {
      try {
        await bring();
      } catch (error) {
        const { code, message } = toFailure(error);
        const isHub = code === "hub_unreachable" || code === "hub_unusable";
        if ((findRetryPolicy(code) === "always" && !isHub) || context.interrupted.aborted) throw error;
        if (isHub) paths.planner?.unbrought.set(task.task.task_id, bring); // V4
        context.show(`! ${task.task.task_id}: ${message}`);
      }
    });
  }
}

const begunTasks = (paths: PortfolioPaths, { tasks, projects }: PortfolioView): readonly Begun[] =>
  Object.values(tasks).flatMap((task) => {
    const { status, run_id: run, event_nonce: nonce, ingested, is_edited } = task;
    const [project, copy] = [projects[task.project_id], copyIn(paths, task)];
    const isOver = status === "done" || status === "canceled" || ingested || is_edited;
    return isOver || project === undefined || copy === null || run === null || nonce === null ? [] : [{ task, project, run, nonce, copy }];
  });

/** Another machine may have gone on with it since, or begun what was only named when this one made the copy. */
async function updateCopy(context: CommandContext, { copy, run, nonce }: Begun, { store, isolation }: Bringing): Promise<void> {
  const paths = homeOfCopy(copy);
  const folder = runFolder(paths, run);
  const mark = sharedMark(folder);
  if (mark === null) return;
  const hub = await openHub(await requireRepository(copy), join(ensureOwnFolder(paths), "hub.git"), requireHub(context.env));
  await hub.bring(mark.key);
  await bringCopy(store, mark.key, folder);
  const brought = isBegun(paths, run) && mark.key === runKey(run, nonce) ? await readRunOrNull(paths, run) : null; // V1
  if (brought !== null && !isOwnRun(context, paths, run)) bindBrought(context, paths, brought.view, isolation);
}

/** V2 */
function bindBrought(context: CommandContext, paths: ProjectPaths, { drafted }: RunView, isolation: string | undefined): void {
  const { ack, run_id: run } = drafted;
  bindRun(context.env, paths, runFolder(paths, run), { run, ack, isolation: requireSettings(context, paths, { isolation }).isolation });
}

async function makeCopy(
  context: CommandContext,
  { task, project, run, nonce, copy }: Begun,
  { store, isolation, openExchange }: Bringing & { readonly openExchange: () => Promise<ProjectExchange> },
): Promise<void> {
  const key = runKey(run, nonce); // V1
  const view = await viewIn(store, key);
  const base = view?.drafted.base.commit ?? task.base;
  if (project.repository === null || base === null) return;
  const exchange = await openExchange();
  await exchange.tipOf(project.target);
  await exchange.bringWork({ ...task, commit: null });
  if (!(await exchange.has(base))) return; // V3
  const draft = `${copy}.new`;
  await exchange.makeCopy(draft, { branch: project.target, commit: base });
  const draftPaths = homeOfCopy(draft);
  if (view === null) markShared(runFolder(draftPaths, run), key);
  else {
    await bringRun(context, draftPaths, { store, key, view });
    bindBrought(context, draftPaths, view, isolation);
  }
  renameSync(draft, copy);
}
