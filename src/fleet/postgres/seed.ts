// seed: a journal that was begun in a folder becomes one of the store: every line as it is, all of them or none.

import type { Position } from "../../journal/journal.ts";
import type { RunKind } from "../../ports/run-store.ts";
import type { Database } from "./connect.ts";
import { storeFailure, unusable } from "./store-failure.ts";

const linesAtOnce = 256;

export type Seed = {
  readonly run: string;
  readonly kind: RunKind;
  readonly lines: readonly Buffer[];
  /** After the last line. */
  readonly end: Readonly<Position>;
};

/** Does nothing if the store has these lines already, with or without more; refuses if it has others under this key. */
export async function seedJournal(database: Database, { run, kind, lines, end }: Seed): Promise<void> {
  try {
    await database.inTransaction(async (ask) => {
      await ask("insert into autopilot.run (run_id, kind) values ($1, $2) on conflict do nothing", [run, kind]);
      const { rows } = await ask("select seq::text from autopilot.run where run_id = $1 for update", [run]);
      const seq = Number(rows[0]?.["seq"] ?? 0);
      if (seq > 0) {
        const at = Math.min(seq, lines.length);
        const stored = (await ask("select line from autopilot.entry where run_id = $1 and seq = $2", [run, at])).rows[0]?.["line"];
        const [mine] = lines.slice(at - 1);
        if (seq >= lines.length && stored instanceof Buffer && mine !== undefined && stored.equals(mine)) return;
        throw unusable(
          `${database.name} has other lines under ${run}, so this folder is an older copy of it`,
          `autopilot portfolio take ${run} --into DIR`,
        );
      }
      for (let first = 0; first < lines.length; first += linesAtOnce)
        await ask(
          `insert into autopilot.entry (run_id, seq, epoch, line)
            select $1::text, $2::bigint + i, $3::bigint, l from unnest($4::bytea[]) with ordinality t(l, i)`,
          [run, first, end.epoch, lines.slice(first, first + linesAtOnce)],
        );
      await ask("update autopilot.run set epoch = greatest(epoch, $2), seq = $3, bytes = $4, head = $5 where run_id = $1", [
        run,
        end.epoch,
        end.seq,
        end.byte,
        Buffer.from(end.prev, "hex"),
      ]);
    });
  } catch (error) {
    throw storeFailure(error, database.name);
  }
}
