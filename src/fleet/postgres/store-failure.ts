// store-failure: turns an error of the database into what it means for the caller.
//
// Invariants:
//   W1. Only a server's error about a statement can be our bug. A failure to connect is the fault
//       of the store, the network or the address, and so is a refusal for a reason of the server's
//       own.
//   W2. A password is never part of a message: `name` has none (connect.ts, Q3).

import { DatabaseError } from "pg";
import { JournalFailure } from "../../journal/journal-failure.ts";

/** The server has ended this connection: shut down, on command, or after waiting too long. */
export const hasEndedConnection = ({ code = "" }: DatabaseError): boolean =>
  /^(08|57P|25P0[34])/.test(code);

/**
 * What the server refuses now and may take later, by the beginning of its code: the connection, a
 * conflict with another transaction, no resources, in use, cancelled by an administrator or a time
 * limit.
 */
const passingPattern = /^(08|40|53|55|57|25P0[34])/;
/** The server itself is broken: its files, or its data. */
const brokenPattern = /^(58|F0|XX)/;

const diskFull = "53100";
const failuresByCode: Readonly<Record<string, (name: string, message: string) => JournalFailure>> =
  {
    [diskFull]: (_name, message) =>
      new JournalFailure({ kind: "disk_full", detail: `the database has no room: ${message}` }),
    "42501": (name, message) =>
      unusable(
        `${name}: ${message}`,
        "autopilot fleet init --grant ROLE, by the owner of the schema",
      ),
    "42P01": (name) => unusable(`${name} has no store of autopilot`, "autopilot fleet init"),
    "3F000": (name) => unusable(`${name} has no store of autopilot`, "autopilot fleet init"),
    "3D000": (_name, message) => unusable(message, "createdb, then autopilot fleet init"),
    // A relation of ours is there already, or a column or function is not: somebody else's schema,
    // or one that was changed by hand.
    "42P07": (name, message) => createForeignSchemaFailure(name, message),
    "42703": (name, message) => createForeignSchemaFailure(name, message),
    "42883": (name, message) => createForeignSchemaFailure(name, message),
    "25006": (name) =>
      unusable(
        `${name} takes no writes: it is a standby, or read-only for this user`,
        "name the primary server",
      ),
  };

export const unusable = (detail: string, hint: string): JournalFailure =>
  new JournalFailure({ kind: "store_unusable", detail, hint });

const createForeignSchemaFailure = (name: string, message: string): JournalFailure =>
  unusable(
    `the schema autopilot in ${name} is not as autopilot makes it: ${message}`,
    "restore it from a backup, or name another database",
  );

/** What an error of the database means. Our own failures and bugs pass through. */
export function storeFailure(error: unknown, name: string): Error {
  if (error instanceof JournalFailure) return error;
  if (!(error instanceof Error)) return new Error(String(error));
  if (error instanceof DatabaseError) {
    const describeFailure = failuresByCode[error.code ?? ""];
    if (describeFailure !== undefined) return describeFailure(name, error.message);
    if (error.code?.startsWith("28") === true) {
      return unusable(
        `${name}: ${error.message}`,
        "check user and password of the store's address",
      );
    }

    if (passingPattern.test(error.code ?? "")) {
      return new JournalFailure(
        { kind: "store_unreachable", detail: `${name}: ${error.message}` },
        error,
      );
    }

    if (brokenPattern.test(error.code ?? "")) {
      return unusable(`${name}: ${error.message}`, "look at the log of the server");
    }

    return error;
  }

  return isNetworkError(error)
    ? new JournalFailure({ kind: "store_unreachable", detail: `${name}: ${error.message}` }, error)
    : error;
}

const networkErrorPattern =
  /timeout|terminated|Connection ended|not queryable|closed|ECONN|EPIPE|ENOTFOUND|EAI_AGAIN|ENOENT|EACCES|EHOST|ENET|ETIMEDOUT|SSL/i;

const isNetworkError = (error: Error): boolean =>
  networkErrorPattern.test(`${"code" in error ? String(error.code) : ""} ${error.message}`);

/** What kept a connection from being made (W1). */
export function connectFailure(error: unknown, name: string): unknown {
  if (
    !(error instanceof Error) ||
    error instanceof JournalFailure ||
    error instanceof DatabaseError ||
    isNetworkError(error)
  ) {
    return error;
  }

  return unusable(`${name}: ${error.message}`, "check the store's address");
}

/**
 * Whether the caller must find out if the statement was executed, and send it again if not. Only an
 * error from the server proves that it was not; one that may pass is sent again too.
 */
export const isInDoubt = (error: unknown): boolean =>
  !(error instanceof DatabaseError) ||
  (passingPattern.test(error.code ?? "") && error.code !== diskFull);
