// connect: connects to PostgreSQL; every query has a deadline.
//
// Invariants:
//   Q1. No query waits for ever: over a link that drops packets silently, a client without a
//       deadline waits for minutes.
//   Q2. A connection whose answer did not come is destroyed; back in the pool it would make the
//       next query wait too.
//   Q3. A password is never part of a message.
//   Q4. A client that falls silent in a transaction blocks nobody for long: the server ends the
//       transaction after the time that an answer may take. Without that, a machine that sleeps or
//       is cut off would keep its locks until TCP gives up, which takes hours.
//   Q5. A prepared statement is named after its text, so that a pooler that mixes connections can't
//       run another one under its name. If it is missing, the server refuses before doing anything,
//       and from then on it is sent as any other query.
//   Q6. A connection that breaks fails its query, whenever it breaks, and never ends the process.

import { hash } from "node:crypto";
import { DatabaseError, defaults, Pool, type PoolClient } from "pg";
import { readPasswordFromFile } from "./password-file.ts";
import { connectFailure, hasEndedConnection } from "./store-failure.ts";

export type DatabaseRow = Readonly<Record<string, unknown>>;
export type QueryResult = { readonly rows: readonly DatabaseRow[]; readonly count: number };
export type Query = (text: string, values?: readonly unknown[]) => Promise<QueryResult>;

export interface Database {
  readonly query: Query;
  /** The same for frequent queries: each is parsed and planned once for a connection (Q5). */
  readonly queryOften: Query;
  /** Runs `work` in a transaction: all of its queries take effect, or none. */
  inTransaction<Value>(work: (query: Query) => Promise<Value>): Promise<Value>;
  /** `user@host/name`, without a password (Q3). */
  readonly name: string;
  close(): Promise<void>;
}

export type ConnectOptions = {
  readonly answerMs: number;
  readonly connectionsMax?: number;
  /**
   * How many queries or transactions a connection is used for, as with some poolers; by default
   * without a limit.
   */
  readonly usesMax?: number;
};

// Used if neither the address nor PGPASSWORD has a password. It can't be set with the address: one
// without a password counts as having "".
Object.assign(defaults, { password: readPasswordFromFile });

export function connect(
  url: string,
  { answerMs, connectionsMax = 4, usesMax }: ConnectOptions,
): Database {
  const name = describeStore(url);
  const pool = new Pool({
    connectionString: url,
    max: connectionsMax,
    ...(usesMax === undefined ? {} : { maxUses: usesMax }),
    connectionTimeoutMillis: answerMs,
    query_timeout: answerMs, // Q1
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    allowExitOnIdle: true,
    application_name: "autopilot",
  });
  pool.on("error", ignore); // a broken idle connection is replaced; the next query reports it
  // The listener stays for the connection's whole life: it may break after the pool has handed it
  // out and before its query begins.
  pool.on("connect", (client) => void client.on("error", ignore)); // Q6

  async function withClient<Value>(work: (client: PoolClient) => Promise<Value>): Promise<Value> {
    const client = await pool.connect().catch((error: unknown) => {
      throw connectFailure(error, name);
    });

    let isSound = false;
    try {
      const value = await work(client);
      isSound = true;
      return value;
    } catch (error) {
      isSound = error instanceof DatabaseError && !hasEndedConnection(error);
      throw error;
    } finally {
      client.release(!isSound); // Q2
    }
  }

  const createQuery =
    (client: PoolClient): Query =>
    async (text, values = []) => {
      const { rows, rowCount } = await client.query<DatabaseRow>(text, [...values]);
      return { rows, count: rowCount ?? 0 };
    };
  const query: Query = (text, values) => withClient((client) => createQuery(client)(text, values));
  let arePreparedKept = true;

  return {
    name,
    query,
    queryOften: async (text, values = []) => {
      if (arePreparedKept) {
        try {
          const { rows, rowCount } = await withClient((client) =>
            client.query<DatabaseRow>({ name: toStatementName(text), text, values: [...values] }),
          );

          return { rows, count: rowCount ?? 0 };
        } catch (error) {
          if (!isStatementError(error)) throw error;
          arePreparedKept = false; // Q5
        }
      }

      return query(text, values);
    },
    inTransaction: (work) =>
      withClient(async (client) => {
        await client.query(`begin; set local idle_in_transaction_session_timeout = ${answerMs}`); // Q4
        try {
          const value = await work(createQuery(client));
          await client.query("commit");
          return value;
        } catch (error) {
          await client.query("rollback").catch(() => undefined);
          throw error;
        }
      }),
    close: () => pool.end(),
  };
}

const ignore = (): void => undefined;

const statementNames = new Map<string, string>();
function toStatementName(text: string): string {
  const name = statementNames.get(text) ?? `autopilot_${hash("sha256", text).slice(0, 32)}`;
  statementNames.set(text, name);
  return name;
}

/**
 * The prepared statement is missing, exists already, or must be parsed again: nothing was executed.
 */
const isStatementError = (error: unknown): boolean =>
  error instanceof DatabaseError && ["26000", "42P05", "0A000"].includes(error.code ?? "");

/** Where a store is, for people. */
export function describeStore(url: string): string {
  try {
    const { username, host, pathname, searchParams } = new URL(url);
    const hostText = host === "" ? (searchParams.get("host") ?? "") : host;
    return `${username === "" ? "" : `${decodeURIComponent(username)}@`}${hostText}${pathname}`;
  } catch {
    return "the database";
  }
}
