// append: lines go into the store only if epoch, number, hash and lease are this owner's, in the one statement that writes them.
//
// Invariants:
//   F1. The row's lock is the point where owners are put in order: a second statement re-reads the row after waiting, so there is no window
//       between asking and writing.
//   F2. An append whose answer was lost is never simply sent again. The row says what became of it: our head is in it, or the one before.
//   F3. What is written under a second lease, a planner's, is refused by the same statement once that is lost (schema.ts, `append_under`).
//   F4. Lines that were acknowledged and are gone are reported, and nothing is written over them.

import { setTimeout as sleep } from "node:timers/promises";
import { JournalFailure } from "../../journal/failure.ts";
import type { Database } from "./connect.ts";
import { isInDoubt, storeFailure } from "./store-failure.ts";
import type { Append, SendAppend } from "./group-append.ts";
import type { HeldLease } from "./lease.ts";

const askAgainMs = 100;

/** The lease of a journal, and the one that it is written under, if any (F3). */
export type Leases = { readonly lease: HeldLease; readonly under: HeldLease | null };

/** Resolves when the lines are durable. Throws a JournalFailure; after one, this owner appends nothing more. */
export async function appendLines(
  database: Database,
  send: SendAppend,
  leases: Leases,
  given: Omit<Append, "epoch" | "under">,
): Promise<void> {
  const append = { ...given, epoch: leases.lease.epoch, under: leases.under };
  for (;;) {
    refuseLost(leases);
    try {
      if (await send(append)) return; // F1
    } catch (error) {
      if (!isInDoubt(error)) throw storeFailure(error, database.name);
    }
    if ((await outcomeOf(database, leases, append)) === "kept") return; // F2
    await sleep(askAgainMs);
  }
}

/** What happened to an unconfirmed append. Retries until it is answered, or the lease is lost. */
async function outcomeOf(database: Database, leases: Leases, { run, from, to }: Append): Promise<"kept" | "not there"> {
  const { lease, under } = leases;
  for (;;) {
    refuseLost(leases);
    try {
      const { rows } = await database.ask(
        `select r.epoch::text, r.seq::text, r.head, u.epoch::text as under_epoch
          from autopilot.run r left join autopilot.run u on u.run_id = $2 where r.run_id = $1`,
        [run, under?.run],
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
      if (!from.head.equals(head)) throw lost(`line ${from.seq} is not the last one there any more: line ${String(row?.["seq"])} is`); // F4
      if (under !== null && Number(row?.["under_epoch"] ?? 0) !== under.epoch) {
        under.lose("another process has taken it"); // F3
        continue;
      }
      // Expired, and not taken: the next renewal may still get it back.
      return "not there";
    } catch (error) {
      if (!isInDoubt(error) || error instanceof JournalFailure) throw storeFailure(error, database.name);
      await sleep(askAgainMs);
    }
  }
}

const lost = (detail: string): JournalFailure => new JournalFailure({ kind: "store_lost_lines", detail });

export function refuseLost({ lease, under }: Leases): void {
  const why = lease.whyLost() ?? under?.whyLost() ?? null;
  if (why !== null) throw new JournalFailure({ kind: "lease_lost", detail: why });
}
