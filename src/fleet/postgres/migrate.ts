// migrate: brings a database to this product's schema, and refuses a database with another.
//
// Invariants:
//   M1. Each migration is one transaction: if the connection breaks, the database stays at the
//       version before.
//   M2. One process migrates at a time; a second one waits and finds it done.
//   M3. An older product never changes a newer schema. It works with one that only added to what it
//       knows (`oldestCompatible`, in the column `least`), so that machines can be upgraded one
//       after the other; it refuses any other.
//   M4. A migration that older products cannot work with is refused while one of them is at work.

import type { Query, Database } from "./connect.ts";
import { storeFailure, unusable } from "./store-failure.ts";
import { findDurabilityFaults, refuseLossy, readServerSettings } from "./settings.ts";
import { createGrants, type Migration, migrations, schemaName } from "./schema.ts";

/** The advisory lock of migrations: any number that nothing else in the database uses. */
const lockKey = 7_214_030_191;
const rolePattern = /^[A-Za-z_][A-Za-z0-9_$-]{0,62}$/;
const majorMin = 14;

export type Migrated = { readonly from: number; readonly to: number };

/** Makes the schema, or brings it up to date. */
export async function migrate(
  database: Database,
  product: string,
  wanted: readonly Migration[] = migrations,
): Promise<Migrated> {
  try {
    await refuseOldServer(database.query);
    const schemaInfo = await readSchema(database.query);
    const from = schemaInfo?.version ?? 0;

    if (schemaInfo !== null && schemaInfo.oldestCompatible > wanted.length) {
      throw createNewerSchemaFailure(database.name, from, wanted.length);
    } // M3

    let version = from;
    while (version < wanted.length) version = await applyNext(database, product, wanted);
    return { from, to: version };
  } catch (error) {
    throw storeFailure(error, database.name);
  }
}

/**
 * Applies the next migration, unless another process has (M1, M2); returns the version after it.
 */
function applyNext(
  database: Database,
  product: string,
  wanted: readonly Migration[],
): Promise<number> {
  return database.inTransaction(async (query) => {
    await query("select pg_advisory_xact_lock($1)", [lockKey]);
    await query(`create schema if not exists ${schemaName}`);
    await query(
      `create table if not exists ${schemaName}.schema_version (
        version int primary key, about text not null, product text not null, at timestamptz not null default now())`,
    );

    await query(`alter table ${schemaName}.schema_version add column if not exists least int`);
    const version = (await readVersion(query)) ?? 0;
    const next = wanted[version];
    if (next === undefined) return version;
    const oldestCompatible = next.oldestCompatible ?? version + 1;
    if (oldestCompatible > version) await refuseWhileInUse(query, version);
    for (const statement of next.statements) await query(statement);
    await query(
      `insert into ${schemaName}.schema_version (version, about, product, least) values ($1, $2, $3, $4)`,
      [version + 1, next.about, product, oldestCompatible],
    );

    return version + 1;
  });
}

/** Refuses a migration while products that could not work with its result hold leases (M4). */
async function refuseWhileInUse(query: Query, version: number): Promise<void> {
  if (version === 0) return;
  const tables = ["run", "worker"] as const;
  const alive: string[] = [];

  for (const table of tables) {
    const { rows: exists } = await query("select to_regclass($1) is not null as there", [
      `${schemaName}.${table}`,
    ]);
    if (exists[0]?.["there"] !== true) continue;
    const { rows } = await query(
      `select distinct owner->>'worker' as worker, owner->>'host' as host, owner->>'pid' as pid
        from ${schemaName}.${table} where lease_until > clock_timestamp() order by 1 limit 10`,
    );
    alive.push(
      ...rows.map(
        (row) =>
          `${String(row["worker"])} (process ${String(row["pid"])} on ${String(row["host"])})`,
      ),
    );
  }

  if (alive.length === 0) return;
  throw unusable(
    `products of schema ${version} cannot work with the next one, and some are at work: ${[...new Set(alive)].join(", ")}`,
    "end them (SIGTERM), then try again",
  );
}

/** A store's schema, and the oldest one that a product may know and still work with it. */
export type StoreSchema = { readonly version: number; readonly oldestCompatible: number };

/** Null if there is no store. */
export async function readSchema(query: Query): Promise<StoreSchema | null> {
  const { rows: exists } = await query("select to_regclass($1) is not null as there", [
    `${schemaName}.schema_version`,
  ]);
  if (exists[0]?.["there"] !== true) return null;
  // The column is younger than the table.
  const { rows } = await query(
    `select coalesce(max(version), 0)::int as version, coalesce(max(coalesce((to_jsonb(s)->>'least')::int, version)), 0)::int as least
      from ${schemaName}.schema_version s`,
  );

  return {
    version: Number(rows[0]?.["version"] ?? 0),
    oldestCompatible: Number(rows[0]?.["least"] ?? 0),
  };
}

export const readVersion = async (query: Query): Promise<number | null> =>
  (await readSchema(query))?.version ?? null;

/**
 * Refuses a database whose store is missing, older or newer, or which could lose what it has
 * acknowledged.
 */
export async function requireSound(
  { query, name }: Database,
  wanted = migrations.length,
): Promise<void> {
  try {
    await refuseOldServer(query);
    const schema = await readSchema(query);
    if (schema === null) {
      throw unusable(`${name} has no store of autopilot`, "autopilot fleet init");
    }

    const { version, oldestCompatible } = schema;
    if (oldestCompatible > wanted) throw createNewerSchemaFailure(name, version, wanted); // M3
    if (version < wanted) {
      throw unusable(
        `the store in ${name} has schema ${version}, and this product needs ${wanted}`,
        "autopilot fleet init",
      );
    }

    refuseLossy(name, findDurabilityFaults(await readServerSettings(query)));
  } catch (error) {
    throw storeFailure(error, name);
  }
}

/** Gives a role what a worker needs, and nothing more. */
export async function grantTo(database: Database, role: string): Promise<void> {
  if (!rolePattern.test(role)) {
    throw unusable(
      `${JSON.stringify(role)} is no plain name of a role`,
      "letters, digits, _ and -",
    );
  }

  try {
    await database.inTransaction(async (query) => {
      const { rows } = await query("select from pg_roles where rolname = $1", [role]);
      if (rows.length === 0) {
        throw unusable(
          `${database.name} has no role ${role}`,
          `createuser --pwprompt ${role}, then try again`,
        );
      }

      for (const statement of createGrants(`"${role}"`)) await query(statement);
    });
  } catch (error) {
    throw storeFailure(error, database.name);
  }
}

async function refuseOldServer(query: Query): Promise<void> {
  const { version } = await readServerSettings(query);
  if (version < majorMin) {
    throw unusable(
      `the server is PostgreSQL ${version}, and ${majorMin} or newer is needed`,
      "upgrade it",
    );
  }
}

const createNewerSchemaFailure = (name: string, version: number, wanted: number): Error =>
  unusable(
    `the store in ${name} has schema ${version}, newer than this product knows (${wanted})`,
    "install the product that made it, or a newer one",
  );
