// bring-tasks: brings the tasks that another machine began to this one, which plans their portfolio
// now: their copies, with the runs as the store has them.
//
// Invariants:
//   V1. A run is known by the key that the portfolio's journal names it with; nothing else in the
//       store is looked at.
//   V2. Nothing of a run is executed here: a worker adopts it under its own config. The run is
//       bound to this machine, since the portfolio belongs to this user, but never with a weaker
//       isolation than this machine's own.
//   V3. A copy is complete or absent. A task whose base commit cannot be fetched begins anew.
//   V4. An unreachable hub delays only the tasks of its repository: they are brought when they are
//       started again.

import { existsSync, renameSync } from "node:fs";
import { join } from "node:path";
import type { RunView } from "../../core/state.ts";
import { openHub } from "../../fleet/hub.ts";
import type { PostgresStore } from "../../fleet/postgres/store.ts";
import { markShared, runKey, readSharedMark } from "../../fleet/shared-mark.ts";
import { bringCopy, openSharedStore } from "../../fleet/shared-run.ts";
import type { PortfolioView, ProjectView, TaskView } from "../../portfolio/planner/state.ts";
import { findCopy, type PortfolioPaths } from "../../portfolio/store/folder.ts";
import { withPortfolio } from "../../portfolio/store/open.ts";
import {
  openProjectExchange,
  type ProjectExchange,
  withHub,
} from "../../portfolio/worker/exchange-for.ts";
import { pathsOfCopy } from "../../portfolio/worker/task-runs.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { toFailure, findRetryPolicy } from "../../project/respond.ts";
import { requireSettings } from "../../project/config/settings.ts";
import { requireRepository } from "../../project/runs/require-repository.ts";
import {
  isBegun,
  ensureOwnFolder,
  type ProjectPaths,
  runFolder,
} from "../../project/runs/project-paths.ts";
import { readRunOrNull } from "../../project/runs/read-run.ts";
import { bindRun, isOwnRun } from "../../project/runs/run-binding.ts";
import { retryDuringOutage } from "./retry-during-outage.ts";
import { requireHub } from "./worker.ts";
import { bringRun, readStoredRun } from "./take.ts";

type BegunTask = {
  readonly task: TaskView;
  readonly project: ProjectView;
  readonly run: string;
  readonly nonce: string;
  readonly copy: string;
};

type CopySource = { readonly store: PostgresStore; readonly isolation: string | undefined };

/**
 * Makes or updates the copies of all begun tasks, before this planner's first tick. An error of one
 * task doesn't keep the others.
 */
export async function bringTasks(
  context: CommandContext,
  paths: PortfolioPaths,
  isolation: string | undefined,
): Promise<void> {
  const retry = retryDuringOutage(context);
  const store = await openSharedStore(context.env);

  const { hubs, projects, begun } = await retry(() =>
    withPortfolio(context, paths, ({ state }) =>
      Promise.resolve(
        structuredClone({
          hubs: state.hubs,
          projects: state.projects,
          begun: listBegunTasks(paths, state),
        }),
      ),
    ),
  );
  for (const task of begun) {
    const { repository } = task.project;
    const bring = async (): Promise<void> => {
      const hubContext = withHub(context, paths, { hubs, projects }, repository);
      const openExchange = () => openProjectExchange(paths, { hubs, projects }, repository ?? "");
      await (existsSync(task.copy)
        ? updateCopy(hubContext, task, { store, isolation })
        : makeCopy(hubContext, task, { store, isolation, openExchange }));
    };

    await retry(async () => {
      try {
        await bring();
      } catch (error) {
        const { code, message } = toFailure(error);
        const isHubFailure = code === "hub_unreachable" || code === "hub_unusable";
        if ((findRetryPolicy(code) === "always" && !isHubFailure) || context.interrupted.aborted) {
          throw error;
        }

        if (isHubFailure) paths.planner?.unbrought.set(task.task.task_id, bring); // V4
        context.show(`! ${task.task.task_id}: ${message}`);
      }
    });
  }
}

const listBegunTasks = (
  paths: PortfolioPaths,
  { tasks, projects }: PortfolioView,
): readonly BegunTask[] =>
  Object.values(tasks).flatMap((task) => {
    const { status, run_id: run, event_nonce: nonce, ingested, is_edited } = task;
    const [project, copy] = [projects[task.project_id], findCopy(paths, task)];
    if (status === "done" || status === "canceled" || ingested || is_edited) return [];
    if (project === undefined || copy === null || run === null || nonce === null) return [];

    return [{ task, project, run, nonce, copy }];
  });

/**
 * Another machine may have continued the run since, or begun a run that only had a name when this
 * machine made the copy.
 */
async function updateCopy(
  context: CommandContext,
  { copy, run, nonce }: BegunTask,
  { store, isolation }: CopySource,
): Promise<void> {
  const paths = pathsOfCopy(copy);
  const folder = runFolder(paths, run);
  const mark = readSharedMark(folder);
  if (mark === null) return;

  const hub = await openHub(
    await requireRepository(copy),
    join(ensureOwnFolder(paths), "hub.git"),
    requireHub(context.env),
  );
  await hub.bring(mark.key);
  await bringCopy(store, mark.key, folder);
  const brought =
    isBegun(paths, run) && mark.key === runKey(run, nonce) ? await readRunOrNull(paths, run) : null; // V1
  if (brought !== null && !isOwnRun(context, paths, run)) {
    bindToThisMachine(context, paths, brought.view, isolation);
  }
}

/** Binds a run that was brought here, with this machine's isolation (V2). */
function bindToThisMachine(
  context: CommandContext,
  paths: ProjectPaths,
  { drafted }: RunView,
  isolation: string | undefined,
): void {
  const { ack, run_id: run } = drafted;
  bindRun(context.env, paths, runFolder(paths, run), {
    run,
    ack,
    isolation: requireSettings(context, paths, { isolation }).isolation,
  });
}

async function makeCopy(
  context: CommandContext,
  { task, project, run, nonce, copy }: BegunTask,
  {
    store,
    isolation,
    openExchange,
  }: CopySource & { readonly openExchange: () => Promise<ProjectExchange> },
): Promise<void> {
  const key = runKey(run, nonce); // V1
  const view = await readStoredRun(store, key);
  const base = view?.drafted.base.commit ?? task.base;
  if (project.repository === null || base === null) return;
  const exchange = await openExchange();
  await exchange.readTip(project.target);
  await exchange.bringWork({ ...task, commit: null });
  if (!(await exchange.hasCommit(base))) return; // V3
  const temporaryCopy = `${copy}.new`;
  await exchange.makeCopy(temporaryCopy, { branch: project.target, commit: base });
  const temporaryPaths = pathsOfCopy(temporaryCopy);

  if (view === null) {
    markShared(runFolder(temporaryPaths, run), key);
  } else {
    await bringRun(context, temporaryPaths, { store, key, view });
    bindToThisMachine(context, temporaryPaths, view, isolation);
  }

  renameSync(temporaryCopy, copy); // V3
}
