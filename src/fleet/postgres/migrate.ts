// migrate: brings a database to this product's schema, and refuses one that is not at it.
//
// Invariants:
//   M1. Each migration is one transaction: a network lost in the middle leaves the version before it, whole.
//   M2. One migrates at a time; a second one waits and finds it done.
//   M3. A newer schema is never touched by an older product. It works with one that only added to what it knows (`oldestCompatible`, in the
//       column `least`), so that machines can be brought up to date one after the other; any other it refuses.
//   M4. A migration that older products cannot work with waits until none of them is at work.

import type { Ask, Database } from "./connect.ts";
import { storeFailure, unusable } from "./store-failure.ts";
import { durabilityFaults, refuseLossy, settingsOf } from "./settings.ts";
import { grants, type Migration, migrations, schemaName } from "./schema.ts";

const lockKey = 7_214_030_191;
const rolePattern = /^[A-Za-z_][A-Za-z0-9_$-]{0,62}$/;
const majorMin = 14;

export type Migrated = { readonly from: number; readonly to: number };

/** Makes the schema, or brings it up to date. */
export async function migrate(database: Database, product: string, wanted: readonly Migration[] = migrations): Promise<Migrated> {
  try {
    await refuseOldServer(database.ask);
    const schemaInfo = await schemaIn(database.ask);
    const from = schemaInfo?.version ?? 0;
    if (schemaInfo !== null && schemaInfo.oldestCompatible > wanted.length) throw newer(database.name, from, wanted.length); // M3
    let version = from;
    while (version < wanted.length) version = await step(database, product, wanted);
    return { from, to: version };
  } catch (error) {
    throw storeFailure(error, database.name);
  }
}

/** One migration, by whichever process comes first (M1, M2); the version after it. */
function step(database: Database, product: string, wanted: readonly Migration[]): Promise<number> {
  return database.inTransaction(async (ask) => {
    await ask("select pg_advisory_xact_lock($1)", [lockKey]);
    await ask(`create schema if not exists ${schemaName}`);
    await ask(
      `create table if not exists ${schemaName}.schema_version (
        version int primary key, about text not null, product text not null, at timestamptz not null default now())`,
    );
    await ask(`alter table ${schemaName}.schema_version add column if not exists least int`);
    const version = (await versionOf(ask)) ?? 0;
    const next = wanted[version];
    if (next === undefined) return version;
    const oldestCompatible = next.oldestCompatible ?? version + 1;
    if (oldestCompatible > version) await refuseWhileWorked(ask, version);
    for (const statement of next.statements) await ask(statement);
    await ask(`insert into ${schemaName}.schema_version (version, about, product, least) values ($1, $2, $3, $4)`, [
      version + 1,
      next.about,
      product,
      oldestCompatible,
    ]);
    return version + 1;
  });
}

/** M4 */
async function refuseWhileWorked(ask: Ask, version: number): Promise<void> {
  if (version === 0) return;
  const tables = ["run", "worker"] as const;
  const alive: string[] = [];
  for (const table of tables) {
    const { rows: there } = await ask("select to_regclass($1) is not null as there", [`${schemaName}.${table}`]);
    if (there[0]?.["there"] !== true) continue;
    const { rows } = await ask(
      `select distinct owner->>'worker' as worker, owner->>'host' as host, owner->>'pid' as pid
        from ${schemaName}.${table} where lease_until > clock_timestamp() order by 1 limit 10`,
    );
    alive.push(...rows.map((row) => `${String(row["worker"])} (process ${String(row["pid"])} on ${String(row["host"])})`));
  }
  if (alive.length === 0) return;
  throw unusable(
    `products of schema ${version} cannot work with the next one, and some are at work: ${[...new Set(alive)].join(", ")}`,
    "end them (SIGTERM), then try again",
  );
}

/** A store's schema, and the oldest one that a product may know and still work with it. */
export type Schema = { readonly version: number; readonly oldestCompatible: number };

/** Null if there is no store. */
export async function schemaIn(ask: Ask): Promise<Schema | null> {
  const { rows: there } = await ask("select to_regclass($1) is not null as there", [`${schemaName}.schema_version`]);
  if (there[0]?.["there"] !== true) return null;
  // The column is younger than the table.
  const { rows } = await ask(
    `select coalesce(max(version), 0)::int as version, coalesce(max(coalesce((to_jsonb(s)->>'least')::int, version)), 0)::int as least
      from ${schemaName}.schema_version s`,
  );
  return { version: Number(rows[0]?.["version"] ?? 0), oldestCompatible: Number(rows[0]?.["least"] ?? 0) };
}

export const versionOf = async (ask: Ask): Promise<number | null> => (await schemaIn(ask))?.version ?? null;

/** Refuses a database whose store is missing, older or newer, or which could lose what it has acknowledged. */
export async function requireSound({ ask, name }: Database, wanted = migrations.length): Promise<void> {
  try {
    await refuseOldServer(ask);
    const schema = await schemaIn(ask);
    if (schema === null) throw unusable(`${name} has no store of autopilot`, "autopilot fleet init");
    const { version, oldestCompatible } = schema;
    if (oldestCompatible > wanted) throw newer(name, version, wanted); // M3
    if (version < wanted)
      throw unusable(`the store in ${name} has schema ${version}, and this product needs ${wanted}`, "autopilot fleet init");
    refuseLossy(name, durabilityFaults(await settingsOf(ask)));
  } catch (error) {
    throw storeFailure(error, name);
  }
}

/** Gives a role what a worker needs, and nothing more. */
export async function grantTo(database: Database, role: string): Promise<void> {
  if (!rolePattern.test(role)) throw unusable(`${JSON.stringify(role)} is no plain name of a role`, "letters, digits, _ and -");
  try {
    await database.inTransaction(async (ask) => {
      const { rows } = await ask("select from pg_roles where rolname = $1", [role]);
      if (rows.length === 0) throw unusable(`${database.name} has no role ${role}`, `createuser --pwprompt ${role}, then try again`);
      for (const statement of grants(`"${role}"`)) await ask(statement);
      await ask(`grant select on ${schemaName}.schema_version to "${role}"`);
    });
  } catch (error) {
    throw storeFailure(error, database.name);
  }
}

async function refuseOldServer(ask: Ask): Promise<void> {
  const { version } = await settingsOf(ask);
  if (version < majorMin) throw unusable(`the server is PostgreSQL ${version}, and ${majorMin} or newer is needed`, "upgrade it");
}

const newer = (name: string, version: number, wanted: number): Error =>
  unusable(
    `the store in ${name} has schema ${version}, newer than this product knows (${wanted})`,
    "install the product that made it, or a newer one",
  );
