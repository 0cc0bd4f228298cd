// failure: the error the workspace throws when the checkout, not our code, is the problem. The host
// turns the reason into a message and an exit code.

import { constants } from "node:os";
import type { ReasonCode } from "../contracts/reason.ts";

export class WorkspaceFailed extends Error {
  override readonly name = "WorkspaceFailed";
  readonly reason: ReasonCode;
  /** Replaces the reason's own hint. */
  readonly hint: string | null;

  constructor(reason: ReasonCode, sentence: string, hint: string | null = null) {
    super(sentence);
    this.reason = reason;
    this.hint = hint;
  }
}

/** The error code of a failed system call, or null. */
export const readErrorCode = (error: unknown): string | null => {
  if (!(error instanceof Error) || !("code" in error)) return null;
  if ("errno" in error && error.errno === -constants.errno.EDQUOT) return "EDQUOT"; // Node has no name for an exceeded quota
  return typeof error.code === "string" ? error.code : null;
};
