// reply: builds a command's answer from a reason code, and turns refusals and system errors into answers.

import type { Answer } from "../contracts/answer.ts";
import { type Reason, type ReasonCode, type ResultWord, type Retry, reasons } from "../contracts/reason.ts";
import { classifySystemError } from "./system-errors.ts";

/** A terminal of 34 rows, less one for the prompt below. */
export const screenRows = 33;

type Parts = Partial<Omit<Answer, "reason_code" | "remediation">> & { readonly remediation?: readonly (string | undefined)[] };

/** Builds an answer from a reason code: its result, and its hint unless a better one is given. */
export function reply(code: ReasonCode, parts: Parts = {}): Answer {
  const { meaning, result, hint } = reasons[code];
  const givenHints = (parts.remediation ?? []).filter((line) => line !== undefined && line !== "") as string[];
  const finalResult: ResultWord = parts.result ?? result;
  const remediation = givenHints.length > 0 || finalResult === "PASS" || hint === "" ? givenHints : [hint];
  return {
    result: finalResult,
    reason_code: code,
    run_id: parts.run_id ?? null,
    state: parts.state ?? null,
    message: parts.message ?? meaning,
    warnings: parts.warnings ?? [],
    remediation: finalResult !== "PASS" && remediation.length === 0 ? ["autopilot status"] : remediation,
    ...(parts.page === undefined ? {} : { page: parts.page }),
    ...(parts.whole === undefined ? {} : { whole: parts.whole }),
    ...(parts.rowsMax === undefined ? {} : { rowsMax: parts.rowsMax }),
    ...(parts.data === undefined ? {} : { data: parts.data }),
  };
}

/** A failure as an exception: it carries the whole answer. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly answer: Answer;

  constructor(answer: Answer) {
    super(answer.message);
    this.answer = answer;
  }
}

export function refuse(code: ReasonCode, parts: Parts = {}): never {
  throw new Refusal(reply(code, parts));
}

export type Failure = { readonly code: ReasonCode; readonly message: string };

/** Describes an error by code and message: a refusal, a system error, or a bug. */
export function failureOf(error: unknown): Failure {
  if (error instanceof Refusal) return { code: error.answer.reason_code, message: error.answer.message };
  const message = error instanceof Error ? error.message : String(error);
  return classifySystemError(error) ?? { code: "internal_error", message };
}

export function retryOf(code: ReasonCode): Retry {
  const { retry = "never" }: Reason = reasons[code];
  return retry;
}

/** Runs a use case; its refusals and system errors become its answer. */
export async function answered(work: () => Promise<Answer>): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Refusal) return error.answer;
    const trouble = classifySystemError(error);
    if (trouble === null) throw error;
    return reply(trouble.code, { message: trouble.message, remediation: [trouble.hint] });
  }
}
