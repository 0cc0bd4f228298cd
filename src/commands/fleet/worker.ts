// worker: runs a worker of a store on this machine: takes runs submitted for this repository, and
// those whose worker is gone.
//
// Invariants:
//   V1. The worker's name is held by a lease. A worker that is not sure of it takes nothing; one
//       that has lost it ends its runs and begins again.
//   V2. When asked to end it takes nothing more. Runs pause when their turn ends and go back to the
//       store for others.

import { once } from "node:events";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { CommandResponse } from "../../contracts/command-response.ts";
import {
  findHubAddress,
  readLeaseMs,
  requireStoreAddress,
  storeVariable,
} from "../../fleet/address.ts";
import { openHub } from "../../fleet/hub.ts";
import { requireOwnHub } from "../../fleet/own-hub.ts";
import { readRepositoryId } from "../../fleet/repository-id.ts";
import { JournalFailure } from "../../journal/journal-failure.ts";
import type { Dispatch, OnOrder, WorkerRegistration } from "../../ports/dispatch.ts";
import type { Holder } from "../../ports/run-store.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { catchRefusals, Refusal, refuse, respond } from "../../project/respond.ts";
import { requireRepository } from "../../project/runs/require-repository.ts";
import { requireProject, ensureOwnFolder } from "../../project/runs/project-paths.ts";
import { WorkspaceFailed } from "../../workspace/failure.ts";
import type { Repository } from "../../workspace/git/repository.ts";
import { addIgnoreLines } from "../../workspace/owned-paths.ts";
import { deleteOldCopies, workOnRun, type WorkerParts } from "./work-on-run.ts";
import { sha256 } from "../../project/sha256.ts";

export type WorkerInput = {
  readonly store?: string | undefined;
  readonly jobs?: number | undefined;
  readonly labels?: readonly string[] | undefined;
  readonly name?: string | undefined;
  readonly isolation?: string | undefined;
};

const labelsMax = 16;
/** Such as `linux-gpu`. */
const labelPattern = /^[a-z0-9][a-z0-9_.-]{0,39}$/;
/** Such as `Build-03.example.org`. */
const namePattern = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$/;
const retryMs = 1_000;

/** Works until it is interrupted, then says how many orders it has done and given back. */
export function runWorker(
  callerContext: CommandContext,
  input: WorkerInput,
): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const address = requireStoreAddress(callerContext.env, input.store);
    const env = { ...callerContext.env, [storeVariable]: address };
    const context = { ...callerContext, env };
    const paths = await requireProject(context.cwd);
    const hub = requireHub(env);
    const repository = await requireRepository(paths.root);
    await addIgnoreLines(repository.commonDir);
    await inspectHub(context, repository, join(ensureOwnFolder(paths, "worker"), "hub.git"), hub);

    const registration: WorkerRegistration = {
      worker: resolveWorkerName(input.name, paths.root),
      jobs: input.jobs ?? 1,
      labels: parseLabels(input.labels ?? []),
      repositories: [await readRepositoryId(repository)],
    };

    const [{ openSharedStore }, { openOrders }] = await Promise.all([
      import("../../fleet/shared-run.ts"),
      import("../../fleet/postgres/orders.ts"),
    ]);
    const store = await openSharedStore(env);
    const dispatch = openOrders(store.database, { leaseMs: readLeaseMs(env) });
    const pauseSignal = new AbortController(); // V2: whatever signal the worker gets, turns under way may end
    const parts: WorkerParts = {
      context: { ...context, interrupted: pauseSignal.signal },
      paths,
      copies: ensureOwnFolder(paths, "worker", "copies", registration.worker),
      store,
      hub,
      isolation: input.isolation,
    };

    const tally = { ended: 0, returned: 0 };
    const control = { pauseSignal, interrupted: context.interrupted, tally };
    try {
      await workUntilEnded(dispatch, registration, parts, control);
    } finally {
      await store.close();
    }

    const { worker } = registration;
    return respond("ok", {
      message: `${worker} has ended: ${tally.ended} ${tally.ended === 1 ? "order" : "orders"} done, ${tally.returned} given back.`,
      data: { worker, ...tally },
    });
  });
}

/** Refuses another repository's hub at once. An unreachable hub may come back: runs wait for it. */
async function inspectHub(
  context: CommandContext,
  repository: Repository,
  folder: string,
  url: string,
): Promise<void> {
  const interruption = once(context.interrupted, "abort");
  const inspect = async (): Promise<void> => {
    const hub = await openHub(repository, folder, url);
    await requireOwnHub(repository, hub, url);
  };

  try {
    await Promise.race([inspect(), interruption]);
  } catch (error) {
    if (!(error instanceof WorkspaceFailed && error.reason === "hub_unreachable")) throw error;
    context.show(`! ${error.message}; runs wait until it answers`);
  }
}

type WorkControl = {
  readonly pauseSignal: AbortController;
  readonly interrupted: AbortSignal;
  readonly tally: { ended: number; returned: number };
};

/**
 * Registers and takes orders until the worker is asked to end; after a lost lease it registers
 * again.
 */
async function workUntilEnded(
  dispatch: Dispatch,
  registration: WorkerRegistration,
  parts: WorkerParts,
  { pauseSignal, interrupted, tally }: WorkControl,
): Promise<void> {
  const { context } = parts;
  const onOrder = workOnOrders(parts, tally);
  const { worker, jobs, labels } = registration;
  const labelsText = labels.length === 0 ? "" : `, labels ${labels.join(", ")}`;

  while (!interrupted.aborted) {
    const session = await register(context, interrupted, () =>
      dispatch.work(registration, onOrder),
    );
    if (session === null) continue;
    context.show(`${worker} works: ${jobs} at once${labelsText}`);

    const onEnd = (): void => {
      pauseSignal.abort();
      void session.drain();
    };
    if (interrupted.aborted) onEnd();
    interrupted.addEventListener("abort", onEnd, { once: true });
    const why = await session.over;
    interrupted.removeEventListener("abort", onEnd);

    if (why !== null) {
      context.show(`! ${worker} lost its lease (${why}); its runs were ended, and it begins anew`);
    } // V1
  }
}

/** Works on an order and counts it; before the first one, old copies are deleted. */
function workOnOrders(parts: WorkerParts, tally: WorkControl["tally"]): OnOrder {
  const { context } = parts;
  let cleanup: Promise<void> | null = null;

  const cleanUp = async (): Promise<void> => {
    try {
      await deleteOldCopies(parts);
    } catch (error) {
      cleanup = null; // tried again with the next order
      throw error;
    }
  };

  return async (order, lease) => {
    cleanup ??= cleanUp();
    await cleanup; // this worker holds its name by now, so the copies under that name are its own

    context.show(`▶ ${order.id}`);
    const end = await workOnRun(parts, order, lease);
    if (end.kind === "ended") tally.ended += 1;
    else tally.returned += 1;

    context.show(
      end.kind === "ended" ? `■ ${order.id}: ${end.outcome}` : `↩ ${order.id}: ${end.because}`,
    );
    return end;
  };
}

/**
 * Takes the worker's name. Null, after a moment, if the store is unreachable or a dead process of
 * this machine still holds the name.
 */
async function register<Session>(
  context: CommandContext,
  ended: AbortSignal,
  begin: () => Promise<Session>,
): Promise<Session | null> {
  try {
    return await begin();
  } catch (error) {
    const isStoreAway = error instanceof JournalFailure && error.kind === "store_unreachable";
    const isPredecessorDead =
      error instanceof Refusal &&
      error.response.reason_code === "worker_name_taken" &&
      isDeadOnThisMachine(error.response.data?.["holder"]);
    if (!isStoreAway && !isPredecessorDead) throw error;
    context.showLive(
      isStoreAway ? `! ${error.message}` : `! waits until the lease of its predecessor has lapsed`,
    );

    await sleep(retryMs, undefined, { signal: ended }).catch(() => undefined);
    return null;
  }
}

function isDeadOnThisMachine(holder: unknown): boolean {
  if (typeof holder !== "object" || holder === null) return true; // the name was given back a moment ago
  const { host, pid } = holder as Partial<Holder>;
  if (host !== hostname() || typeof pid !== "number") return false;
  try {
    process.kill(pid, 0);
    return pid === process.pid; // its own lease, which it has lost
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}

/** The address of the hub in AUTOPILOT_HUB. */
export function requireHub(env: NodeJS.ProcessEnv): string {
  const address = findHubAddress(env);
  if (address !== null) return address;

  return refuse("hub_unreachable", {
    message: "No hub is named: machines exchange commits through one git repository.",
    remediation: ["git init --bare /srv/git/project.git, then AUTOPILOT_HUB=/srv/git/project.git"],
  });
}

/**
 * The requested name, else one that stays the same after a restart and differs for another clone on
 * the same machine.
 */
function resolveWorkerName(requested: string | undefined, root: string): string {
  const host = hostname().replaceAll(/[^A-Za-z0-9_.-]/g, "-");
  const rootHash = sha256(root).slice(0, 6);
  const name = requested ?? `${host}-${rootHash}`;
  if (namePattern.test(name)) return name;

  return refuse("objective_schema_invalid", {
    message: `${JSON.stringify(name)} is not a valid worker name: letters, digits, '.', '_' and '-', at most 100.`,
    data: { field: "name" },
  });
}

/** Splits `--labels a,b` into labels, sorted and each once. */
export function parseLabels(texts: readonly string[]): readonly string[] {
  const words = texts.flatMap((text) => text.split(",")).map((word) => word.trim());
  const labels = [...new Set(words.filter((word) => word !== ""))].toSorted();
  const invalidLabel = labels.find((label) => !labelPattern.test(label));
  if (invalidLabel === undefined && labels.length <= labelsMax) return labels;

  return refuse("objective_schema_invalid", {
    message:
      invalidLabel === undefined
        ? `At most ${labelsMax} labels.`
        : `${JSON.stringify(invalidLabel)} is not a valid label: small letters, digits, '.', '_' and '-', at most 40.`,
    data: { field: "labels" },
  });
}
