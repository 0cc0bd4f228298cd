// connect: questions to PostgreSQL, each with a deadline.
//
// Invariants:
//   Q1. No question waits for ever: over a link that drops packets silently a client without a deadline waits for minutes.
//   Q2. A connection whose answer did not come is destroyed; given back, it would make the next question wait too.
//   Q3. A password is never part of a message.
//   Q4. A client that falls silent in the middle of a transaction holds nobody up: the server ends it after as long as an answer may take.
//       A machine that sleeps or is cut off would keep its locks until TCP gives up, which takes hours.
//   Q5. A statement that is kept by its connection is named after its text, so that a pooler that mixes connections can't have another one
//       carried out; where it is not there, the server has refused before doing anything, and it is sent as any other from then on.
//   Q6. A connection that breaks ends its question, whenever it breaks, and never the process.

import { hash } from "node:crypto";
import { DatabaseError, defaults, Pool, type PoolClient } from "pg";
import { passwordFromFile } from "./password-file.ts";
import { connectFailure, isOver } from "./store-failure.ts";

export type Row = Readonly<Record<string, unknown>>;
export type Answered = { readonly rows: readonly Row[]; readonly count: number };
export type Ask = (text: string, values?: readonly unknown[]) => Promise<Answered>;

export interface Database {
  readonly ask: Ask;
  /** The same for what is asked all the time: parsed and planned once a connection (Q5). */
  readonly askOften: Ask;
  /** All of it or nothing. */
  inTransaction<Value>(work: (ask: Ask) => Promise<Value>): Promise<Value>;
  /** `user@host/name`, without a password (Q3). */
  readonly name: string;
  close(): Promise<void>;
}

export type ConnectOptions = {
  readonly answerMs: number;
  readonly connectionsMax?: number;
  /** How many questions or transactions a connection is used for, as a pooler might; without it, as many as come. */
  readonly usesMax?: number;
};

// Where neither the address nor PGPASSWORD has one. By way of the address alone it can't be given: an address without one counts as one of "".
Object.assign(defaults, { password: passwordFromFile });

export function connect(url: string, { answerMs, connectionsMax = 4, usesMax }: ConnectOptions): Database {
  const name = nameOf(url);
  const pool = new Pool({
    connectionString: url,
    max: connectionsMax,
    ...(usesMax === undefined ? {} : { maxUses: usesMax }),
    connectionTimeoutMillis: answerMs,
    query_timeout: answerMs,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    allowExitOnIdle: true,
    application_name: "autopilot",
  });
  pool.on("error", ignore); // a broken idle connection is replaced; the next query reports it
  // For as long as it lives: it may break after the pool has let go of it and before whoever asked for it has a turn.
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
      isSound = error instanceof DatabaseError && !isOver(error);
      throw error;
    } finally {
      client.release(!isSound); // Q2
    }
  }
  const asking =
    (client: PoolClient): Ask =>
    async (text, values = []) => {
      const { rows, rowCount } = await client.query<Row>(text, [...values]);
      return { rows, count: rowCount ?? 0 };
    };
  const ask: Ask = (text, values) => withClient((client) => asking(client)(text, values));
  let areKept = true;
  return {
    name,
    ask,
    askOften: async (text, values = []) => {
      if (areKept)
        try {
          const { rows, rowCount } = await withClient((client) =>
            client.query<Row>({ name: statementName(text), text, values: [...values] }),
          );
          return { rows, count: rowCount ?? 0 };
        } catch (error) {
          if (!isOfStatement(error)) throw error;
          areKept = false; // Q5
        }
      return ask(text, values);
    },
    inTransaction: (work) =>
      withClient(async (client) => {
        await client.query(`begin; set local idle_in_transaction_session_timeout = ${answerMs}`); // Q4
        try {
          const value = await work(asking(client));
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
function statementName(text: string): string {
  const name = statementNames.get(text) ?? `autopilot_${hash("sha256", text).slice(0, 32)}`;
  statementNames.set(text, name);
  return name;
}

/** The statement is not there, is there already, or has to be parsed again: nothing was carried out. */
const isOfStatement = (error: unknown): boolean => error instanceof DatabaseError && ["26000", "42P05", "0A000"].includes(error.code ?? "");

/** Where a store is, for people. */
export function nameOf(url: string): string {
  try {
    const { username, host, pathname, searchParams } = new URL(url);
    const at = host === "" ? (searchParams.get("host") ?? "") : host;
    return `${username === "" ? "" : `${decodeURIComponent(username)}@`}${at}${pathname}`;
  } catch {
    return "the database";
  }
}
