// worker: runs a worker of a store on this machine: takes runs submitted for this repository, and those whose worker is gone.
//
// Invariants:
//   V1. The worker's name is held by a lease. A worker that is not sure of it takes nothing; one that has lost it ends its runs and begins
//       again.
//   V2. When asked to end it takes nothing more. Runs pause when their turn ends and go back to the store for others.

import { createHash } from "node:crypto";
import { once } from "node:events";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { CommandResponse } from "../../contracts/command-response.ts";
import { hubAddress, leaseMs, requireStoreAddress, storeVariable } from "../../fleet/address.ts";
import { openHub } from "../../fleet/hub.ts";
import { requireOwnHub } from "../../fleet/own-hub.ts";
import { repositoryId } from "../../fleet/repository-id.ts";
import { JournalFailure } from "../../journal/failure.ts";
import type { Dispatch, OnOrder, OrderEnd, WorkerRegistration } from "../../ports/dispatch.ts";
import type { Holder } from "../../ports/run-store.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { catchRefusals, Refusal, refuse, respond } from "../../project/respond.ts";
import { requireRepository } from "../../project/runs/require-repository.ts";
import { requireProject, ensureOwnFolder } from "../../project/runs/project-paths.ts";
import { WorkspaceFailed } from "../../workspace/failure.ts";
import type { Repository } from "../../workspace/git/repository.ts";
import { addIgnoreLines } from "../../workspace/owned-paths.ts";
import { sweepCopies, workOnRun, type WorkerParts } from "./work-on-run.ts";

export type WorkerInput = {
  readonly store?: string | undefined;
  readonly jobs?: number | undefined;
  readonly labels?: readonly string[] | undefined;
  readonly name?: string | undefined;
  readonly isolation?: string | undefined;
};

const labelPattern = /^[a-z0-9][a-z0-9_.-]{0,39}$/;
const namePattern = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$/;
const retryMs = 1_000;

export function runWorker(outer: CommandContext, input: WorkerInput): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const context = { ...outer, env: { ...outer.env, [storeVariable]: requireStoreAddress(outer.env, input.store) } };
    const paths = await requireProject(context.cwd);
    const hub = requireHub(context.env);
    const repository = await requireRepository(paths.root);
    await addIgnoreLines(repository.commonDir);
    await lookAtHub(context, repository, join(ensureOwnFolder(paths, "worker"), "hub.git"), hub);
    const registration: WorkerRegistration = {
      worker: workerName(input.name, paths.root),
      jobs: input.jobs ?? 1,
      labels: parseLabels(input.labels ?? []),
      repositories: [await repositoryId(repository)],
    };
    const [{ storeIn }, { openOrders }] = await Promise.all([
      import("../../fleet/shared-run.ts"),
      import("../../fleet/postgres/orders.ts"),
    ]);
    const store = await storeIn(context.env);
    const softly = new AbortController(); // V2: on any signal, turns may end
    const parts: WorkerParts = {
      context: { ...context, interrupted: softly.signal },
      paths,
      copies: ensureOwnFolder(paths, "worker", "copies", registration.worker),
      store,
      hub,
      isolation: input.isolation,
    };
    const tally = { ended: 0, returned: 0 };
    try {
      await workUntilEnded(openOrders(store.database, { leaseMs: leaseMs(context.env) }), registration, parts, {
        softly,
        given: context.interrupted,
        tally,
      });
    } finally {
      await store.close();
    }
    return respond("ok", {
      message: `${registration.worker} has ended: ${tally.ended} ${tally.ended === 1 ? "order" : "orders"} done, ${tally.returned} given back.`,
      data: { worker: registration.worker, ...tally },
    });
  });
}

/** Refuses another repository's hub at once. One that is away may come back: runs wait for it. */
async function lookAtHub(context: CommandContext, repository: Repository, folder: string, url: string): Promise<void> {
  const isEnded = once(context.interrupted, "abort");
  const look = openHub(repository, folder, url).then((hub) => requireOwnHub(repository, hub, url));
  await Promise.race([look, isEnded]).catch((error: unknown) => {
    if (!(error instanceof WorkspaceFailed && error.reason === "hub_unreachable")) throw error;
    context.show(`! ${error.message}; runs wait until it answers`);
  });
}

type WorkControl = {
  readonly softly: AbortController;
  readonly given: AbortSignal;
  readonly tally: { ended: number; returned: number };
};

async function workUntilEnded(
  dispatch: Dispatch,
  registration: WorkerRegistration,
  parts: WorkerParts,
  { softly, given, tally }: WorkControl,
): Promise<void> {
  const { context } = parts;
  const recordEnd = (id: string, end: OrderEnd): OrderEnd => {
    if (end.kind === "ended") tally.ended += 1;
    else tally.returned += 1;
    context.show(end.kind === "ended" ? `■ ${id}: ${end.outcome}` : `↩ ${id}: ${end.because}`);
    return end;
  };
  let sweeping: Promise<void> | null = null;
  while (!given.aborted) {
    const onOrder: OnOrder = async (order, lease) => {
      sweeping ??= sweepCopies(parts).catch((error: unknown) => {
        sweeping = null; // tried again with the next order
        throw error;
      });
      await sweeping; // it holds its name by now
      context.show(`▶ ${order.id}`);
      return recordEnd(order.id, await workOnRun(parts, order, lease));
    };
    const session = await register(context, given, () => dispatch.work(registration, onOrder));
    if (session === null) continue;
    const labels = registration.labels.length === 0 ? "" : `, labels ${registration.labels.join(", ")}`;
    context.show(`${registration.worker} works: ${registration.jobs} at once${labels}`);
    const onEnd = (): void => {
      softly.abort();
      void session.drain();
    };
    if (given.aborted) onEnd();
    given.addEventListener("abort", onEnd, { once: true });
    const why = await session.over;
    given.removeEventListener("abort", onEnd);
    if (why !== null) context.show(`! ${registration.worker} lost its lease (${why}); its runs were ended, and it begins anew`); // V1
  }
}

/** Takes the name; waits for a dead predecessor on this machine, and for an unreachable store. Null: try again. */
async function register<Session>(context: CommandContext, ended: AbortSignal, begin: () => Promise<Session>): Promise<Session | null> {
  try {
    return await begin();
  } catch (error) {
    const isStoreAway = error instanceof JournalFailure && error.kind === "store_unreachable";
    const isPredecessorDead =
      error instanceof Refusal && error.response.reason_code === "worker_name_taken" && isDeadHere(error.response.data?.["holder"]);
    if (!isStoreAway && !isPredecessorDead) throw error;
    context.live(isStoreAway ? `! ${error.message}` : `! waits until the lease of its predecessor has lapsed`);
    await sleep(retryMs, undefined, { signal: ended }).catch(() => undefined);
    return null;
  }
}

function isDeadHere(holder: unknown): boolean {
  if (typeof holder !== "object" || holder === null) return true; // given back a moment ago
  const { host, pid } = holder as Partial<Holder>;
  if (host !== hostname() || typeof pid !== "number") return false;
  try {
    process.kill(pid, 0);
    return pid === process.pid; // its own lease, which it has lost
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}

export function requireHub(env: NodeJS.ProcessEnv): string {
  return (
    hubAddress(env) ??
    refuse("hub_unreachable", {
      message: "No hub is named: machines exchange commits through one git repository.",
      remediation: ["git init --bare /srv/git/project.git, then AUTOPILOT_HUB=/srv/git/project.git"],
    })
  );
}

/** The same after a restart, and different for another clone on the same machine. */
function workerName(requested: string | undefined, root: string): string {
  const name =
    requested ?? `${hostname().replaceAll(/[^A-Za-z0-9_.-]/g, "-")}-${createHash("sha256").update(root).digest("hex").slice(0, 6)}`;
  if (namePattern.test(name)) return name;
  return refuse("objective_schema_invalid", {
    message: `${JSON.stringify(name)} is not a valid worker name: letters, digits, '.', '_' and '-', at most 100.`,
    data: { field: "name" },
  });
}

export function parseLabels(texts: readonly string[]): readonly string[] {
  const labels = [
    ...new Set(
      texts
        .flatMap((text) => text.split(","))
        .map((label) => label.trim())
        .filter((label) => label !== ""),
    ),
  ].toSorted();
  const odd = labels.find((label) => !labelPattern.test(label));
  if (odd === undefined && labels.length <= 16) return labels;
  return refuse("objective_schema_invalid", {
    message:
      odd === undefined
        ? "At most 16 labels."
        : `${JSON.stringify(odd)} is not a valid label: small letters, digits, '.', '_' and '-', at most 40.`,
    data: { field: "labels" },
  });
}
