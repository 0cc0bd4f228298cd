// retry-at: finds when a provider that refused a call says it will answer again.

import { formatIsoTime } from "../kit/iso-time.ts";
import type { IncomingHttpHeaders } from "node:http";
import { asRecord } from "./dialects.ts";

/** A time further off than this is a mistake. */
const daysMax = 35;
const dayMs = 86_400_000;
/** A larger number is a time since 1970, in milliseconds or in seconds; a smaller one is a span. */
const epochMsMin = 1e12;
const epochSecondsMin = 1e9;

/**
 * ISO 8601 in UTC, or null if not stated. The latest counts: before that, some limit still refuses.
 */
export function findRetryAt(
  headers: IncomingHttpHeaders,
  body: unknown,
  nowMs: number,
): string | null {
  const explicit = [...findRetryAfter(headers, nowMs), ...findTimesInBody(body, nowMs)];
  const times = explicit.length > 0 ? explicit : findLimitResets(headers, nowMs);
  // A time in the past is one that has just passed, or the provider's clock is ahead or behind.
  const plausible = times.filter(
    (ms) => Number.isFinite(ms) && ms > nowMs - dayMs && ms < nowMs + daysMax * dayMs,
  );

  return plausible.length === 0 ? null : formatIsoTime(Math.round(Math.max(...plausible)));
}

/** The headers `retry-after-ms` and `retry-after`. All times here are milliseconds since 1970. */
function findRetryAfter(headers: IncomingHttpHeaders, nowMs: number): number[] {
  const ms = Number(headers["retry-after-ms"] ?? Number.NaN);
  if (ms >= 0) return [nowMs + ms];
  const text = headers["retry-after"];
  if (text === undefined) return [];

  return [/^\d+(?:\.\d+)?$/.test(text.trim()) ? nowMs + Number(text) * 1000 : Date.parse(text)];
}

/**
 * `anthropic-ratelimit-…-reset`, `x-ratelimit-reset-…`, `x-ratelimit-reset`: of the windows that
 * are used up, or of all if none says so.
 */
function findLimitResets(headers: IncomingHttpHeaders, nowMs: number): number[] {
  const resets: { readonly timeMs: number; readonly isUsedUp: boolean }[] = [];
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value !== "string") continue;
    const anthropic = /^(anthropic-ratelimit-.+)-reset$/.exec(name)?.[1];
    const openai = /^x-ratelimit-reset(-.+)?$/.exec(name);
    if (anthropic === undefined && openai === null) continue;

    const remaining =
      headers[
        anthropic === undefined
          ? `x-ratelimit-remaining${openai?.[1] ?? ""}`
          : `${anthropic}-remaining`
      ];
    const isUsedUp = remaining === "0" || headers[`${anthropic ?? ""}-status`] === "rejected";
    resets.push({ timeMs: parseTime(value, nowMs), isUsedUp });
  }

  const usedUp = resets.filter(({ isUsedUp }) => isUsedUp);
  return (usedUp.length > 0 ? usedUp : resets).map(({ timeMs }) => timeMs);
}

/**
 * A date, seconds or milliseconds since 1970, a number of seconds, or a span such as `6m0s` or
 * `20ms`.
 */
function parseTime(text: string, nowMs: number): number {
  if (/^\d+(?:\.\d+)?$/.test(text)) {
    const value = Number(text);
    if (value > epochMsMin) return value;
    return value > epochSecondsMin ? value * 1000 : nowMs + value * 1000;
  }

  return nowMs + parseSpan(text) || Date.parse(text); // NaN if it is no span
}

const unitMs: Readonly<Record<string, number>> = {
  d: dayMs,
  h: 3_600_000,
  m: 60_000,
  s: 1000,
  ms: 1,
};

/** Milliseconds; NaN if the text is no span. */
function parseSpan(text: string): number {
  if (!/^(?:\d+(?:\.\d+)?(?:ms|[dhms]))+$/.test(text)) return Number.NaN;
  let sum = 0;

  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|[dhms])/g)) {
    sum += Number(amount) * (unitMs[unit ?? ""] ?? 0);
  }

  return sum;
}

/** Google's RetryInfo, and what OpenAI says of a plan's limit. */
function findTimesInBody(body: unknown, nowMs: number): number[] {
  const first: unknown = Array.isArray(body) ? body[0] : body;
  const error = asRecord(asRecord(first)["error"]);
  const details: readonly unknown[] = Array.isArray(error["details"]) ? error["details"] : [];
  const delays = details.flatMap((detail) => {
    const delay = asRecord(detail)["retryDelay"];
    return typeof delay === "string" ? [nowMs + parseSpan(delay)] : [];
  });

  const resetsAt = error["resets_at"];
  const inSeconds = error["resets_in_seconds"];
  return [
    ...delays,
    ...(typeof resetsAt === "number" ? [parseTime(String(resetsAt), nowMs)] : []),
    ...(typeof resetsAt !== "number" && typeof inSeconds === "number"
      ? [nowMs + inSeconds * 1000]
      : []),
  ];
}
