// campaign-history: what a campaign is judged by. The database notes every lease that is granted
// and every order that is taken, in the transaction that does it; lines are collected from the
// machines' folders, where they are written once acknowledged; the model notes its calls.

import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Database } from "../../src/fleet/postgres/connect.ts";
import type { PostgresStore } from "../../src/fleet/postgres/store.ts";

const notes = [
  "create table public.granted (run_id text, epoch bigint, epoch_before bigint, owner jsonb, at timestamptz default clock_timestamp())",
  "create table public.taken (order_id text, repository text, at_once bigint, slots bigint)",
  `create function public.note_grant() returns trigger language plpgsql as $$ begin
    insert into public.granted (run_id, epoch, epoch_before, owner) values (new.run_id, new.epoch, old.epoch, new.owner); return new; end $$`,
  `create trigger note_grant after update on autopilot.run for each row when (new.epoch <> old.epoch) execute function public.note_grant()`,
  `create function public.note_taken() returns trigger language plpgsql as $$ begin
    insert into public.taken select new.order_id, new.repository, count(*), new.slots from autopilot.work_order
      where state = 'taken' and repository = new.repository; return new; end $$`,
  `create trigger note_taken after update on autopilot.work_order for each row when (new.state = 'taken' and old.state <> 'taken')
    execute function public.note_taken()`,
];

export async function noteHistory({ query }: Database): Promise<void> {
  for (const statement of notes) await query(statement);
}

export type Grant = {
  readonly run: string;
  readonly epoch: number;
  readonly before: number;
  readonly host: string;
  readonly at: number;
};

export async function grantsIn({ query }: Database): Promise<readonly Grant[]> {
  const { rows } = await query(
    "select run_id, epoch::text, epoch_before::text, owner->>'host' as host, (extract(epoch from at) * 1000)::float8 as at from public.granted order by at",
  );
  return rows.map((row) => ({
    run: String(row["run_id"]),
    epoch: Number(row["epoch"]),
    before: Number(row["epoch_before"]),
    host: String(row["host"]),
    at: Number(row["at"]),
  }));
}

/** Orders that were taken where their repository had no slot left. */
export async function beyondSlots({ query }: Database): Promise<readonly unknown[]> {
  return (
    await query("select order_id, at_once::int, slots::int from public.taken where at_once > slots")
  ).rows;
}

/**
 * Lines that machines had in their folders, by run: acknowledged, whatever became of the machine.
 */
export type Acknowledged = {
  readonly look: () => void;
  /** What the store does not have, or has differently, and what two machines had differently. */
  readonly lost: (store: PostgresStore) => Promise<readonly string[]>;
  readonly count: () => number;
};

export function collectAcknowledged(copiesOf: readonly string[]): Acknowledged {
  const lines = new Map<string, string[]>();
  const sizes = new Map<string, number>();
  const conflicts: string[] = [];

  const take = (key: string, journal: string): void => {
    const size = statSync(journal).size;
    if (sizes.get(journal) === size) return;
    sizes.set(journal, size);
    const text = readFileSync(journal, "utf8");
    const known = lines.get(key) ?? [];
    lines.set(key, known);

    for (const [at, line] of text
      .slice(0, text.lastIndexOf("\n") + 1)
      .split("\n")
      .slice(0, -1)
      .entries()) {
      if (known[at] !== undefined && known[at] !== line) {
        conflicts.push(`${key} line ${at + 1}: ${known[at]} and ${line}`);
      }

      known[at] ??= line;
    }
  };

  return {
    look: () => {
      for (const copies of copiesOf) {
        for (const key of existsSync(copies) ? readdirSync(copies) : []) {
          const runs = join(copies, key, ".autopilot/runs");
          try {
            for (const run of readdirSync(runs)) {
              if (key.startsWith(`${run}.`)) take(key, join(runs, run, "journal.jsonl"));
            }
          } catch {
            // Made or removed at this moment.
          }
        }
      }
    },
    count: () => [...lines.values()].reduce((sum, of) => sum + of.length, 0),
    lost: async (store) => {
      const lost = [...conflicts];
      for (const [key, known] of lines) {
        const kept: string[] = [];
        for await (const line of store.lines(key, 0)) kept.push(Buffer.from(line).toString("utf8"));
        for (const [at, line] of known.entries()) {
          if (kept[at] !== line) lost.push(`${key} line ${at + 1}: ${line}, not ${kept[at]}`);
        }
      }

      return lost;
    },
  };
}

type Call = { readonly at: number; readonly host: string; readonly about: string | null };

/** Calls that the model got for a run from a machine after another had been granted it. */
export function lateCalls(
  log: string,
  grants: readonly Grant[],
  runOf: ReadonlyMap<string, string>,
): { readonly calls: number; readonly late: readonly object[] } {
  const calls = (existsSync(log) ? readFileSync(log, "utf8") : "")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Call);
  const late = calls.flatMap((call) => {
    const run = runOf.get(call.about ?? "");
    const newest = grants.findLast((grant) => grant.run === run && grant.at < call.at);
    return newest?.host === call.host ? [] : [{ ...call, run, newest }];
  });

  return { calls: calls.length, late };
}
