// requests: what other processes ask of a run, in the store until its owner has journaled it (T3).

import { JournalFailure } from "../../journal/failure.ts";
import type { RequestQueue, RunRequest } from "../../ports/request-queue.ts";
import { findRequestProblem } from "../../project/requests/request-files.ts";
import type { Database } from "./connect.ts";
import { storeFailure } from "./store-failure.ts";

const lookEveryMs = 1_000;
const pendingMax = 1_000;

export async function sendRequest({ ask, name }: Database, run: string, request: RunRequest): Promise<void> {
  const text = JSON.stringify(request);
  const fault = findRequestProblem(text);
  if (fault !== null) throw new Error(`this is no request: ${fault}`);
  try {
    await ask("insert into autopilot.request (run_id, request, body) values ($1, $2, $3::jsonb) on conflict do nothing", [
      run,
      request.request,
      text,
    ]);
  } catch (error) {
    throw storeFailure(error, name);
  }
}

/** The owner's side. It looks each second: a notification may be lost by a pooler, and looking is cheap. */
export function openStoredRequests({ ask, name }: Database, run: string): RequestQueue & { readonly close: () => Promise<void> } {
  const callbacks = new Set<() => void>();
  let known = 0;
  const look = async (): Promise<void> => {
    const { rows } = await ask("select coalesce(max(number), 0)::text as last from autopilot.request where run_id = $1 and not forgotten", [
      run,
    ]);
    const last = Number(rows[0]?.["last"] ?? 0);
    if (last > known) callbacks.forEach((callback) => callback());
    known = Math.max(known, last);
  };
  const timer = setInterval(() => void look().catch(() => undefined), lookEveryMs); // the lease's watch reports a store that is gone
  timer.unref();
  return {
    pending: async () => {
      try {
        const { rows } = await ask(
          `select body::text as body from autopilot.request where run_id = $1 and not forgotten order by number limit ${pendingMax}`,
          [run],
        );
        // Other programs may write to the table: what isn't a request is left there and not carried out.
        return rows
          .map((row) => String(row["body"]))
          .flatMap((text) => (findRequestProblem(text) === null ? [JSON.parse(text) as RunRequest] : []));
      } catch (error) {
        const failure = storeFailure(error, name);
        if (failure instanceof JournalFailure && failure.kind === "store_unreachable") return []; // looked at again
        throw failure;
      }
    },
    forget: async (request) => {
      try {
        await ask("update autopilot.request set forgotten = true where run_id = $1 and request = $2", [run, request]);
      } catch (error) {
        throw storeFailure(error, name);
      }
    },
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
