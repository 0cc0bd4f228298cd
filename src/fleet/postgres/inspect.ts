// inspect: reads a store's settings, rights, clock and size. Changes nothing.

import type { Database } from "./connect.ts";
import { readSchema } from "./migrate.ts";
import { findDurabilityFaults, type ServerSettings, readServerSettings } from "./settings.ts";
import { migrations, workerRights } from "./schema.ts";

export type Inspection = {
  readonly settings: ServerSettings;
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

/** The rights that a worker needs, by table; one on a column counts as one on its table. */
const neededRights = workerRights.flatMap(([table, rights]) =>
  rights.map((right) => [table, right.split(" ", 1)[0] ?? right] as const),
);
/** Rights with which a worker could change or remove lines and blobs. */
const excessiveRights = [
  ["entry", "update"],
  ["entry", "delete"],
  ["entry", "truncate"],
  ["blob", "update"],
  ["blob", "delete"],
] as const;

export async function inspect({ query }: Database): Promise<Inspection> {
  const settings = await readServerSettings(query);
  const schemaInfo = await readSchema(query);
  const [schema, schemaLeast] = [schemaInfo?.version ?? null, schemaInfo?.oldestCompatible ?? 0];
  const { answerMs, clockMs } = await measureClock(query);
  const hasTables = schema !== null && schema >= migrations.length;
  const needed = hasTables
    ? await readRights(query, neededRights, "has_any_column_privilege")
    : new Map<string, boolean>();

  const excessive = hasTables
    ? await readRights(query, excessiveRights, "has_table_privilege")
    : new Map<string, boolean>();

  const { rows: size } = await query("select pg_database_size(current_database())::text as bytes");
  return {
    settings,
    schema,
    schemaWanted: migrations.length,
    schemaLeast,
    faults: findDurabilityFaults(settings),
    missing: [...needed].flatMap(([name, isGranted]) => (isGranted ? [] : [name])),
    excessive: [...excessive].flatMap(([name, isGranted]) => (isGranted ? [name] : [])),
    clockMs,
    answerMs,
    bytes: Number(size[0]?.["bytes"] ?? 0),
  };
}

/** Which of these rights this user has, by `table right`. */
async function readRights(
  query: Database["query"],
  rights: readonly (readonly [table: string, right: string])[],
  sqlFunction: "has_any_column_privilege" | "has_table_privilege",
): Promise<ReadonlyMap<string, boolean>> {
  const { rows } = await query(
    `select r.t || ' ' || r.p as name, ${sqlFunction}('autopilot.' || r.t, r.p) as has
      from unnest($1::text[], $2::text[]) as r(t, p)`,
    [rights.map(([table]) => table), rights.map(([, right]) => right)],
  );
  return new Map(rows.map((row) => [String(row["name"]), row["has"] === true]));
}

const clockTriesMax = 5;

/** The difference of the clocks, by the quickest of a few queries: it bounds the error best. */
async function measureClock(
  query: Database["query"],
): Promise<{ readonly answerMs: number; readonly clockMs: number }> {
  let best = { answerMs: Number.POSITIVE_INFINITY, clockMs: 0 };
  for (let tries = 0; tries < clockTriesMax; tries++) {
    const sentMs = performance.now();
    const { rows } = await query(
      "select (extract(epoch from clock_timestamp()) * 1000)::text as ms",
    );

    const answerMs = performance.now() - sentMs;
    if (answerMs < best.answerMs) {
      best = { answerMs, clockMs: Number(rows[0]?.["ms"]) - (Date.now() - answerMs / 2) };
    }
  }

  return best;
}
