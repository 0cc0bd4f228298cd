// seed: copies a journal that was begun in a folder into the store: every line as it is, all of
// them or none.

import type { Position } from "../../journal/journal.ts";
import type { RunKind } from "../../ports/run-store.ts";
import type { Database, Query } from "./connect.ts";
import { storeFailure, unusable } from "./store-failure.ts";

const batchLinesMax = 256;

export type Seed = {
  readonly run: string;
  readonly kind: RunKind;
  readonly lines: readonly Buffer[];
  /** After the last line. */
  readonly end: Readonly<Position>;
};

/**
 * Does nothing if the store has these lines already, with or without more; refuses if it has others
 * under this key.
 */
export async function seedJournal(database: Database, seed: Seed): Promise<void> {
  try {
    await database.inTransaction(async (query) => {
      const storedSeq = await lockRun(query, seed);
      if (storedSeq === 0) await insertLines(query, seed);
      else await requireSameLines(query, database.name, seed, storedSeq);
    });
  } catch (error) {
    throw storeFailure(error, database.name);
  }
}

/** Locks the run's row, made if it is missing; returns how many lines the store has. */
async function lockRun(query: Query, { run, kind }: Seed): Promise<number> {
  await query("insert into autopilot.run (run_id, kind) values ($1, $2) on conflict do nothing", [
    run,
    kind,
  ]);

  const { rows } = await query("select seq::text from autopilot.run where run_id = $1 for update", [
    run,
  ]);
  return Number(rows[0]?.["seq"] ?? 0);
}

async function requireSameLines(
  query: Query,
  store: string,
  { run, lines }: Seed,
  storedSeq: number,
): Promise<void> {
  // Lines are chained: if the last that both have is the same, so are those before it.
  const sharedSeq = Math.min(storedSeq, lines.length);
  const { rows } = await query("select line from autopilot.entry where run_id = $1 and seq = $2", [
    run,
    sharedSeq,
  ]);
  const storedLine = rows[0]?.["line"];
  const ownLine = lines.at(sharedSeq - 1);
  const isSame =
    storedLine instanceof Buffer && ownLine !== undefined && storedLine.equals(ownLine);
  if (isSame && storedSeq >= lines.length) return;

  throw unusable(
    isSame
      ? `${store} has only the first ${storedSeq} lines of ${run}: this folder went on without it`
      : `${store} has other lines under ${run}, so this folder is an older copy of it`,
    `autopilot portfolio take ${run} --into DIR`,
  );
}

async function insertLines(query: Query, { run, lines, end }: Seed): Promise<void> {
  for (let offset = 0; offset < lines.length; offset += batchLinesMax) {
    await query(
      `insert into autopilot.entry (run_id, seq, epoch, line)
        select $1::text, $2::bigint + i, $3::bigint, l from unnest($4::bytea[]) with ordinality t(l, i)`,
      [run, offset, end.epoch, lines.slice(offset, offset + batchLinesMax)],
    );
  }

  await query(
    "update autopilot.run set epoch = greatest(epoch, $2), seq = $3, bytes = $4, head = $5 where run_id = $1",
    [run, end.epoch, end.seq, end.byte, Buffer.from(end.prev, "hex")],
  );
}
