// provider-fault: finds out whether the model provider failed, and how, from the meter's calls, the
// agent's errors and its text. Pure.
//
// Invariants:
//   F1. The meter outweighs all text: the last call failed and none succeeded after it.
//   F2. A call the meter itself cut or refused says nothing about the provider.
//   F3. The text of an answer is a sign only if the agent reported no usage, and only its end: it
//       may be about limits and errors.

import type { ProviderFault } from "../../contracts/event.ts";
import type { ModelCall } from "../../ports/meter.ts";
import type { FailureProbe } from "../profiles/profile.ts";
import {
  asNonNegativeNumber,
  asArray,
  type JsonObject,
  asRecord,
  asString,
} from "./untrusted-json.ts";
import { wholeHead, wholeTail } from "../../kit/whole-words.ts";

/** A fault, its message, and when to try again, if that is known. */
export type Fault = {
  readonly fault: ProviderFault;
  readonly message: string;
  readonly retryAt: string | null;
};

const messageCharsMax = 600;
const answerTailChars = 4000;

/** The Agent Client Protocol's error for "log in first". */
const authRequiredCode = -32000;

/** The kind of fault that an HTTP status means; null: no answer at all. */
export function classifyStatus(status: number | null): ProviderFault {
  if (status === 429 || status === 402) return "limit";
  if (status === 401 || status === 403 || status === 407) return "access";
  if (status === null || status >= 500 || status === 408 || status < 400) return "service";

  return "request";
}

/**
 * The last call, if it failed, and whether another model answered before; null if the last call was
 * good.
 */
export function findFailingCall(
  calls: readonly ModelCall[],
): { readonly call: ModelCall; readonly hasOther: boolean } | null {
  const completedCalls = calls.filter(({ ended }) => ended === "whole" || ended === "broken"); // F2
  const lastCall = completedCalls.at(-1);
  if (lastCall === undefined || isGood(lastCall)) return null; // F1

  return {
    call: lastCall,
    hasOther: completedCalls.some((call) => isGood(call) && call.model !== lastCall.model),
  };
}

/** A stream that broke off after a good beginning isn't an answer. */
const isGood = ({ ended, status }: ModelCall): boolean =>
  ended === "whole" && status !== null && status < 400;

/** The fault of a call that failed. */
export function classifyCall({ status, error, retryAt, model }: ModelCall): Fault {
  const modelNote = model === "" ? "" : ` (${model})`;
  const errorNote = error === null ? "" : `: ${error}`;
  const wording = `the model provider ${describeCallEnd(status)}${modelNote}${errorNote}`;
  const isLimit = (status === null || status < 400) && error !== null && limitPattern.test(error);

  return {
    fault: isLimit ? "limit" : classifyStatus(status),
    message: wholeHead(wording, messageCharsMax),
    retryAt,
  };
}

function describeCallEnd(status: number | null): string {
  if (status === null) return "did not answer";
  return status < 400 ? "broke off its answer" : `answered ${status}`;
}

/** Whether it was the agent that closed the connection, according to the meter's error text. */
export const hasHungUp = ({ ended, status, error }: ModelCall): boolean =>
  ended === "broken" &&
  status !== null &&
  status < 400 &&
  error !== null &&
  /\bagent went away\b/.test(error);

export type AgentError = {
  readonly code: number;
  readonly message: string;
  readonly data: unknown;
};

/**
 * The fault behind an error that the agent answered with; null if the error isn't the provider's.
 */
export function classifyError({ code, message, data }: AgentError): Fault | null {
  const fields = asRecord(data);
  const kind = [fields["errorKind"], fields["errorName"], fields["type"], fields["code"]]
    .flatMap((value) => asString(value) ?? [])
    .join(" ");

  const details =
    asString(fields["details"]) ?? asString(fields["message"]) ?? asString(data) ?? "";
  const wording = wholeHead(`${message}${details === "" ? "" : ` (${details})`}`, messageCharsMax);
  const createFault = (fault: ProviderFault): Fault => ({ fault, message: wording, retryAt: null });

  if (
    code === authRequiredCode ||
    /auth\w*_(?:required|error|failed)|^authentication/i.test(kind)
  ) {
    return createFault("access");
  }

  const status =
    code >= 400 && code < 600
      ? code
      : (asNonNegativeNumber(fields["statusCode"]) ??
        asNonNegativeNumber(fields["status"]) ??
        findStatus(wording));

  if (limitKindPattern.test(kind) || limitPattern.test(wording)) return createFault("limit");
  if (serviceKindPattern.test(kind) || servicePattern.test(wording)) return createFault("service");
  if (status !== null && status >= 400) return createFault(classifyStatus(status));
  if (accessPattern.test(wording)) return createFault("access");

  return /^APIError$/.test(kind) || requestPattern.test(wording) ? createFault("request") : null;
}

/** Names that agents give errors of the provider: `rate_limit_error`, `overloaded_error`. */
const limitKindPattern = /rate_?limit|usage_?limit|quota/i;
const serviceKindPattern = /overloaded|server_error|unavailable/i;
/**
 * Words of such errors: `You exceeded your current quota`, `529 overloaded`, `invalid_api_key`,
 * `invalid_request_error`.
 */
const limitPattern =
  /\brate.?limit|too many requests|usage limit|hit your limit|quota (?:was |is )?exceeded|exceeded (?:your |the )?(?:current )?quota/i;
const servicePattern =
  /\boverloaded\b|service unavailable|bad gateway|gateway time-?out|ECONNREFUSED|ECONNRESET|fetch failed/i;

const accessPattern = /\bauthentication_error\b|\binvalid_api_key\b|\bUNAUTHENTICATED\b/;
const requestPattern = /\binvalid_request_error\b|\bINVALID_ARGUMENT\b/;

/** `API Error: 429 …`, `last status: 503`, `HTTP 400`. */
function findStatus(wording: string): number | null {
  const status = /\b(?:error|status(?: code)?|HTTP(?:\/\d(?:\.\d)?)?)\W{0,3}([45]\d{2})\b/i.exec(
    wording,
  )?.[1];
  return status === undefined ? null : Number(status);
}

type ProbedTexts = {
  readonly answer: string;
  readonly metas: readonly JsonObject[];
  readonly stderr: string;
  readonly usage: unknown;
};

/**
 * The fault of the first probe that matches. A status in the matching text narrows the kind of
 * fault.
 */
export function findProbedFault(
  probes: readonly FailureProbe[],
  observed: ProbedTexts,
): Fault | null {
  for (const probe of probes) {
    const { where, pattern, fault } = probe;
    const texts = selectProbedTexts(probe, observed);
    const match = texts.find((text) =>
      new RegExp(pattern.source, pattern.flags.replace("g", "")).test(text),
    );
    if (match === undefined) continue;
    const wording = wholeTail(
      (where === "meta" ? cutTail(observed.answer) : match).trim(),
      messageCharsMax,
    );
    const status = findStatus(wording);

    return {
      fault: status === null ? fault : classifyStatus(status),
      message: wording,
      retryAt: null,
    };
  }

  return null;
}

/** The texts that a probe looks at. F3 */
function selectProbedTexts(
  { where, path = "" }: FailureProbe,
  observed: ProbedTexts,
): readonly string[] {
  if (where === "stderr") return [observed.stderr];
  if (where === "meta") return observed.metas.flatMap((meta) => readTextAtPath(meta, path));
  return observed.usage === null ? [findLastParagraph(observed.answer)] : [];
}

const cutTail = (text: string): string => wholeTail(text, answerTailChars);
const findLastParagraph = (text: string): string =>
  cutTail(text)
    .trim()
    .split(/\n[^\S\n]*\n/)
    .at(-1) ?? "";

/** The text or number at a path such as `_meta.codex.threadStatus.type`; empty if there is none. */
function readTextAtPath(object: JsonObject, path: string): readonly string[] {
  let value: unknown = object;
  for (const name of path.split(".")) {
    value = Array.isArray(value) ? asArray(value)[Number(name)] : asRecord(value)[name];
  }

  return typeof value === "string" || typeof value === "number" ? [String(value)] : [];
}
