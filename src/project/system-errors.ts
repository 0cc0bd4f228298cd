// system-errors: classifies system errors such as a full disk or missing permission as reason codes
// with a hint.

import type { ReasonCode } from "../contracts/reason.ts";
import { errorCode, JournalFailure } from "../journal/journal-failure.ts";
import { findStoreFolder } from "../workspace/bases/store-folder.ts";
import { explainDiskFull } from "../workspace/explain-disk-full.ts";
import { WorkspaceFailed } from "../workspace/failure.ts";

/** A system failure, as a reason and a sentence. */
export type SystemFailure = {
  readonly code: ReasonCode;
  readonly message: string;
  readonly hint?: string;
};

/**
 * Error codes for a lack of permission or resources, or a failing device; `whyFull` finds a lack of
 * space. Any other that isn't named below is a bug.
 */
const environmentCodes = [
  "EIO",
  "EROFS",
  "EACCES",
  "EPERM",
  "EMFILE",
  "ENFILE",
  "ENOMEM",
  "EAGAIN",
  "EFBIG",
  "ESTALE",
  "ETIMEDOUT",
  "ENODEV",
  "ENXIO",
];

/**
 * Classifies an error as a system failure; null if it is a bug. `folders`: what it may have written
 * to, if the error doesn't say.
 */
export function classifySystemError(
  error: unknown,
  folders: readonly string[] = [],
): SystemFailure | null {
  if (error instanceof JournalFailure) return classifyJournalFailure(error, folders);
  if (error instanceof WorkspaceFailed) return classifyWorkspaceFailure(error, folders);
  if (!(error instanceof Error)) return null;

  const errno = errorCode(error);
  if (errno === null) return null;

  const full = whyFull(error, folders);
  if (full !== null) {
    const message = isHiddenBehindMkdir(error) ? full : `${full} ${error.message}.`;
    return { code: "disk_full", message };
  }

  if ("syscall" in error && error.syscall === "mkdtemp") {
    return {
      code: "workspace_unusable",
      message: `The folder for temporary files cannot be used: ${error.message}.`,
      hint: "set TMPDIR to a folder that is there and can be written to",
    };
  }

  if (isFileInTheWay(error)) {
    return {
      code: "workspace_unusable",
      message: `A file lies where a folder is needed: ${error.message}.`,
      hint: "rename it, then try again",
    };
  }

  if (!isHiddenBehindMkdir(error) && !environmentCodes.includes(errno)) return null;
  return { code: "workspace_unusable", message: `The system refused: ${error.message}.` };
}

function classifyJournalFailure(
  failure: JournalFailure,
  folders: readonly string[],
): SystemFailure | null {
  const { kind, trouble, cause } = failure;
  if (kind === "event_too_large") return null; // large payloads belong in blobs

  const full = kind === "disk_full" && cause instanceof Error ? whyFull(cause, folders) : null;
  return {
    code: kind,
    message: full === null ? failure.message : `${full} ${failure.message}.`,
    ...(trouble.kind === "store_unusable" ? { hint: trouble.hint } : {}),
  };
}

function classifyWorkspaceFailure(
  failure: WorkspaceFailed,
  folders: readonly string[],
): SystemFailure {
  const { reason, message, hint } = failure;
  const full = reason === "workspace_unusable" ? whyFull(failure, folders) : null;
  if (full !== null) return { code: "disk_full", message: `${full} ${message}` };

  return { code: reason, message, ...(hint === null ? {} : { hint }) };
}

/** Whether a recursive mkdir failed with ENOENT: Node reports that in place of the real error. */
function isHiddenBehindMkdir(error: Error): error is Error & { readonly path: string } {
  return (
    "syscall" in error &&
    error.syscall === "mkdir" &&
    errorCode(error) === "ENOENT" &&
    "path" in error &&
    typeof error.path === "string"
  );
}

/** Whether a user's file has the name of a folder we need, for example `.autopilot`. */
const isFileInTheWay = (error: Error): boolean =>
  "syscall" in error &&
  error.syscall === "mkdir" &&
  ["ENOTDIR", "EEXIST"].includes(errorCode(error) ?? "");

/** Any failure counts as one of a full disk if a disk that it may have written to has no room. */
function whyFull(error: Error, folders: readonly string[]): string | null {
  const paths = ["path" in error ? error.path : null, "dest" in error ? error.dest : null];
  // Node has no name for an exceeded quota, and its message none either.
  return explainDiskFull(`${errorCode(error) ?? ""} ${error.message}`, [
    ...paths.filter((path) => typeof path === "string"),
    ...folders,
    process.cwd(),
    findStoreFolder(),
  ]);
}
