// journal-failure: lists the ways a journal can fail without a bug. Each kind says what the owner
// of the run can do about it.

import { constants } from "node:os";
import { unreachable } from "../kit/unreachable.ts";

export type FailureDetails =
  /** Another owner is alive; its pid is null only if it has not yet written it. */
  | { readonly kind: "run_locked"; readonly pid: number | null; readonly host: string | null }
  /**
   * Line and byte of the first damage; null if it is elsewhere: in a blob, in the note of a shared
   * commit log, or in that log.
   */
  | {
      readonly kind: "journal_damaged";
      readonly line: number | null;
      readonly byte: number | null;
      readonly detail: string;
    }
  | { readonly kind: "journal_newer"; readonly version: number }
  /** Nothing acknowledged is lost; the journal can be opened again once there is room. */
  | { readonly kind: "disk_full"; readonly detail: string }
  /** The disk refused; this journal accepts nothing more. */
  | { readonly kind: "journal_unwritable"; readonly detail: string }
  /**
   * A shared store: another owner has the run, or the store was silent for too long. This owner
   * writes nothing more.
   */
  | { readonly kind: "lease_lost"; readonly detail: string }
  /** A shared store does not answer; what was acknowledged is there when it does. */
  | { readonly kind: "store_unreachable"; readonly detail: string }
  /**
   * A shared store that answers but cannot be used: no schema, another version, no rights, or no
   * durable commits.
   */
  | { readonly kind: "store_unusable"; readonly detail: string; readonly hint: string }
  /**
   * A shared store has lost lines that it had acknowledged, as a failover to a lagging standby
   * does.
   */
  | { readonly kind: "store_lost_lines"; readonly detail: string }
  /**
   * A line, an append or a blob, refused before anything was written; the journal continues. Large
   * payloads belong in blobs.
   */
  | { readonly kind: "event_too_large"; readonly bytes: number; readonly bytesMax: number };

export type FailureKind = FailureDetails["kind"];

export class JournalFailure extends Error {
  override readonly name = "JournalFailure";
  readonly trouble: FailureDetails;

  constructor(trouble: FailureDetails, cause?: unknown) {
    super(describeFailure(trouble), cause === undefined ? undefined : { cause });
    this.trouble = trouble;
  }

  get kind(): FailureKind {
    return this.trouble.kind;
  }
}

export function damaged(
  line: number | null,
  byte: number | null,
  detail: string,
  cause?: unknown,
): JournalFailure {
  return new JournalFailure({ kind: "journal_damaged", line, byte, detail }, cause);
}

/** Maps a disk error to a journal failure. Our own failures and bugs pass through. */
export function toJournalFailure(error: unknown, doing: string): Error {
  if (error instanceof JournalFailure) return error;
  const code = errorCode(error);
  if (code === null) return error instanceof Error ? error : new Error(String(error));
  const kind = code === "ENOSPC" || code === "EDQUOT" ? "disk_full" : "journal_unwritable";

  return new JournalFailure({ kind, detail: `${code} while ${doing}` }, error);
}

/** The errno name of a system error, or null for any other error. */
export function errorCode(error: unknown): string | null {
  if (!(error instanceof Error) || !("code" in error) || !("syscall" in error)) return null;
  // Node has no name for an exceeded quota.
  if ("errno" in error && error.errno === -constants.errno.EDQUOT) return "EDQUOT";
  return typeof error.code === "string" ? error.code : null;
}

function describeFailure(trouble: FailureDetails): string {
  switch (trouble.kind) {
    case "run_locked":
      return trouble.pid === null
        ? "another process owns this run"
        : `process ${trouble.pid} on ${trouble.host ?? "this host"} owns this run`;
    case "journal_damaged":
      return trouble.line === null
        ? trouble.detail
        : `journal damaged at line ${trouble.line}, byte ${trouble.byte}: ${trouble.detail}`;
    case "journal_newer":
      return `the journal has format version ${trouble.version}, newer than this product knows`;
    case "disk_full":
      return `the disk is full: ${trouble.detail}`;
    case "journal_unwritable":
      return `the journal cannot be written: ${trouble.detail}`;
    case "lease_lost":
      return `this process no longer has the run: ${trouble.detail}`;
    case "store_unreachable":
      return `the store does not answer: ${trouble.detail}`;
    case "store_unusable":
      return `the store cannot be used: ${trouble.detail}`;
    case "store_lost_lines":
      return `the store has lost lines it had acknowledged: ${trouble.detail}`;
    case "event_too_large":
      return `${trouble.bytes} bytes at once are over the limit of ${trouble.bytesMax}`;
    default:
      return unreachable(trouble);
  }
}
