// system-errors: classifies system errors such as a full disk or missing permission as reason codes with a hint.

import { statfsSync } from "node:fs";
import { dirname } from "node:path";
import type { ReasonCode } from "../contracts/reason.ts";
import { errorCode, JournalFailure } from "../journal/failure.ts";
import { WorkspaceFailed } from "../workspace/failure.ts";

/** A system failure, as a reason and a sentence. */
export type Trouble = { readonly code: ReasonCode; readonly message: string; readonly hint?: string };

/** Errors for lack of space, permission or resources; every other system error is a bug of ours. */
const systemCodes = [
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

/** Classifies an error as a system failure; null if it is a bug. */
export function classifySystemError(error: unknown): Trouble | null {
  if (error instanceof JournalFailure) {
    const { kind, trouble } = error;
    if (kind === "event_too_large") return null; // large payloads belong in blobs
    return { code: kind, message: error.message, ...(trouble.kind === "store_unusable" ? { hint: trouble.hint } : {}) };
  }
  if (error instanceof WorkspaceFailed)
    return { code: error.reason, message: error.message, ...(error.hint === null ? {} : { hint: error.hint }) };
  const errno = errorCode(error);
  if (errno === null || !(error instanceof Error)) return null;
  if (errno === "ENOSPC" || errno === "EDQUOT") return { code: "disk_full", message: `The disk is full: ${error.message}.` };
  if ("syscall" in error && error.syscall === "mkdtemp")
    return {
      code: "workspace_unusable",
      message: `The folder for temporary files cannot be used: ${error.message}.`,
      hint: "set TMPDIR to a folder that is there and can be written to",
    };
  if (isFileInTheWay(error))
    return {
      code: "workspace_unusable",
      message: `A file lies where a folder is needed: ${error.message}.`,
      hint: "rename it, then try again",
    };
  if (isHiddenBehindMkdir(error))
    return hasRoom(error.path)
      ? systemRefusal(error)
      : { code: "disk_full", message: `The disk is full: no folder could be made at ${error.path}.` };
  return systemCodes.includes(errno) ? systemRefusal(error) : null;
}

const systemRefusal = (error: Error): Trouble => ({ code: "workspace_unusable", message: `The system refused: ${error.message}.` });

/** Whether a recursive mkdir failed with ENOENT: Node reports that in place of the real error. */
function isHiddenBehindMkdir(error: Error): error is Error & { readonly path: string } {
  return (
    "syscall" in error && error.syscall === "mkdir" && errorCode(error) === "ENOENT" && "path" in error && typeof error.path === "string"
  );
}

/** Whether a user's file has the name of a folder we need, for example `.autopilot`. */
const isFileInTheWay = (error: Error): boolean =>
  "syscall" in error && error.syscall === "mkdir" && ["ENOTDIR", "EEXIST"].includes(errorCode(error) ?? "");

const roomBytesMin = 16_384;

function hasRoom(path: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(dirname(path));
    return bavail * bsize >= roomBytesMin;
  } catch {
    return true; // unknown, so it is left out
  }
}
