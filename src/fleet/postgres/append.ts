// append: lines go into the store only if epoch, number, hash and lease are this owner's, in the one statement that writes them.
//
// Invariants:
//   F1. The row's lock is the point where owners are put in order: a second statement re-reads the row after waiting, so there is no window
//       between asking and writing.
//   F2. An append whose answer was lost is never simply sent again. The row says what became of it: our head is in it, or the one before.
//   F3. Lines that were acknowledged and are gone are reported, and nothing is written over them.

import { setTimeout as sleep } from "node:timers/promises";
import { JournalFailure } from "../../journal/failure.ts";
import type { Database } from "./connect.ts";
import { isInDoubt, storeFailure } from "./connect.ts";
import type { Append, SendAppend } from "./group-append.ts";
import type { HeldLease } from "./lease.ts";

const askAgainMs = 100;

/** Resolves when the lines are durable. Throws a JournalFailure; after one, this owner appends nothing more. */
export async function appendLines(database: Database, send: SendAppend, lease: HeldLease, append: Append): Promise<void> {
  for (;;) {
    refuseLost(lease);
    try {
      if (await send(append)) return; // F1
    } catch (error) {
      if (!isInDoubt(error)) throw storeFailure(error, database.name);
    }
    if ((await outcomeOf(database, lease, append)) === "kept") return; // F2
    await sleep(askAgainMs);
  }
}

/** What happened to an unconfirmed append. Retries until it is answered, or the lease is lost. */
async function outcomeOf(database: Database, lease: HeldLease, { run, from, to }: Append): Promise<"kept" | "not there"> {
  for (;;) {
    refuseLost(lease);
    try {
      const { rows } = await database.ask(
        "select epoch::text, seq::text, head, lease_until > clock_timestamp() as holds from autopilot.run where run_id = $1",
        [run],
      );
      const row = rows[0];
      const head = row?.["head"];
      const epoch = Number(row?.["epoch"] ?? 0);
      if (epoch > lease.epoch) {
        lease.lose("another worker has taken it");
        continue;
      }
      if (epoch < lease.epoch || !(head instanceof Buffer))
        throw lost(`the store is back at epoch ${epoch}, and this owner has ${lease.epoch}`);
      if (to.head.equals(head)) return "kept";
      if (!from.head.equals(head)) throw lost(`line ${from.seq} is not the last one there any more: line ${String(row?.["seq"])} is`); // F3
      // Expired, and not taken: the next renewal may still get it back.
      return "not there";
    } catch (error) {
      if (!isInDoubt(error) || error instanceof JournalFailure) throw storeFailure(error, database.name);
      await sleep(askAgainMs);
    }
  }
}

const lost = (detail: string): JournalFailure => new JournalFailure({ kind: "store_lost_lines", detail });

export function refuseLost(lease: HeldLease): void {
  const why = lease.whyLost();
  if (why !== null) throw new JournalFailure({ kind: "lease_lost", detail: why });
}
