// requests: sends pause, stop, answer and resume requests to a run in a store. A request stays in
// the store until the run's worker has journaled it. A run that no worker holds is stopped here.

import { join } from "node:path";
import type { CommandResponse } from "../../contracts/command-response.ts";
import { isRunOpen, listOpenQuestions } from "../../core/selectors.ts";
import type { RunView } from "../../core/state.ts";
import { isApplicable } from "../../engine/record-requests.ts";
import { readLeaseMs, requireStoreAddress } from "../../fleet/address.ts";
import { openHub } from "../../fleet/hub.ts";
import { openOrders } from "../../fleet/postgres/orders.ts";
import { hastenOrders, listOrders, type StoredOrder } from "../../fleet/postgres/stored-orders.ts";
import { openPostgresStore, type PostgresStore } from "../../fleet/postgres/store.ts";
import { readRepositoryId } from "../../fleet/repository-id.ts";
import { isRunKey } from "../../fleet/shared-mark.ts";
import type { RunRequest } from "../../ports/request-queue.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { catchRefusals, refuse, respond } from "../../project/respond.ts";
import { requireRepository } from "../../project/runs/require-repository.ts";
import { ensureOwnFolder, requireProject } from "../../project/runs/project-paths.ts";
import { matchAnswer } from "../../runner/match-answer.ts";
import { buildRequest } from "../../runner/send-to-run.ts";
import { requireOutsideRun } from "../../runner/require-may-grant.ts";
import { priorityDefault } from "../../contracts/portfolio/portfolio-journal.ts";
import { orderId, slotsDefault } from "./submit.ts";
import { stopUnheld } from "./stop-unheld.ts";
import { readStoredRun } from "./take.ts";
import { completedOutcome } from "./work-on-run.ts";
import { requireHub } from "./worker.ts";

export type FleetRequest = {
  readonly key: string;
  readonly store?: string | undefined;
} & (
  | { readonly ask: "pause"; readonly now: boolean }
  | { readonly ask: "stop" }
  | { readonly ask: "resume" }
  | { readonly ask: "answer"; readonly text: string; readonly block?: string | undefined }
);

/** `orders`: all orders of the run, the newest first. */
type StoredRunState = {
  readonly store: PostgresStore;
  readonly key: string;
  readonly view: RunView;
  readonly orders: readonly StoredOrder[];
};

/** Refuses a request that the run's state doesn't allow, before anything is written. */
export function sendFleetRequest(
  context: CommandContext,
  request: FleetRequest,
): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const url = requireStoreAddress(context.env, request.store);
    const { key } = request;
    const store = await openPostgresStore(url, { leaseMs: readLeaseMs(context.env) });

    try {
      const view = isRunKey(key) ? await readStoredRun(store, key) : null;
      if (view === null) {
        return refuse("run_missing", {
          message: `There is no run ${key} in the store.`,
          remediation: ["autopilot fleet status --all"],
        });
      }

      const orders = await listOrders(store.database, key);
      const mayLand =
        request.ask === "resume" && view.status === "completed" && isUnsettled(orders);
      if (
        !mayLand &&
        (view.status === "completed" || view.status === "stopped" || view.status === "draft")
      ) {
        return refuse("invalid_state_transition", {
          message: `${key} is ${view.status}.`,
          state: view.status,
          data: { allowed_from: ["running", "paused"] },
          remediation: ["autopilot fleet status --all"],
        });
      }

      const storedRun: StoredRunState = { store, key, view, orders };
      switch (request.ask) {
        case "pause":
          return await pauseRun(context, storedRun, request.now);
        case "stop":
          return await stopRun(context, storedRun);
        case "resume":
          return await resumeRun(context, storedRun);
        case "answer":
          return await answerRun(context, storedRun, request.text, request.block);
      }
    } finally {
      await store.close();
    }
  });
}

/**
 * Whether the worker of a completed run died before it said what became of the work: it may not
 * have landed.
 */
const isUnsettled = ([newest]: readonly StoredOrder[]): boolean =>
  newest?.state === "ended" &&
  newest.outcome !== null &&
  !newest.outcome.startsWith(completedOutcome);

const isUnderWay = ({ orders }: StoredRunState): boolean =>
  orders.some(({ state }) => state === "offered" || state === "taken");

function pauseRun(
  context: CommandContext,
  storedRun: StoredRunState,
  now: boolean,
): Promise<CommandResponse> {
  if (!isUnderWay(storedRun)) {
    refuse("invalid_state_transition", {
      message: `Nobody works on ${storedRun.key}, and nobody is about to.`,
      data: { allowed_from: ["a run with an order"] },
      remediation: ["autopilot fleet status --all"],
    });
  }

  return sendRequest(
    context,
    storedRun,
    { event: "control_requested", control: "pause", now },
    now ? "It pauses" : "It pauses when its turn ends",
  );
}

async function stopRun(
  context: CommandContext,
  storedRun: StoredRunState,
): Promise<CommandResponse> {
  const { store, key } = storedRun;
  const request = await leaveRequest(context, storedRun, {
    event: "control_requested",
    control: "stop",
    now: true,
  });

  const viewAfter = await stopUnheld(context, store, key);
  if (viewAfter === null || isRunOpen(viewAfter)) {
    return handToWorker(storedRun, request, "It stops");
  } // somebody holds it, or the store fell silent

  if (viewAfter.status !== "stopped") return refuseUnfit(key, viewAfter); // it was completed meanwhile
  return respond("operator_stopped", {
    result: "PASS",
    message: `${key} is stopped. Nobody held it, so this command stopped it and took it from the queue.`,
    state: viewAfter.status,
    data: { key, request: request.request },
  });
}

async function resumeRun(
  context: CommandContext,
  storedRun: StoredRunState,
): Promise<CommandResponse> {
  requireOutsideRun(context); // only a person continues a failed run
  if (isUnderWay(storedRun)) {
    return respond("ok", {
      message: `${storedRun.key} is under way.`,
      state: storedRun.view.status,
    });
  }

  if (storedRun.orders.length === 0) await offerFirst(context, storedRun);
  else await offerAgain(storedRun);

  return respond("ok", {
    message: `${storedRun.key} goes on with the next worker that is free.`,
    state: storedRun.view.status,
  });
}

function answerRun(
  context: CommandContext,
  storedRun: StoredRunState,
  text: string,
  blockName: string | undefined,
): Promise<CommandResponse> {
  const openBlocks = listOpenQuestions(storedRun.view);
  const matching =
    blockName === undefined
      ? openBlocks
      : openBlocks.filter(({ block }) => block.endsWith(blockName));
  const [block] = matching;
  if (block === undefined || matching.length > 1) {
    return refuse(openBlocks.length === 0 ? "invalid_state_transition" : "human_block_open", {
      result: "FAIL",
      message:
        openBlocks.length === 0 ? `${storedRun.key} has no open question.` : "Say which question.",
      remediation: openBlocks.map(
        (candidate) =>
          `autopilot fleet answer ${storedRun.key} --block "${candidate.block}" …   (${candidate.question})`,
      ),
    });
  }

  const chosen = matchAnswer(block, text);
  if (chosen === null) {
    return refuse("objective_schema_invalid", {
      message: `"${text}" is not one of the answers to "${block.question}".`,
      remediation: Object.entries(block.options).map(
        ([key, message]) => `autopilot fleet answer ${storedRun.key} ${key}   (${message})`,
      ),
    });
  }

  return sendRequest(
    context,
    storedRun,
    { event: "block_answered", block: block.block, answer: chosen },
    `Answered "${block.question}" with ${chosen}. It goes on`,
  );
}

/** Leaves the request in the store, and makes sure that a worker reads it. */
async function sendRequest(
  context: CommandContext,
  storedRun: StoredRunState,
  draft: Parameters<typeof buildRequest>[2],
  effect: string,
): Promise<CommandResponse> {
  return handToWorker(storedRun, await leaveRequest(context, storedRun, draft), effect);
}

async function leaveRequest(
  context: CommandContext,
  { store, key, view }: StoredRunState,
  draft: Parameters<typeof buildRequest>[2],
): Promise<RunRequest> {
  const request = buildRequest(context, context.cwd, draft);
  if (!isApplicable(view, request)) return refuseUnfit(key, view);
  await store.send(key, request);

  return request;
}

const refuseUnfit = (key: string, { status }: RunView): never =>
  refuse("invalid_state_transition", {
    message: `${key} is ${status}; that doesn't fit.`,
    state: status,
    data: { allowed_from: ["running"] },
  });

/**
 * Makes sure that a worker reads the request: the one that has the run, or the next that is free.
 */
async function handToWorker(
  storedRun: StoredRunState,
  request: RunRequest,
  effect: string,
): Promise<CommandResponse> {
  const { store, key, view } = storedRun;
  const isHeld = await hastenOrders(store.database, key); // read after the request was left: an order that ended meanwhile did not see it
  if (!isHeld) await offerAgain({ ...storedRun, orders: await listOrders(store.database, key) });

  return respond("ok", {
    message: `${effect} as soon as ${storedRun.orders[0]?.state === "taken" ? "its worker has read it" : "a worker has taken it up"}.`,
    state: view.status,
    remediation: ["autopilot fleet status"],
    data: { key, request: request.request },
  });
}

/** Offers a run whose submitter was killed before it wrote an order. */
async function offerFirst(
  context: CommandContext,
  { store, key, view }: StoredRunState,
): Promise<void> {
  const holder = (await store.runs()).find(({ run }) => run === key)?.holder ?? null;
  if (holder !== null) {
    refuse("run_locked", {
      message: `${key} is being worked on by ${holder.worker}, process ${holder.pid}, and was not submitted to workers.`,
      data: { pid: holder.pid },
    });
  }

  const paths = await requireProject(context.cwd);
  const clone = await requireRepository(paths.root);

  const hub = await openHub(
    clone,
    join(ensureOwnFolder(paths, "worker"), "hub.git"),
    requireHub(context.env),
  );
  await hub.send(key, 0, view.drafted.base.commit); // what the order refers to exists

  const order = {
    repository: await readRepositoryId(clone),
    priority: priorityDefault,
    needs: [],
    slots: slotsDefault,
  };

  await openOrders(store.database).offer({ id: orderId(key, 1), run: key, ...order });
}

/** Offers the run again, under the terms of its newest order. */
async function offerAgain({ store, key, orders }: StoredRunState): Promise<void> {
  const [newest] = orders;
  if (newest === undefined) {
    return refuse("invalid_state_transition", {
      message: `${key} was never submitted to workers.`,
      data: { allowed_from: ["a submitted run"] },
      remediation: [
        `autopilot fleet resume ${key}, in a clone of its repository, hands it to them`,
        `autopilot fleet take ${key} brings it here`,
      ],
    });
  }

  const { repository, priority, needs, slots } = newest;
  await openOrders(store.database).offer({
    id: orderId(key, orders.length + 1),
    run: key,
    repository,
    priority,
    needs,
    slots,
  });
}
