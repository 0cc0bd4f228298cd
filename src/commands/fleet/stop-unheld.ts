// stop-unheld: stops a run of a store that no process holds, under the run's own lease, since
// perhaps no worker will ever take it.
//
// Invariants:
//   U1. Nothing is written without the run's lease. A worker that holds the run reads the request
//       itself.
//   U2. The run's orders are withdrawn after the request is in the journal and before the run is
//       stopped: if this command is killed in between it can be given again, and an order that is
//       to land completed work is left alone.

import { openFold } from "../../core/fold.ts";
import type { Draft } from "../../contracts/event.ts";
import type { Run, RunView } from "../../core/state.ts";
import { recordRequests, recordStop } from "../../engine/record-requests.ts";
import { openOrders } from "../../fleet/postgres/orders.ts";
import { listOrders } from "../../fleet/postgres/stored-orders.ts";
import type { PostgresStore } from "../../fleet/postgres/store.ts";
import { JournalFailure } from "../../journal/journal-failure.ts";
import { invariant } from "../../kit/invariant.ts";
import type { OpenedRun } from "../../ports/run-store.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { systemClock } from "../../project/runs/system-clock.ts";
import { redactJournal } from "../../project/secrets/redacted-journal.ts";
import { getRedaction } from "../../project/secrets/context-redaction.ts";

/**
 * Journals the stop that was left for a run. Returns the run's state after it; null if a process
 * holds the run.
 */
export async function stopUnheld(
  context: CommandContext,
  store: PostgresStore,
  key: string,
): Promise<RunView | null> {
  let fold = openFold();
  const opened = await openUnlessHeld(store, key, {
    onSnapshot: (state) => {
      fold = openFold(state as Run);
      return true;
    },
    onEntry: (entry) => fold.apply(entry),
  });
  if (opened === null) return null; // U1
  const journal = redactJournal(opened.journal, getRedaction(context, context.cwd).redactor);
  const view = (): RunView => {
    invariant(fold.state.status !== "unborn", "a run in a store was drafted");
    return fold.state;
  };

  const record = async (event: Draft): Promise<void> => {
    for (const entry of await journal.append([{ actor: "system", reason_code: "ok", ...event }])) {
      fold.apply(entry);
    }
  };

  const requests = await store.requests(key);
  try {
    await recordRequests(requests, view(), record);
    if (view().asked === "stop") await withdrawOrders(store, key); // U2
    await recordStop(view, record);

    return view();
  } finally {
    await requests.close();
    await journal.close();
  }
}

async function openUnlessHeld(
  store: PostgresStore,
  key: string,
  replay: Pick<Parameters<PostgresStore["open"]>[2], "onSnapshot" | "onEntry">,
): Promise<OpenedRun | null> {
  try {
    return await store.open(key, "run", {
      ...replay,
      now: () => systemClock.now(),
      activeMs: () => systemClock.monotonicMs(),
    });
  } catch (error) {
    if (error instanceof JournalFailure && error.kind === "run_locked") return null;
    throw error;
  }
}

/** A worker that has just taken one of them finds the run stopped. */
async function withdrawOrders({ database }: PostgresStore, key: string): Promise<void> {
  const unfinished = (await listOrders(database, key)).filter(
    ({ state }) => state === "offered" || state === "taken",
  );

  for (const { id } of unfinished) await openOrders(database).withdraw(id);
}
