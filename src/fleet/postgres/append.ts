// append: lines go into the store only where epoch, number, hash and lease are this owner's, in the one statement that writes them.
//
// Invariants:
//   F1. The row's lock is the point where owners are put in order: a second statement re-reads the row after waiting, so there is no window
//       between asking and writing.
//   F2. An append whose answer was lost is never simply sent again. The row says what became of it: our head is in it, or the one before.
//   F3. Lines that were acknowledged and are gone are told, and nothing is written over them.

import { setTimeout as sleep } from "node:timers/promises";
import { JournalFailure } from "../../journal/failure.ts";
import type { Database } from "./connect.ts";
import { isInDoubt, storeFailure } from "./connect.ts";
import type { HeldLease } from "./lease.ts";

/** Where a journal stands in its row. */
export type RowPosition = { readonly seq: number; readonly head: Buffer };
export type Append = {
  readonly run: string;
  readonly from: RowPosition;
  readonly to: RowPosition;
  /** Without newlines. */
  readonly lines: readonly Buffer[];
};

const appendSql = `with fence as (
    update autopilot.run set seq = $3::bigint + cardinality($6::bytea[]) - 1, head = $5::bytea, bytes = bytes + $7::bigint, updated_at = now()
    where run_id = $1::text and epoch = $2::bigint and seq = $3::bigint - 1 and head = $4::bytea and lease_until > clock_timestamp()
    returning 1)
  insert into autopilot.entry (run_id, seq, epoch, line)
  select $1::text, $3::bigint + i - 1, $2::bigint, l from fence, unnest($6::bytea[]) with ordinality t(l, i)`;

const askAgainMs = 100;

/** Resolves when the lines are durable. Throws a JournalFailure; after one, this owner appends nothing more. */
export async function appendLines(database: Database, lease: HeldLease, append: Append): Promise<void> {
  const { run, from, to, lines } = append;
  const bytes = lines.reduce((sum, line) => sum + line.length + 1, 0);
  for (;;) {
    refuseLost(lease);
    try {
      const { count } = await database.ask(appendSql, [run, lease.epoch, from.seq + 1, from.head, to.head, lines, bytes]); // F1
      if (count === lines.length) return;
    } catch (error) {
      if (!isInDoubt(error)) throw storeFailure(error, database.name);
    }
    if ((await outcomeOf(database, lease, append)) === "kept") return; // F2
    await sleep(askAgainMs);
  }
}

/** What became of an append that nobody confirmed. Asks until it is answered, or the lease is lost. */
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
      // Lapsed, and nobody has taken it: the next renewal may still have it back.
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
