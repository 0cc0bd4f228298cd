// respond: builds a command's response from a reason code, and turns refusals and system errors
// into responses.

import type { CommandResponse } from "../contracts/command-response.ts";
import {
  type Reason,
  type ReasonCode,
  type ResultWord,
  type Retry,
  reasons,
} from "../contracts/reason.ts";
import { classifySystemError } from "./system-errors.ts";

/** A terminal of 34 rows, less one for the prompt below. */
export const screenRows = 33;

type Parts = Partial<Omit<CommandResponse, "reason_code" | "remediation">> & {
  readonly remediation?: readonly (string | undefined)[];
};

/**
 * Builds a response from a reason code: its result, and its hint unless a better one is given.
 * Without any, `autopilot status` is named.
 */
export function respond(code: ReasonCode, parts: Parts = {}): CommandResponse {
  const { meaning, result, hint } = reasons[code];
  const givenHints = (parts.remediation ?? []).filter(
    (line) => line !== undefined && line !== "",
  ) as string[];

  const finalResult: ResultWord = parts.result ?? result;
  const remediation =
    givenHints.length > 0 || finalResult === "PASS" || hint === "" ? givenHints : [hint];
  return {
    result: finalResult,
    reason_code: code,
    run_id: parts.run_id ?? null,
    state: parts.state ?? null,
    message: parts.message ?? meaning,
    warnings: parts.warnings ?? [],
    remediation:
      finalResult !== "PASS" && remediation.length === 0 ? ["autopilot status"] : remediation,
    ...(parts.page === undefined ? {} : { page: parts.page }),
    ...(parts.whole === undefined ? {} : { whole: parts.whole }),
    ...(parts.rowsMax === undefined ? {} : { rowsMax: parts.rowsMax }),
    ...(parts.data === undefined ? {} : { data: parts.data }),
  };
}

/** A failure as an exception: it carries the whole response. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly response: CommandResponse;

  constructor(response: CommandResponse) {
    super(response.message);
    this.response = response;
  }
}

export function refuse(code: ReasonCode, parts: Parts = {}): never {
  throw new Refusal(respond(code, parts));
}

export type Failure = { readonly code: ReasonCode; readonly message: string };

/** Describes an error by code and message: a refusal, a system error, or a bug. */
export function toFailure(error: unknown): Failure {
  if (error instanceof Refusal) {
    return { code: error.response.reason_code, message: error.response.message };
  }

  const message = error instanceof Error ? error.message : String(error);
  return classifySystemError(error) ?? { code: "internal_error", message };
}

export function findRetryPolicy(code: ReasonCode): Retry {
  const { retry = "never" }: Reason = reasons[code];
  return retry;
}

/** Runs a use case; its refusals and system errors become its response. */
export async function catchRefusals(
  work: () => Promise<CommandResponse>,
): Promise<CommandResponse> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Refusal) return error.response;
    const trouble = classifySystemError(error);
    if (trouble === null) throw error;

    return respond(trouble.code, { message: trouble.message, remediation: [trouble.hint] });
  }
}
