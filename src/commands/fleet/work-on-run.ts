// work-on-run: handles one order of a worker: copies the run into a clone of the repository, drives
// it until it rests, and lands it on the hub.
//
// Invariants:
//   W1. The run's lease decides who may write, never the order: a run that another worker has is
//       left alone.
//   W2. A copy is reused only while no other worker has written to the run since; else it is made
//       again from the store and the hub.
//   W3. The run's result is read from its journal.
//   W4. A run on which several workers in a row have died is given to no other worker before a
//       person decides; nothing of it is read.
//   W5. A worker whose hub isn't the run's gives it back untried: its commits would go where nobody
//       looks for them.
//   W6. A store that is behind the hub has lost acknowledged lines, as after restoring a backup: no
//       turn is paid and no work landed again.

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { CommandResponse } from "../../contracts/command-response.ts";
import type { RunView } from "../../core/state.ts";
import { openHub } from "../../fleet/hub.ts";
import { isRunKey } from "../../fleet/shared-mark.ts";
import type { PostgresStore } from "../../fleet/postgres/store.ts";
import { JournalFailure } from "../../journal/journal-failure.ts";
import { readJournal } from "../../journal/read.ts";
import type { HandedOrder, OrderEnd } from "../../ports/dispatch.ts";
import { openExchange } from "../../portfolio/worker/git-exchange.ts";
import { pathsOfCopy } from "../../portfolio/worker/task-runs.ts";
import { stopAtOnce, type CommandContext } from "../../project/command-context.ts";
import { toFailure, Refusal, refuse } from "../../project/respond.ts";
import { requireRepository } from "../../project/runs/require-repository.ts";
import { type ProjectPaths, ensureOwnFolder, runFolder } from "../../project/runs/project-paths.ts";
import { unbindRun } from "../../project/runs/run-binding.ts";
import { whyBranchKept, hasLanded } from "../../views/next-actions.ts";
import { adopt } from "../adopt.ts";
import { resume } from "../resume.ts";
import { landOnHub } from "./land-on-hub.ts";
import {
  handedBack,
  isFixable,
  decideOrderEnd,
  restsForPerson,
  troubleRetryMs,
} from "./order-end.ts";
import { bringRun, type StoredRunToBring, readStoredRun } from "./take.ts";
import { eraseSync } from "../../workspace/folder.ts";

export type WorkerParts = {
  readonly context: CommandContext;
  readonly paths: ProjectPaths;
  /** The folder of this worker's copies: its name is unique, so no other process works there. */
  readonly copies: string;
  readonly store: PostgresStore;
  readonly hub: string;
  readonly isolation?: string | undefined;
};

/** So many workers in a row may die of a run before a person is asked (W4). */
export const deathsMax = 5;
const crashLoopOutcome = ({ deaths }: HandedOrder): string =>
  `failed: ${deaths} workers in a row died or fell silent soon after they had got it`;
/** When a run is tried again that another worker has, or had until a moment ago. */
const lockedRetryMs = 500;

type WorkerLease = { readonly isConfirmed: () => boolean; readonly lost: AbortSignal };

/** What stays the same while an order is handled. */
type OrderWork = Pick<WorkerParts, "paths" | "store" | "hub" | "isolation"> & {
  readonly order: HandedOrder;
  readonly runContext: CommandContext;
  readonly lease: WorkerLease;
  /** Whether nothing of the run was executed. */
  isUntried: boolean;
};

/**
 * Handles an order. `lease`: the worker's own; if it is lost the run's processes are ended at once.
 */
export async function workOnRun(
  { context, paths, copies, store, hub, isolation }: WorkerParts,
  order: HandedOrder,
  lease: WorkerLease,
): Promise<OrderEnd> {
  if (order.deaths >= deathsMax) return { kind: "ended", outcome: crashLoopOutcome(order) }; // W4

  const leaseLost = new AbortController();
  const endAtOnce = (): void => leaseLost.abort(stopAtOnce);
  lease.lost.addEventListener("abort", endAtOnce, { once: true });

  const runContext: CommandContext = {
    ...context,
    cwd: join(copies, order.run),
    isTerminal: false,
    ask: () => Promise.resolve(null),
    showLive: () => undefined,
    show: (line) => context.show(`${order.run} │ ${line}`),
    pauseDetail: handedBack,
    interrupted: AbortSignal.any([context.interrupted, leaseLost.signal]),
  };

  const work = { paths, store, hub, isolation, order, runContext, lease, isUntried: true };
  try {
    return await handleOrder(work);
  } catch (error) {
    const orderEnd = decideEndForError(error);
    if (!work.isUntried || orderEnd.kind !== "again") return orderEnd;
    return { ...orderEnd, isUntried: true };
  } finally {
    lease.lost.removeEventListener("abort", endAtOnce);
  }
}

async function handleOrder(work: OrderWork): Promise<OrderEnd> {
  const { paths, store, order, runContext } = work;
  const viewBefore = await readStoredRun(store, order.run);
  if (viewBefore === null) {
    return { kind: "ended", outcome: "failed: there is no such run in the store", isOver: true };
  }

  const run = viewBefore.drafted.run_id;
  if (viewBefore.status === "stopped") {
    deleteCopy(runContext, runContext.cwd, run); // without the hub, which may be the reason that it was stopped
    return decideOrderEnd(viewBefore, null);
  }

  // A worker died between a failure or a pause and reporting it. Only a person can continue that.
  if (order.times > 1 && restsForPerson(viewBefore)) return decideOrderEnd(viewBefore, null);

  const isOver = viewBefore.status === "completed";
  const toPrepare = { store, key: order.run, view: viewBefore, url: work.hub };
  await prepareCopy(runContext, paths, toPrepare);
  work.isUntried = isOver; // from here on something of the run may have been executed
  const response = isOver ? null : await adoptAndResume(runContext, run);

  const viewAfter = await readStoredRun(store, order.run); // W3
  if (viewAfter === null) {
    return { kind: "ended", outcome: "failed: the run is gone", isOver: true };
  }

  work.isUntried = viewAfter.seq === viewBefore.seq;
  if (response?.result === "FAIL") {
    const isPassing = passingCodes.has(response.reason_code);
    if (isPassing || work.isUntried) throw new Refusal(response);
  } // W1

  if (viewAfter.status === "completed") return landCompleted(work, viewAfter);
  if (viewAfter.status === "stopped") deleteCopy(runContext, runContext.cwd, run);
  return decideOrderEnd(viewAfter, response, runContext.interrupted.aborted);
}

async function landCompleted(
  { hub: url, isolation, runContext, lease }: OrderWork,
  view: RunView,
): Promise<OrderEnd> {
  const copy = runContext.cwd;
  const copyPaths = pathsOfCopy(copy);
  const repository = await requireRepository(copy);
  const hub = await openHub(repository, join(ensureOwnFolder(copyPaths), "hub.git"), url);

  const request = { hub, view, isolation, mayLand: lease.isConfirmed };
  const landing = hasLanded(view) ? await landOnHub(runContext, copyPaths, request) : null;
  if (landing?.kind === "unsure") {
    return { kind: "again", afterMs: lockedRetryMs, because: landing.why };
  }

  deleteCopy(runContext, copy, view.drafted.run_id);
  return { kind: "ended", outcome: describeOutcome(view, landing), isOver: true };
}

/** Adopts the run under this machine's config (decision 0097), and works on it until it rests. */
async function adoptAndResume(runContext: CommandContext, run: string): Promise<CommandResponse> {
  const adopted = await adopt(runContext, { run, yes: true });
  if (adopted.result === "FAIL") return adopted;
  return resume(runContext, { words: [], yes: true, run, leavesParked: true, now: true });
}

/** `url`: the hub's address. */
type RunToPrepare = StoredRunToBring & { readonly store: PostgresStore; readonly url: string };

/** Makes sure that the run's copy is here and up to date (W2). */
async function prepareCopy(
  runContext: CommandContext,
  paths: ProjectPaths,
  { store, key, view, url }: RunToPrepare,
): Promise<void> {
  const copy = runContext.cwd;
  const { run_id: run, base } = view.drafted;
  const folder = runFolder(pathsOfCopy(copy), run);
  const repository = await requireRepository(paths.root);
  const hub = await openHub(repository, join(ensureOwnFolder(paths, "worker"), "hub.git"), url);
  const newest = await hub.newestEpoch(key);
  if (newest === null) {
    refuse("hub_unusable", {
      message: `${url}, the hub of this worker, has no commit of ${key}: it was submitted through another hub. Workers and submitters of a repository need the same one in AUTOPILOT_HUB.`,
      remediation: [],
      run_id: run,
    });
  } // W5

  const granted = await store.epochOf(key); // asked after the hub: it only grows
  if (newest > granted) {
    throw new JournalFailure({
      kind: "store_lost_lines",
      detail: `the hub has work of epoch ${newest} of ${key}, and the store is back at epoch ${granted}`,
    });
  } // W6

  if (existsSync(folder)) {
    if (countLines(folder) >= view.seq) return; // even if the store has lost lines: opening the run reports that
    deleteCopy(runContext, copy, run);
  }

  await hub.bring(key);
  const exchange = await openExchange(
    paths.root,
    join(ensureOwnFolder(paths, "worker"), "exchange.git"),
  );
  if (!(await exchange.hasCommit(base.commit))) {
    refuse("work_missing", {
      message: `Commit ${base.commit.slice(0, 12)}, on which ${run} began, isn't in the hub.`,
      run_id: run,
    });
  }

  await exchange.makeCopy(copy, { branch: base.branch ?? "detached", commit: base.commit });
  await bringRun(runContext, pathsOfCopy(copy), { store, key, view });
}

/** Deletes copies of runs that are over or continued elsewhere, before the first order. */
export async function deleteOldCopies({
  context,
  copies,
  store,
}: Pick<WorkerParts, "context" | "copies" | "store">): Promise<void> {
  for (const key of readdirSync(copies).filter(isRunKey)) {
    const copy = join(copies, key);
    const view = await readStoredRun(store, key).catch((error: unknown) => {
      if (error instanceof JournalFailure && error.kind !== "store_unreachable") {
        return "unreadable" as const;
      }

      throw error;
    });
    if (view === "unreadable") continue; // opening it reports that; this copy may be the only one
    const run = view?.drafted.run_id ?? key.slice(0, key.lastIndexOf(".")); // a key is the run's id, a dot and a nonce
    const folder = runFolder(pathsOfCopy(copy), run);
    const isOver = view === null || view.status === "completed" || view.status === "stopped";
    if (isOver || !existsSync(folder) || countLines(folder) < view.seq) {
      deleteCopy(context, copy, run);
    }
  }
}

/**
 * How many lines a copy's journal has; -1, fewer than any run has, if they cannot be read. The
 * store has them all.
 */
function countLines(folder: string): number {
  try {
    return readJournal(folder, { startAt: "start" }).end.seq;
  } catch (error) {
    if (error instanceof JournalFailure) return -1;
    throw error;
  }
}

function deleteCopy({ env }: Pick<CommandContext, "env">, copy: string, run: string): void {
  const folder = runFolder(pathsOfCopy(copy), run);
  if (existsSync(folder)) unbindRun(env, folder, run);
  eraseSync(copy);
}

/** Every outcome of a completed run begins with this word, landed or not. */
export const completedOutcome = "completed";

function describeOutcome(
  view: RunView,
  landing: Awaited<ReturnType<typeof landOnHub>> | null,
): string {
  const verdict = view.verdict ?? "unverified";
  if (landing?.kind === "landed") {
    return `${completedOutcome}, ${verdict}, landed as ${landing.commit.slice(0, 12)}`;
  }

  if (landing !== null) return `${completedOutcome}, ${verdict}, not landed: ${landing.why}`;
  return `${completedOutcome}, ${verdict}, ${whyBranchKept(view) === null ? "nothing to land" : "kept on its branch"}`;
}

/** Failures that pass by themselves, within moments. */
const passingCodes: ReadonlySet<string> = new Set([
  "run_locked",
  "lease_lost",
  "store_unreachable",
]);

/**
 * Another worker's run, or an outage, is tried again; an error that a person must fix ends the
 * order with its message.
 */
function decideEndForError(error: unknown): OrderEnd {
  const { code, message } = toFailure(error);
  if (passingCodes.has(code)) return { kind: "again", afterMs: lockedRetryMs, because: message };
  if (isFixable(code)) {
    return { kind: "again", afterMs: troubleRetryMs, because: message, isTrouble: true };
  }

  return { kind: "ended", outcome: `failed: ${message}` };
}
