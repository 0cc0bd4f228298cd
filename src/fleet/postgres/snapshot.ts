// snapshot: keeps a run's folded state at one line of its journal. Only the run's owner writes it,
// and it is used only if it fits the journal.

import { hash } from "node:crypto";
import type { Position } from "../../journal/journal.ts";
import type { Database } from "./connect.ts";
import type { HeldLease } from "./lease.ts";
import { readPositionAfter } from "./read.ts";

const snapshotBytesMax = 64 * 1024 * 1024;

const writeSql = `insert into autopilot.snapshot (run_id, seq, bytes, head, sha256, state)
  select run_id, seq, bytes, head, $5::bytea, $6::bytea from autopilot.run
  where run_id = $1::text and epoch = $2::bigint and seq = $3::bigint and head = $4::bytea and lease_until > clock_timestamp()
  on conflict (run_id) do update set seq = excluded.seq, bytes = excluded.bytes, head = excluded.head, sha256 = excluded.sha256, state = excluded.state`;

type NewSnapshot = {
  readonly database: Database;
  readonly lease: HeldLease;
  readonly run: string;
  readonly at: Readonly<Position>;
  readonly state: object;
};

/** False if it is behind, too large, or not this owner's to write. */
export async function writeSnapshot({
  database,
  lease,
  run,
  at: position,
  state,
}: NewSnapshot): Promise<boolean> {
  const json = Buffer.from(JSON.stringify(state));
  if (json.length > snapshotBytesMax) return false;
  const stateHash = Buffer.from(hash("sha256", json), "hex");

  const { count } = await database.query(writeSql, [
    run,
    lease.epoch,
    position.seq,
    Buffer.from(position.prev, "hex"),
    stateHash,
    json,
  ]);
  return count === 1;
}

/** Null if there is no snapshot, or it doesn't fit the journal. */
export async function readSnapshot(
  database: Database,
  run: string,
): Promise<{ readonly state: unknown; readonly at: Position } | null> {
  const { rows } = await database.query(
    "select seq::text, bytes::text, head, sha256, state from autopilot.snapshot where run_id = $1",
    [run],
  );
  const row = rows[0];
  if (row === undefined) return null;
  const [state, head, stateHash] = [row["state"], row["head"], row["sha256"]];
  if (!(state instanceof Buffer) || !(head instanceof Buffer) || !(stateHash instanceof Buffer)) {
    return null;
  }

  if (hash("sha256", state) !== stateHash.toString("hex")) return null;
  const position = await readPositionAfter(database, run, Number(row["seq"]), Number(row["bytes"]));
  if (position === null || position.prev !== head.toString("hex")) return null;
  try {
    return { state: JSON.parse(state.toString("utf8")) as unknown, at: position };
  } catch {
    return null; // the state is folded from the journal instead
  }
}
