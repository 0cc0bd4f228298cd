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
import { DatabaseError, Pool, type PoolClient } from "pg";
import { JournalFailure } from "../../journal/failure.ts";

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
    const client = await pool.connect();
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

/** The server has ended this connection: shut down, on command, or after waiting too long (Q4). */
const isOver = ({ code = "" }: DatabaseError): boolean => code.startsWith("57P") || code.startsWith("08") || code === "25P03";

const codes: Readonly<Record<string, (name: string, message: string) => JournalFailure>> = {
  "53100": (_name, message) => new JournalFailure({ kind: "disk_full", detail: `the database has no room: ${message}` }),
  "42501": (name, message) => unusable(`${name}: ${message}`, "autopilot fleet init --grant ROLE, by the owner of the schema"),
  "42P01": (name) => unusable(`${name} has no store of autopilot`, "autopilot fleet init"),
  "3F000": (name) => unusable(`${name} has no store of autopilot`, "autopilot fleet init"),
  "3D000": (_name, message) => unusable(message, "createdb, then autopilot fleet init"),
  // A relation of ours is there already, or a column or function is not: somebody else's schema, or one that was changed by hand.
  "42P07": (name, message) => notOurs(name, message),
  "42703": (name, message) => notOurs(name, message),
  "42883": (name, message) => notOurs(name, message),
  "25006": (name) => unusable(`${name} takes no writes: it is a standby`, "name the primary server"),
};

export const unusable = (detail: string, hint: string): JournalFailure => new JournalFailure({ kind: "store_unusable", detail, hint });

const notOurs = (name: string, message: string): JournalFailure =>
  unusable(
    `the schema autopilot in ${name} is not as autopilot makes it: ${message}`,
    "restore it from a backup, or name another database",
  );

/** What an error of the database means. Our own failures and bugs pass through. */
export function storeFailure(error: unknown, name: string): Error {
  if (error instanceof JournalFailure) return error;
  if (!(error instanceof Error)) return new Error(String(error));
  if (error instanceof DatabaseError) {
    const known = codes[error.code ?? ""];
    if (known !== undefined) return known(name, error.message);
    if (error.code?.startsWith("28") === true)
      return unusable(`${name}: ${error.message}`, "check user and password of the store's address");
    if (isOver(error) || error.code?.startsWith("53") === true)
      return new JournalFailure({ kind: "store_unreachable", detail: `${name}: ${error.message}` }, error);
    return error;
  }
  return isOfTheNetwork(error) ? new JournalFailure({ kind: "store_unreachable", detail: `${name}: ${error.message}` }, error) : error;
}

const networkErrorPattern =
  /timeout|terminated|Connection ended|not queryable|closed|ECONN|EPIPE|ENOTFOUND|EAI_AGAIN|ENOENT|EACCES|EHOST|ENET|ETIMEDOUT|SSL/i;

const isOfTheNetwork = (error: Error): boolean => networkErrorPattern.test(`${"code" in error ? String(error.code) : ""} ${error.message}`);

/** Whether it is unknown if the statement was carried out: only an answer of the server says that it was not. */
export const isInDoubt = (error: unknown): boolean => !(error instanceof DatabaseError) || isOver(error);
