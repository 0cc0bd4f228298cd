// drive-elsewhere: lets the workers of a store run a task. The pool waits for the run, then copies
// its journal and commits to the task's copy, where they count as if it had run here.
//
// Invariants:
//   Y1. One order of a run is open at a time: a pool that was killed finds it, and waits for it
//       again.
//   Y2. A pool that ends withdraws the orders that no worker has taken, and pauses the runs of the
//       others.
//   Y3. A pool that must end at once waits for a bounded time only. The pause is in the store, and
//       the next pool finds the order.
//   Y4. A pool that has lost the portfolio sends its runs no requests: the new owner waits for the
//       same orders.
//   Y5. A store or a hub that cannot be reached is waited for, unless the pool is asked to end;
//       what Y2 asks for is tried again even then.

import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openHub } from "../../fleet/hub.ts";
import { openOrders } from "../../fleet/postgres/orders.ts";
import { listOrders } from "../../fleet/postgres/stored-orders.ts";
import type { PostgresStore } from "../../fleet/postgres/store.ts";
import { readRepositoryId } from "../../fleet/repository-id.ts";
import { bringCopy, openSharedStore } from "../../fleet/shared-run.ts";
import { readSharedMark } from "../../fleet/shared-mark.ts";
import { type Drive, pathsOfCopy } from "../../portfolio/worker/task-runs.ts";
import { toActor, stopAtOnce, type CommandContext } from "../../project/command-context.ts";
import type { Failure } from "../../project/respond.ts";
import { requireRepository } from "../../project/runs/require-repository.ts";
import { ensureOwnFolder, runFolder } from "../../project/runs/project-paths.ts";
import { priorityDefault } from "../../contracts/portfolio/portfolio-journal.ts";
import { orderId, recordStart } from "./submit.ts";
import { isOutage, retryDuringOutage } from "./retry-during-outage.ts";
import { readStoredRun } from "./take.ts";
import { hasLostPortfolio } from "./planner-lease.ts";
import { requireHub } from "./worker.ts";
import { deathsMax } from "./work-on-run.ts";

const pollMs = 500;
/** By then a live worker has read a request and ended its agents. */
const pauseWaitMs = 30_000;
/**
 * How many orders of a repository may be worked on at once: no limit, since the planner keeps to
 * its projects' own.
 */
const slots = 1_000;

/** `driveHere` drives runs that were begun before there was a store. */
export const driveElsewhere =
  (driveHere: Drive): Drive =>
  async (context, copy, run) => {
    const paths = pathsOfCopy(copy);
    const folder = runFolder(paths, run);
    const mark = readSharedMark(folder);
    if (mark === null) return driveHere(context, copy, run);
    const { key } = mark;
    const store = await openSharedStore(context.env);
    const repository = await requireRepository(copy);

    const hub = await openHub(
      repository,
      join(ensureOwnFolder(paths), "hub.git"),
      requireHub(context.env),
    );

    const retry = retryDuringOutage(context);
    const view = await retry(() => beginIfDraft(context, store, { copy, run, key }));
    if (view === null) {
      return { code: "run_missing", message: `There is no run ${key} in the store.` };
    }

    const isOver = view.status === "completed" || view.status === "stopped"; // while no pool was running
    if (!isOver) await retry(() => hub.send(key, 0, view.drafted.base.commit)); // what the order refers to exists
    const outcome = isOver
      ? null
      : await waitForOrder(context, store, key, await readRepositoryId(repository));

    const viewAfter = await retry(() => readStoredRun(store, key));
    await retry(() => hub.bring(key));
    await retry(() => bringCopy(store, key, folder));

    // The journal says what happened to the run, unless no worker got as far as writing it: then
    // the order's outcome counts.
    return viewAfter?.seq === view.seq || viewAfter?.status === "running" ? outcome : null;
  };

/** The state of the run, which is started if it was a draft; null if there is no such run. */
async function beginIfDraft(
  context: CommandContext,
  store: PostgresStore,
  { copy, run, key }: { readonly copy: string; readonly run: string; readonly key: string },
): Promise<Awaited<ReturnType<typeof readStoredRun>>> {
  const view = await readStoredRun(store, key);
  if (view?.status !== "draft") return view;
  await recordStart({ ...context, cwd: copy }, pathsOfCopy(copy), run);

  return readStoredRun(store, key);
}

/**
 * An interrupted pool asks for a pause after the turn; one that must end at once, for a pause now.
 */
function readWantedPause({ interrupted }: CommandContext): "no" | "softly" | "now" {
  if (!interrupted.aborted) return "no";
  return interrupted.reason === stopAtOnce ? "now" : "softly";
}

/**
 * Offers the run to the workers, or finds the order that is open (Y1), and waits until it has
 * ended. Returns its failure, if any; null also if it was withdrawn or the pool stops waiting.
 */
async function waitForOrder(
  context: CommandContext,
  store: PostgresStore,
  key: string,
  repository: string,
): Promise<Failure | null> {
  const dispatch = openOrders(store.database);
  const retry = retryDuringOutage(context);
  const orders = await retry(() => listOrders(store.database, key));
  const openOrder = orders.find(({ state }) => state === "offered" || state === "taken");
  const id = openOrder?.id ?? orderId(key, orders.length + 1);

  if (openOrder === undefined) {
    await retry(() =>
      dispatch.offer({ id, run: key, repository, priority: priorityDefault, needs: [], slots }),
    );
  }

  let sentPause: ReturnType<typeof readWantedPause> = "no";
  let pauseWaitLeftMs = pauseWaitMs;

  for (;;) {
    if (hasLostPortfolio(context)) return null; // Y4
    const current = await listOrders(store.database, key).catch(() => []); // Y5: asked again after the pause below
    const order = current.find((storedOrder) => storedOrder.id === id);
    if (order?.state === "withdrawn") return null;
    if (order?.state === "ended" && order.outcome !== null) {
      return {
        code: order.deaths >= deathsMax ? "crash_loop" : "workspace_unusable",
        message: order.outcome,
      };
    }

    if (order?.state === "ended") return null;
    const wantedPause = readWantedPause(context);
    if (order !== undefined && wantedPause !== sentPause) {
      // Y2
      try {
        if (order.state === "offered" && (await dispatch.withdraw(id))) return null;
        const pause = {
          event: "control_requested",
          control: "pause",
          now: wantedPause === "now",
        } as const;

        await store.send(key, { ...pause, request: randomUUID(), actor: toActor(context) });
        sentPause = wantedPause;
      } catch (error) {
        if (!isOutage(error)) throw error; // Y5: tried again after the pause below
      }
    }

    if (wantedPause === "now") pauseWaitLeftMs -= pollMs;
    if (pauseWaitLeftMs < 0) return null; // Y3
    await sleep(pollMs);
  }
}
