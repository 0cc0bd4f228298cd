// seed: copies a journal that was begun in a folder into the store: every line as it is, all of
// them or none.

import type { Position } from "../../journal/journal.ts";
import type { RunKind } from "../../ports/run-store.ts";
import type { Database } from "./connect.ts";
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
export async function seedJournal(
  database: Database,
  { run, kind, lines, end }: Seed,
): Promise<void> {
  try {
    await database.inTransaction(async (query) => {
      await query(
        "insert into autopilot.run (run_id, kind) values ($1, $2) on conflict do nothing",
        [run, kind],
      );

      const { rows } = await query(
        "select seq::text from autopilot.run where run_id = $1 for update",
        [run],
      );
      const seq = Number(rows[0]?.["seq"] ?? 0);
      if (seq > 0) {
        const sharedSeq = Math.min(seq, lines.length);
        const storedLine = (
          await query("select line from autopilot.entry where run_id = $1 and seq = $2", [
            run,
            sharedSeq,
          ])
        ).rows[0]?.["line"];

        const [ownLine] = lines.slice(sharedSeq - 1); // lines are chained: if this one is the same, so are those before it
        if (
          seq >= lines.length &&
          storedLine instanceof Buffer &&
          ownLine !== undefined &&
          storedLine.equals(ownLine)
        ) {
          return;
        }

        throw unusable(
          `${database.name} has other lines under ${run}, so this folder is an older copy of it`,
          `autopilot portfolio take ${run} --into DIR`,
        );
      }

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
    });
  } catch (error) {
    throw storeFailure(error, database.name);
  }
}
