// requests: keeps requests of other processes to a run in the store, until the run's owner has
// journaled them.

import { JournalFailure } from "../../journal/journal-failure.ts";
import type { RequestQueue, RunRequest } from "../../ports/request-queue.ts";
import { findRequestProblem } from "../../project/requests/request-files.ts";
import type { Database } from "./connect.ts";
import { storeFailure } from "./store-failure.ts";

const pollMs = 1_000;
const pendingMax = 1_000;

export async function sendRequest(
  { query, name }: Database,
  run: string,
  request: RunRequest,
): Promise<void> {
  const text = JSON.stringify(request);
  const fault = findRequestProblem(text);
  if (fault !== null) throw new Error(`this is no request: ${fault}`);
  try {
    await query(
      "insert into autopilot.request (run_id, request, body) values ($1, $2, $3::jsonb) on conflict do nothing",
      [run, request.request, text],
    );
  } catch (error) {
    throw storeFailure(error, name);
  }
}

/**
 * The owner's side. It polls every second, which is cheap; a notification could be lost by a
 * pooler. Each new request is announced once.
 */
export function openStoredRequests(
  database: Database,
  run: string,
): RequestQueue & { readonly close: () => Promise<void> } {
  const callbacks = new Set<() => void>();
  let lastAnnounced = 0;

  const pollRequests = async (): Promise<void> => {
    const newestNumber = await readNewestNumber(database, run);
    if (newestNumber > lastAnnounced) callbacks.forEach((callback) => callback());
    lastAnnounced = Math.max(lastAnnounced, newestNumber);
  };
  const timer = setInterval(() => void pollRequests().catch(() => undefined), pollMs); // the lease's watch reports a store that is gone
  timer.unref();

  return {
    pending: async () => {
      const pending = await readPending(database, run);
      if (pending === null) lastAnnounced = 0; // the next poll that reaches the store announces them again
      return pending ?? [];
    },
    forget: (request) => forgetRequest(database, run, request),
    watch: (callback) => {
      callbacks.add(callback);
      return () => callbacks.delete(callback);
    },
    close: async () => {
      clearInterval(timer);
      callbacks.clear();
    },
  };
}

async function readNewestNumber({ query }: Database, run: string): Promise<number> {
  const { rows } = await query(
    "select coalesce(max(number), 0)::text as last from autopilot.request where run_id = $1 and not forgotten",
    [run],
  );
  return Number(rows[0]?.["last"] ?? 0);
}

/** Null if the store can't be reached. */
async function readPending(
  { query, name }: Database,
  run: string,
): Promise<readonly RunRequest[] | null> {
  try {
    const { rows } = await query(
      `select body::text as body from autopilot.request where run_id = $1 and not forgotten order by number limit ${pendingMax}`,
      [run],
    );
    // Other programs may write to the table: a row that isn't a request is ignored.
    const texts = rows.map((row) => String(row["body"]));
    const sound = texts.filter((text) => findRequestProblem(text) === null);
    return sound.map((text) => JSON.parse(text) as RunRequest);
  } catch (error) {
    const failure = storeFailure(error, name);
    if (failure instanceof JournalFailure && failure.kind === "store_unreachable") return null;
    throw failure;
  }
}

async function forgetRequest(
  { query, name }: Database,
  run: string,
  request: string,
): Promise<void> {
  try {
    await query(
      "update autopilot.request set forgotten = true where run_id = $1 and request = $2",
      [run, request],
    );
  } catch (error) {
    throw storeFailure(error, name);
  }
}
