// append: appends lines to a run in the store. The one statement that writes them also checks that
// epoch, number, hash and lease are this owner's.
//
// Invariants:
//   F1. The row's lock puts owners in order: a statement that waited for it reads the row again, so
//       nothing can happen between check and write.
//   F2. An append whose answer was lost isn't simply sent again: the row says what became of it,
//       since it has our head or the one before.
//   F3. Lines that are written under a second lease, a planner's, are refused by the same statement
//       once that lease is lost (schema.ts, `append_under`).
//   F4. Lines that were acknowledged and are gone are reported, and nothing is written in their
//       place.

import { setTimeout as sleep } from "node:timers/promises";
import { JournalFailure } from "../../journal/journal-failure.ts";
import type { Database } from "./connect.ts";
import { isInDoubt, storeFailure } from "./store-failure.ts";
import type { Append, SendAppend } from "./group-append.ts";
import type { HeldLease } from "./lease.ts";

const retryMs = 100;

/** The lease of a journal, and the one that it is written under, if any (F3). */
export type Leases = { readonly lease: HeldLease; readonly under: HeldLease | null };

/**
 * Resolves when the lines are durable. Throws a JournalFailure; after one, this owner appends
 * nothing more.
 */
export async function appendLines(
  database: Database,
  send: SendAppend,
  leases: Leases,
  request: Omit<Append, "epoch" | "under">,
): Promise<void> {
  const append = { ...request, epoch: leases.lease.epoch, under: leases.under };
  for (;;) {
    refuseLost(leases);
    try {
      if (await send(append)) return; // F1
    } catch (error) {
      if (!isInDoubt(error)) throw storeFailure(error, database.name);
    }

    if ((await findOutcome(database, leases, append)) === "kept") return; // F2
    await sleep(retryMs);
  }
}

/** What happened to an unconfirmed append. Retries until it is answered, or the lease is lost. */
async function findOutcome(
  database: Database,
  leases: Leases,
  { run, expectedTip, newTip }: Append,
): Promise<"kept" | "not there"> {
  const { lease, under } = leases;
  for (;;) {
    refuseLost(leases);
    try {
      const { rows } = await database.query(
        `select r.epoch::text, r.seq::text, r.head, u.epoch::text as under_epoch
          from autopilot.run r left join autopilot.run u on u.run_id = $2 where r.run_id = $1`,
        [run, under?.run],
      );
      const row = rows[0];
      const head = row?.["head"];
      const epoch = Number(row?.["epoch"] ?? 0);
      if (epoch > lease.epoch) {
        lease.reportLost("another worker has taken it");
        continue;
      }

      if (epoch < lease.epoch || !(head instanceof Buffer)) {
        throw createLostLinesFailure(
          `the store is back at epoch ${epoch}, and this owner has ${lease.epoch}`,
        );
      }

      if (newTip.head.equals(head)) return "kept";
      if (!expectedTip.head.equals(head)) {
        throw createLostLinesFailure(
          `line ${expectedTip.seq} is not the last one there any more: line ${String(row?.["seq"])} is`,
        );
      } // F4

      if (under !== null && Number(row?.["under_epoch"] ?? 0) !== under.epoch) {
        under.reportLost("another process has taken it"); // F3
        continue;
      }

      // The lease has expired, and nobody has taken the run: the next renewal may still confirm it.
      return "not there";
    } catch (error) {
      if (!isInDoubt(error) || error instanceof JournalFailure) {
        throw storeFailure(error, database.name);
      }

      await sleep(retryMs);
    }
  }
}

const createLostLinesFailure = (detail: string): JournalFailure =>
  new JournalFailure({ kind: "store_lost_lines", detail });

/** Throws if either lease is lost. */
export function refuseLost({ lease, under }: Leases): void {
  const why = lease.whyLost() ?? under?.whyLost() ?? null;
  if (why !== null) throw new JournalFailure({ kind: "lease_lost", detail: why });
}
