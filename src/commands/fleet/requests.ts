// requests: sends pause, stop, answer and resume requests to a run in a store: the request stays in the store until its owner has journaled
// it. A stop of a run without an owner is journaled here.

import { join } from "node:path";
import type { CommandResponse } from "../../contracts/command-response.ts";
import { isRunOpen, listOpenQuestions } from "../../core/selectors.ts";
import type { RunView } from "../../core/state.ts";
import { isApplicable } from "../../engine/record-requests.ts";
import { leaseMs, requireStoreAddress } from "../../fleet/address.ts";
import { openHub } from "../../fleet/hub.ts";
import { hastenOrders, openOrders, ordersIn, type StoredOrder } from "../../fleet/postgres/orders.ts";
import { openPostgresStore, type PostgresStore } from "../../fleet/postgres/store.ts";
import { repositoryId } from "../../fleet/repository-id.ts";
import { isKey } from "../../fleet/shared-mark.ts";
import type { RunRequest } from "../../ports/request-queue.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { catchRefusals, refuse, respond } from "../../project/respond.ts";
import { requireRepository } from "../../project/runs/require-repository.ts";
import { ensureOwnFolder, requireProject } from "../../project/runs/project-paths.ts";
import { matchAnswer } from "../../runner/match-answer.ts";
import { buildRequest } from "../../runner/send-to-run.ts";
import { requireOutsideRun } from "../../runner/require-may-grant.ts";
import { orderId, priorityDefault, slotsDefault } from "./submit.ts";
import { stopUnheld } from "./stop-unheld.ts";
import { viewIn } from "./take.ts";
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

type StoredRunState = {
  readonly store: PostgresStore;
  readonly key: string;
  readonly view: RunView;
  readonly orders: readonly StoredOrder[];
};

export function requestOfRun(context: CommandContext, request: FleetRequest): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const url = requireStoreAddress(context.env, request.store);
    const { key } = request;
    const store = await openPostgresStore(url, { leaseMs: leaseMs(context.env) });
    try {
      const view = isKey(key) ? await viewIn(store, key) : null;
      if (view === null)
        return refuse("run_missing", { message: `There is no run ${key} in the store.`, remediation: ["autopilot fleet status --all"] });
      const orders = await ordersIn(store.database, key);
      const mayLand = request.ask === "resume" && view.status === "completed" && isUnsettled(orders);
      if (!mayLand && (view.status === "completed" || view.status === "stopped" || view.status === "draft"))
        return refuse("invalid_state_transition", {
          message: `${key} is ${view.status}.`,
          state: view.status,
          data: { allowed_from: ["running", "paused"] },
          remediation: ["autopilot fleet status --all"],
        });
      const stored: StoredRunState = { store, key, view, orders };
      switch (request.ask) {
        case "pause":
          return await pauseRun(context, stored, request.now);
        case "stop":
          return await stopRun(context, stored);
        case "resume":
          return await resumeRun(context, stored);
        case "answer":
          return await answerRun(context, stored, request.text, request.block);
      }
    } finally {
      await store.close();
    }
  });
}

/** No worker lived to say what became of a completed run: it may not have landed. */
const isUnsettled = ([last]: readonly StoredOrder[]): boolean =>
  last?.state === "ended" && last.outcome !== null && !last.outcome.startsWith(completedOutcome);

const isUnderWay = ({ orders }: StoredRunState): boolean => orders.some(({ state }) => state === "offered" || state === "taken");

function pauseRun(context: CommandContext, known: StoredRunState, now: boolean): Promise<CommandResponse> {
  if (!isUnderWay(known))
    refuse("invalid_state_transition", {
      message: `Nobody works on ${known.key}, and nobody is about to.`,
      data: { allowed_from: ["a run with an order"] },
      remediation: ["autopilot fleet status --all"],
    });
  return sendRequest(
    context,
    known,
    { event: "control_requested", control: "pause", now },
    now ? "It pauses" : "It pauses when its turn ends",
  );
}

async function stopRun(context: CommandContext, known: StoredRunState): Promise<CommandResponse> {
  const { store, key } = known;
  const request = await leaveRequest(context, known, { event: "control_requested", control: "stop", now: true });
  const after = await stopUnheld(context, store, key);
  if (after === null || isRunOpen(after)) return handToWorker(known, request, "It stops"); // somebody holds it, or the store fell silent
  if (after.status !== "stopped") return refuseUnfit(key, after); // it was completed meanwhile
  return respond("operator_stopped", {
    result: "PASS",
    message: `${key} is stopped. Nobody held it, so this command stopped it and took it from the queue.`,
    state: after.status,
    data: { key, request: request.request },
  });
}

async function resumeRun(context: CommandContext, known: StoredRunState): Promise<CommandResponse> {
  requireOutsideRun(context); // only a person continues a failed run
  if (isUnderWay(known)) return respond("ok", { message: `${known.key} is under way.`, state: known.view.status });
  if (known.orders.length === 0) await offerFirst(context, known);
  else await offerAgain(known);
  return respond("ok", { message: `${known.key} goes on with the next worker that is free.`, state: known.view.status });
}

function answerRun(context: CommandContext, known: StoredRunState, text: string, named: string | undefined): Promise<CommandResponse> {
  const open = listOpenQuestions(known.view);
  const matching = named === undefined ? open : open.filter(({ block }) => block === named || block.endsWith(named));
  const [block] = matching;
  if (block === undefined || matching.length > 1)
    return refuse(open.length === 0 ? "invalid_state_transition" : "human_block_open", {
      result: "FAIL",
      message: open.length === 0 ? `${known.key} has no open question.` : "Say which question.",
      remediation: open.map((request) => `autopilot fleet answer ${known.key} --block "${request.block}" …   (${request.question})`),
    });
  const chosen = matchAnswer(block, text);
  if (chosen === null)
    return refuse("objective_schema_invalid", {
      message: `"${text}" is not one of the answers to "${block.question}".`,
      remediation: Object.entries(block.options).map(([key, message]) => `autopilot fleet answer ${known.key} ${key}   (${message})`),
    });
  return sendRequest(
    context,
    known,
    { event: "block_answered", block: block.block, answer: chosen },
    `Answered "${block.question}" with ${chosen}. It goes on`,
  );
}

/** Leaves the request, and makes sure that a worker takes it up. */
async function sendRequest(
  context: CommandContext,
  known: StoredRunState,
  draft: Parameters<typeof buildRequest>[2],
  effect: string,
): Promise<CommandResponse> {
  return handToWorker(known, await leaveRequest(context, known, draft), effect);
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

async function handToWorker(known: StoredRunState, request: RunRequest, effect: string): Promise<CommandResponse> {
  const { store, key, view } = known;
  const isHeld = await hastenOrders(store.database, key); // read after the request was left: an order that ended meanwhile did not see it
  if (!isHeld) await offerAgain({ ...known, orders: await ordersIn(store.database, key) });
  return respond("ok", {
    message: `${effect} as soon as ${known.orders[0]?.state === "taken" ? "its worker has read it" : "a worker has taken it up"}.`,
    state: view.status,
    remediation: ["autopilot fleet status"],
    data: { key, request: request.request },
  });
}

/** The submitter was killed before its order was written: no worker has it, and a person wants it worked on. */
async function offerFirst(context: CommandContext, { store, key, view }: StoredRunState): Promise<void> {
  const holder = (await store.runs()).find(({ run }) => run === key)?.holder ?? null;
  if (holder !== null)
    refuse("run_locked", {
      message: `${key} is being worked on by ${holder.worker}, process ${holder.pid}, and was not submitted to workers.`,
      data: { pid: holder.pid },
    });
  const paths = await requireProject(context.cwd);
  const clone = await requireRepository(paths.root);
  const hub = await openHub(clone, join(ensureOwnFolder(paths, "worker"), "hub.git"), requireHub(context.env));
  await hub.send(key, 0, view.drafted.base.commit); // what the order refers to exists
  const order = { repository: await repositoryId(clone), priority: priorityDefault, needs: [], slots: slotsDefault };
  await openOrders(store.database).offer({ id: orderId(key, 1), run: key, ...order });
}

/** The next order of a run, like its last one. */
async function offerAgain({ store, key, orders }: StoredRunState): Promise<void> {
  const [last] = orders;
  if (last === undefined)
    return refuse("invalid_state_transition", {
      message: `${key} was never submitted to workers.`,
      data: { allowed_from: ["a submitted run"] },
      remediation: [
        `autopilot fleet resume ${key}, in a clone of its repository, hands it to them`,
        `autopilot fleet take ${key} brings it here`,
      ],
    });
  const { repository, priority, needs, slots } = last;
  await openOrders(store.database).offer({ id: orderId(key, orders.length + 1), run: key, repository, priority, needs, slots });
}
