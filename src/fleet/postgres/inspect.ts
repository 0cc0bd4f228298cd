// inspect: what a store can be asked about itself: settings, rights, clock, size. Changes nothing.

import type { Database } from "./connect.ts";
import { schemaIn } from "./migrate.ts";
import { durabilityFaults, type Settings, settingsOf } from "./settings.ts";
import { migrations } from "./schema.ts";

export type Inspection = {
  readonly settings: Settings;
  /** Null if there is no store. */
  readonly schema: number | null;
  readonly schemaWanted: number;
  /** The oldest schema that a product may know and still work with this store. */
  readonly schemaLeast: number;
  readonly faults: readonly string[];
  /** Rights that are missing for a worker. */
  readonly missing: readonly string[];
  /** Rights over lines that a worker does not need. */
  readonly excessive: readonly string[];
  /** The database's clock less this machine's. */
  readonly clockMs: number;
  /** The quickest of a few questions. */
  readonly answerMs: number;
  readonly bytes: number;
};

const needed = [
  ["run", "select"],
  ["run", "insert"],
  ["run", "update"],
  ["entry", "select"],
  ["entry", "insert"],
  ["blob", "select"],
  ["blob", "insert"],
  ["snapshot", "insert"],
  ["snapshot", "update"],
  ["request", "insert"],
  ["worker", "update"],
  ["work_order", "update"],
] as const;
const beyond = [
  ["entry", "update"],
  ["entry", "delete"],
  ["entry", "truncate"],
  ["blob", "update"],
  ["blob", "delete"],
] as const;

export async function inspect({ ask }: Database): Promise<Inspection> {
  const settings = await settingsOf(ask);
  const schemaInfo = await schemaIn(ask);
  const [schema, schemaLeast] = [schemaInfo?.version ?? null, schemaInfo?.oldestCompatible ?? 0];
  const { answerMs, clockMs } = await clockOf(ask);
  const rightsOf = async (rights: readonly (readonly [string, string])[]): Promise<ReadonlyMap<string, boolean>> => {
    const { rows } = await ask(
      `select r.t || ' ' || r.p as name, has_table_privilege('autopilot.' || r.t, r.p) as has
        from unnest($1::text[], $2::text[]) as r(t, p)`,
      [rights.map(([table]) => table), rights.map(([, right]) => right)],
    );
    return new Map(rows.map((row) => [String(row["name"]), row["has"] === true]));
  };
  const isThere = schema !== null && schema >= migrations.length;
  const has = isThere ? await rightsOf(needed) : new Map<string, boolean>();
  const excessiveRights = isThere ? await rightsOf(beyond) : new Map<string, boolean>();
  const { rows: size } = await ask("select pg_database_size(current_database())::text as bytes");
  return {
    settings,
    schema,
    schemaWanted: migrations.length,
    schemaLeast,
    faults: durabilityFaults(settings),
    missing: [...has].flatMap(([name, isGranted]) => (isGranted ? [] : [name])),
    excessive: [...excessiveRights].flatMap(([name, isGranted]) => (isGranted ? [name] : [])),
    clockMs,
    answerMs,
    bytes: Number(size[0]?.["bytes"] ?? 0),
  };
}

async function clockOf(ask: Database["ask"]): Promise<{ readonly answerMs: number; readonly clockMs: number }> {
  let best = { answerMs: Number.POSITIVE_INFINITY, clockMs: 0 };
  for (let tries = 0; tries < 5; tries++) {
    const sentMs = performance.now();
    const { rows } = await ask("select (extract(epoch from clock_timestamp()) * 1000)::text as ms");
    const answerMs = performance.now() - sentMs;
    if (answerMs < best.answerMs) best = { answerMs, clockMs: Number(rows[0]?.["ms"]) - (Date.now() - answerMs / 2) };
  }
  return best;
}
