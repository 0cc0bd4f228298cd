// drive-elsewhere: hands a task's run to the workers of a store. The pool waits for it; its journal and commits come back to the task's
// copy, and count as if it had run here.
//
// Invariants:
//   Y1. One order of a run is open at a time: a pool that was killed finds it, and waits for it again.
//   Y2. A pool that ends leaves no worker with a run it does not know of: untaken orders are withdrawn, taken ones are paused.
//   Y3. Ended at once, it waits for a bounded time only. The pause is in the store, and the next pool finds the order.
//   Y4. A pool that has lost the portfolio sends its runs no requests: the new owner waits for the same orders.
//   Y5. A store or a hub that is away is waited for, and held against no task.

import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Hub, openHub } from "../../fleet/hub.ts";
import { openOrders, ordersIn } from "../../fleet/postgres/orders.ts";
import type { PostgresStore } from "../../fleet/postgres/store.ts";
import { repositoryId } from "../../fleet/repository-id.ts";
import { bringCopy, storeIn } from "../../fleet/shared-run.ts";
import { sharedMark } from "../../fleet/shared-mark.ts";
import { type Drive, homeOfCopy } from "../../portfolio/worker/worker.ts";
import { actorOf, atOnce, type CommandContext } from "../../project/command-context.ts";
import { type Failure, failureOf, retryOf } from "../../project/reply.ts";
import { openedRepository } from "../../project/runs/opened-repository.ts";
import { ownFolder, runFolder } from "../../project/runs/project-paths.ts";
import { withRun } from "../../runner/open-run.ts";
import { orderId, priorityDefault } from "./submit.ts";
import { viewIn } from "./take.ts";
import { hasLostPortfolio } from "./planner-lease.ts";
import { requireHub } from "./worker.ts";
import { deathsMax } from "./work-on-run.ts";

const lookEveryMs = 500;
/** By then a live worker has read a request and ended its agents. */
const patienceMs = 30_000;
/** The planner gives out no more than its projects' slots. */
const slots = 1_000;

/** `here` drives runs that were begun before there was a store. */
export const driveElsewhere =
  (here: Drive): Drive =>
  async (context, copy, run) => {
    const paths = homeOfCopy(copy);
    const folder = runFolder(paths, run);
    const mark = sharedMark(folder);
    if (mark === null) return here(context, copy, run);
    const { key } = mark;
    const store = await storeIn(context.env);
    const repository = await openedRepository(copy);
    const hub = await openHub(repository, join(ownFolder(paths), "hub.git"), requireHub(context.env));
    const insist = insisting(context);
    const view = await insist(() => begun(context, store, hub, copy, run, key));
    if (view === null) return { code: "run_missing", message: `There is no run ${key} in the store.` };
    const isOver = view.status === "completed" || view.status === "stopped"; // while no pool was running
    const outcome = isOver ? null : await workedOn(context, store, key, await repositoryId(repository));
    const after = await insist(() => viewIn(store, key));
    await insist(() => hub.bring(key));
    await insist(() => bringCopy(store, key, folder));
    // The journal of a begun run says what happened to it, unless nobody got as far as to write it.
    return after?.seq === view.seq || after?.status === "running" ? outcome : null;
  };

/** The run as it is, begun where it was a draft; null if it isn't there. */
async function begun(
  context: CommandContext,
  store: PostgresStore,
  hub: Hub,
  copy: string,
  run: string,
  key: string,
): Promise<Awaited<ReturnType<typeof viewIn>>> {
  const view = await viewIn(store, key);
  if (view?.status !== "draft") return view;
  await hub.send(key, 0, view.drafted.base.commit); // what the order refers to exists
  await withRun({ ...context, cwd: copy }, homeOfCopy(copy), run, async (openRun) => {
    const [{ ack }, actor] = [openRun.view().drafted, actorOf(context)];
    await openRun.append({ event: "preview_acknowledged", ack, actor, reason_code: "ack_recorded" });
    await openRun.append({ event: "run_started", ack, actor, reason_code: "run_started", from_state: "draft", to_state: "running" });
  });
  return viewIn(store, key);
}

/** Does it again during an outage, while the pool is not asked to end (Y5). */
const insisting =
  ({ interrupted, show }: Pick<CommandContext, "interrupted" | "show">) =>
  async <Value>(work: () => Promise<Value>): Promise<Value> => {
    for (let last = ""; ;) {
      try {
        return await work();
      } catch (error) {
        const { code, message } = failureOf(error);
        if (retryOf(code) !== "always" || interrupted.aborted) throw error;
        if (code !== last) show(`· waits: ${message}`);
        last = code;
        await sleep(lookEveryMs);
      }
    }
  };

/** Waits until the run's order has ended; its result, null if it was withdrawn or the pool stops waiting. Y1 */
async function workedOn(context: CommandContext, store: PostgresStore, key: string, repository: string): Promise<Failure | null> {
  const dispatch = openOrders(store.database);
  const insist = insisting(context);
  const known = await insist(() => ordersIn(store.database, key));
  const open = known.find(({ state }) => state === "offered" || state === "taken");
  const id = open?.id ?? orderId(key, known.length + 1);
  if (open === undefined) await insist(() => dispatch.offer({ id, run: key, repository, priority: priorityDefault, needs: [], slots }));
  let asked: "no" | "softly" | "now" = "no";
  let leftMs = patienceMs;
  for (;;) {
    if (hasLostPortfolio(context)) return null; // Y4
    const order = (await ordersIn(store.database, key).catch(() => [])).find((storedOrder) => storedOrder.id === id);
    if (order?.state === "withdrawn") return null;
    if (order?.state === "ended" && order.outcome !== null)
      return { code: order.deaths >= deathsMax ? "crash_loop" : "workspace_unusable", message: order.outcome };
    if (order?.state === "ended") return null;
    const wanted = !context.interrupted.aborted ? "no" : context.interrupted.reason === atOnce ? "now" : "softly";
    if (order !== undefined && wanted !== asked) {
      asked = wanted; // Y2
      if (order.state === "offered" && (await dispatch.withdraw(id))) return null;
      await store.send(key, {
        event: "control_requested",
        control: "pause",
        now: wanted === "now",
        request: randomUUID(),
        actor: actorOf(context),
      });
    }
    if (wanted === "now" && (leftMs -= lookEveryMs) < 0) return null; // Y3
    await sleep(lookEveryMs);
  }
}
