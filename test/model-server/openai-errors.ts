// openai-errors: how OpenAI refuses, on both of its APIs.

import type { JsonObject } from "./json.ts";
import type { Refusal } from "./script.ts";
import type { Refused } from "./vendor.ts";

const errors: Readonly<
  Record<number, readonly [type: string, code: string | null, message: string]>
> = {
  400: ["invalid_request_error", null, "Invalid request, as scripted."],
  401: [
    "invalid_request_error",
    "invalid_api_key",
    "Incorrect API key provided. You can find your API key at your account page.",
  ],
  403: [
    "invalid_request_error",
    "unsupported_country_region_territory",
    "Not allowed, as scripted.",
  ],
  404: [
    "invalid_request_error",
    "model_not_found",
    "The model does not exist or you do not have access to it.",
  ],
  429: ["requests", "rate_limit_exceeded", "Rate limit reached for requests per min (RPM)."],
  500: [
    "server_error",
    null,
    "The server had an error while processing your request. Sorry about that!",
  ],
  503: [
    "server_error",
    "service_unavailable",
    "The engine is currently overloaded, please try again later",
  ],
};

export function openaiError(refusal: Refusal, nowMs: number): JsonObject {
  const { status, retryAfterS, limit } = refusal;
  if (status === 429 && limit === "usage") {
    const resetsAt = Math.ceil(nowMs / 1000) + retryAfterS;
    return {
      type: "usage_limit_reached",
      code: "usage_limit_reached",
      message: "The usage limit has been reached",
      param: null,
      plan_type: "plus",
      resets_at: resetsAt,
      resets_in_seconds: retryAfterS,
    };
  }

  const [type, code, message] = errors[status] ?? [
    "server_error",
    null,
    `scripted refusal ${status}`,
  ];

  const advice = status === 429 ? ` Please try again in ${durationOf(retryAfterS)}.` : "";
  return { message: `${message}${advice}`, type, param: null, code };
}

export function openaiRefused(refusal: Refusal, nowMs: number): Refused {
  const { status, retryAfterS } = refusal;
  const reset = durationOf(retryAfterS);

  const limits = {
    "retry-after": String(retryAfterS),
    "retry-after-ms": String(retryAfterS * 1000),
    "x-ratelimit-limit-requests": "60",
    "x-ratelimit-limit-tokens": "150000",
    "x-ratelimit-remaining-requests": "0",
    "x-ratelimit-remaining-tokens": "0",
    "x-ratelimit-reset-requests": reset,
    "x-ratelimit-reset-tokens": reset,
  };

  return {
    headers: { "x-request-id": `req_${nowMs.toString(36)}`, ...(status === 429 ? limits : {}) },
    body: { error: openaiError(refusal, nowMs) },
  };
}

/** As OpenAI writes it: 1h2m3s. */
function durationOf(seconds: number): string {
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return `${hours > 0 ? `${hours}h` : ""}${hours > 0 || minutes > 0 ? `${minutes}m` : ""}${seconds % 60}s`;
}
