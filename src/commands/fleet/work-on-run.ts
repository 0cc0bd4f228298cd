// work-on-run: handles one order of a worker: copies the run into a clone of the repository, drives it until it rests, and lands it on the
// hub.
//
// Invariants:
//   W1. The run's lease decides who may write, never the order: a run that another worker has is left alone.
//   W2. A copy is reused only while no other worker has written to the run since; else it is made again from the store and the hub.
//   W3. The run's result is read from its journal.
//   W4. A run that workers die of is given to no further worker: before anything of it is read, a person is asked.
//   W5. A worker with another hub than the run's gives it back untried: its commits would be sent where nobody looks for them.
//   W6. A store that is behind the hub has lost what was acknowledged, as after a restored backup: nothing is bought or landed again.

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { CommandResponse } from "../../contracts/command-response.ts";
import type { RunView } from "../../core/state.ts";
import { openHub } from "../../fleet/hub.ts";
import { isKey } from "../../fleet/shared-mark.ts";
import type { PostgresStore } from "../../fleet/postgres/store.ts";
import { JournalFailure } from "../../journal/failure.ts";
import { readJournal } from "../../journal/read.ts";
import type { HandedOrder, OrderEnd } from "../../ports/dispatch.ts";
import { openExchange } from "../../portfolio/worker/git-exchange.ts";
import { homeOfCopy } from "../../portfolio/worker/worker.ts";
import { atOnce, type CommandContext } from "../../project/command-context.ts";
import { toFailure, Refusal, refuse } from "../../project/respond.ts";
import { requireRepository } from "../../project/runs/require-repository.ts";
import { type ProjectPaths, ensureOwnFolder, runFolder } from "../../project/runs/project-paths.ts";
import { unbindRun } from "../../project/runs/run-binding.ts";
import { whyBranchKept, hasLanded } from "../../views/next-actions.ts";
import { adopt } from "../adopt.ts";
import { resume } from "../resume.ts";
import { landOnHub } from "./land-on-hub.ts";
import { handedBack, isFixable, orderEndForRest, restsForPerson, troubleAgainMs } from "./order-end.ts";
import { bringRun, type StoredRunToBring, viewIn } from "./take.ts";
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

export const deathsMax = 5;
const crashLoopOutcome = ({ deaths }: HandedOrder): string =>
  `failed: ${deaths} workers in a row died or fell silent soon after they had got it`;
/** Another worker has the run, or had it until now: tried again soon. */
const lockedAgainMs = 500;

export async function workOnRun(
  { context, paths, copies, store, hub: url, isolation }: WorkerParts,
  order: HandedOrder,
  lease: { readonly isConfirmed: () => boolean; readonly lost: AbortSignal },
): Promise<OrderEnd> {
  const leaseLost = new AbortController();
  const end = (): void => leaseLost.abort(atOnce);
  lease.lost.addEventListener("abort", end, { once: true });
  const copy = join(copies, order.run);
  const here: CommandContext = {
    ...context,
    cwd: copy,
    isTerminal: false,
    ask: () => Promise.resolve(null),
    live: () => undefined,
    show: (line) => context.show(`${order.run} │ ${line}`),
    pauseDetail: handedBack,
    interrupted: AbortSignal.any([context.interrupted, leaseLost.signal]),
  };
  let isUntried = true;
  try {
    if (order.deaths >= deathsMax) return { kind: "ended", outcome: crashLoopOutcome(order) }; // W4
    const before = await viewIn(store, order.run);
    if (before === null) return { kind: "ended", outcome: "failed: there is no such run in the store", isOver: true };
    const run = before.drafted.run_id;
    if (before.status === "stopped") {
      deleteCopy(here, copy, run); // without the hub, which may be the reason that it was stopped
      return orderEndForRest(before, null);
    }
    const isOver = before.status === "completed";
    // A worker died between a failure or a pause and reporting it. Only a person can continue that.
    if (order.times > 1 && restsForPerson(before)) return orderEndForRest(before, null);
    await prepareCopy(here, paths, { store, key: order.run, view: before, url });
    isUntried = isOver;
    const response = isOver ? null : await adoptAndResume(here, run);
    const after = await viewIn(store, order.run); // W3
    if (after === null) return { kind: "ended", outcome: "failed: the run is gone", isOver: true };
    isUntried = after.seq === before.seq;
    if (response?.result === "FAIL" && (passingFailures.has(response.reason_code) || after.seq === before.seq)) throw new Refusal(response); // W1
    if (after.status === "completed") {
      const hub = await openHub(await requireRepository(copy), join(ensureOwnFolder(homeOfCopy(copy)), "hub.git"), url);
      const landed = hasLanded(after)
        ? await landOnHub(here, homeOfCopy(copy), { hub, view: after, isolation, mayLand: lease.isConfirmed })
        : null;
      if (landed?.kind === "unsure") return { kind: "again", afterMs: lockedAgainMs, because: landed.why };
      deleteCopy(here, copy, run);
      return { kind: "ended", outcome: describeOutcome(after, landed), isOver: true };
    }
    if (after.status === "stopped") deleteCopy(here, copy, run);
    return orderEndForRest(after, response, here.interrupted.aborted);
  } catch (error) {
    const end = orderEndForError(error);
    return isUntried && end.kind === "again" ? { ...end, isUntried } : end;
  } finally {
    lease.lost.removeEventListener("abort", end);
  }
}

/** It belongs to this machine from here on, under its own config (decision 0097), and works until it rests. */
async function adoptAndResume(here: CommandContext, run: string): Promise<CommandResponse> {
  const adopted = await adopt(here, { run, yes: true });
  return adopted.result === "FAIL" ? adopted : resume(here, { words: [], yes: true, run, leavesParked: true, now: true });
}

/** `url`: the hub's address. */
type RunToPrepare = StoredRunToBring & { readonly store: PostgresStore; readonly url: string };

/** Makes sure that the run's copy is here and up to date. W2 */
async function prepareCopy(here: CommandContext, paths: ProjectPaths, { store, key, view, url }: RunToPrepare): Promise<void> {
  const copy = here.cwd;
  const { run_id: run, base } = view.drafted;
  const folder = runFolder(homeOfCopy(copy), run);
  const repository = await requireRepository(paths.root);
  const hub = await openHub(repository, join(ensureOwnFolder(paths, "worker"), "hub.git"), url);
  const newest = await hub.newestEpoch(key);
  if (newest === null)
    refuse("hub_unusable", {
      message: `${url}, the hub of this worker, has no commit of ${key}: it was submitted through another hub. Workers and submitters of a repository need the same one in AUTOPILOT_HUB.`,
      remediation: [],
      run_id: run,
    }); // W5
  const granted = await store.epochOf(key); // asked after the hub: it only grows
  if (newest > granted)
    throw new JournalFailure({
      kind: "store_lost_lines",
      detail: `the hub has work of epoch ${newest} of ${key}, and the store is back at epoch ${granted}`,
    }); // W6
  if (existsSync(folder)) {
    if (countLines(folder) >= view.seq) return; // even if the store has lost lines: opening the run reports that
    deleteCopy(here, copy, run);
  }
  await hub.bring(key);
  const exchange = await openExchange(paths.root, join(ensureOwnFolder(paths, "worker"), "exchange.git"));
  if (!(await exchange.has(base.commit)))
    refuse("work_missing", { message: `Commit ${base.commit.slice(0, 12)}, on which ${run} began, isn't in the hub.`, run_id: run });
  await exchange.makeCopy(copy, { branch: base.branch ?? "detached", commit: base.commit });
  await bringRun(here, homeOfCopy(copy), { store, key, view });
}

/** Deletes copies of runs that are over or continued elsewhere, before the first order. */
export async function sweepCopies({ context, copies, store }: Pick<WorkerParts, "context" | "copies" | "store">): Promise<void> {
  for (const key of readdirSync(copies).filter(isKey)) {
    const copy = join(copies, key);
    const view = await viewIn(store, key).catch((error: unknown) => {
      if (error instanceof JournalFailure && error.kind !== "store_unreachable") return "unreadable" as const;
      throw error;
    });
    if (view === "unreadable") continue; // opening it reports that; this copy may be the only one
    const run = view?.drafted.run_id ?? key.slice(0, key.lastIndexOf("."));
    const folder = runFolder(homeOfCopy(copy), run);
    const isOver = view === null || view.status === "completed" || view.status === "stopped";
    if (isOver || !existsSync(folder) || countLines(folder) < view.seq) deleteCopy(context, copy, run);
  }
}

/** How many lines a copy has; 0 if they cannot be read: the store has them all. */
function countLines(folder: string): number {
  try {
    return readJournal(folder, { from: "start" }).end.seq;
  } catch (error) {
    if (error instanceof JournalFailure) return -1;
    throw error;
  }
}

function deleteCopy({ env }: Pick<CommandContext, "env">, copy: string, run: string): void {
  const folder = runFolder(homeOfCopy(copy), run);
  if (existsSync(folder)) unbindRun(env, folder, run);
  eraseSync(copy);
}

/** What the outcome of a run begins with that was seen through, landed or not. */
export const completedOutcome = "completed";

function describeOutcome(view: RunView, landed: Awaited<ReturnType<typeof landOnHub>> | null): string {
  const verdict = view.verdict ?? "unverified";
  if (landed?.kind === "landed") return `${completedOutcome}, ${verdict}, landed as ${landed.commit.slice(0, 12)}`;
  if (landed !== null) return `${completedOutcome}, ${verdict}, not landed: ${landed.why}`;
  return `${completedOutcome}, ${verdict}, ${whyBranchKept(view) === null ? "nothing to land" : "kept on its branch"}`;
}

const passingFailures: ReadonlySet<string> = new Set(["run_locked", "lease_lost", "store_unreachable"]);

/** Another worker's run, or an outage, is tried again; an error that a person must fix ends the order with its message. */
function orderEndForError(error: unknown): OrderEnd {
  const { code, message } = toFailure(error);
  if (passingFailures.has(code)) return { kind: "again", afterMs: lockedAgainMs, because: message };
  if (isFixable(code)) return { kind: "again", afterMs: troubleAgainMs, because: message, isTrouble: true };
  return { kind: "ended", outcome: `failed: ${message}` };
}
