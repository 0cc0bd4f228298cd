// When a provider says it will answer again, in each of the ways they say it.

import { expect, test } from "vitest";
import { findRetryAt } from "./retry-at.ts";

const now = Date.UTC(2026, 0, 1, 0, 0, 0);
const at = (seconds: number): string => new Date(now + seconds * 1000).toISOString();

test.each([
  ["seconds", { "retry-after": "30" }, null, at(30)],
  ["a date", { "retry-after": "Thu, 01 Jan 2026 00:01:00 GMT" }, null, at(60)],
  ["milliseconds", { "retry-after-ms": "1500" }, null, at(1.5)],
  [
    "Anthropic's window that is used up",
    {
      "anthropic-ratelimit-requests-remaining": "5",
      "anthropic-ratelimit-requests-reset": "2026-01-01T01:00:00Z",
      "anthropic-ratelimit-tokens-remaining": "0",
      "anthropic-ratelimit-tokens-reset": "2026-01-01T00:00:20Z",
    },
    null,
    at(20),
  ],
  [
    "Anthropic's plan",
    {
      "anthropic-ratelimit-unified-reset": String(now / 1000 + 3600),
      "anthropic-ratelimit-unified-status": "rejected",
    },
    null,
    at(3600),
  ],
  [
    "OpenAI's spans",
    { "x-ratelimit-reset-requests": "1s", "x-ratelimit-reset-tokens": "6m0s" },
    null,
    at(360),
  ],
  ["OpenAI's short span", { "x-ratelimit-reset-requests": "20ms" }, null, at(0.02)],
  ["milliseconds since 1970", { "x-ratelimit-reset": String(now + 5000) }, null, at(5)],
  [
    "Google's RetryInfo",
    {},
    { error: { details: [{ "@type": "x", retryDelay: "34.5s" }] } },
    at(34.5),
  ],
  ["Google's RetryInfo in a list", {}, [{ error: { details: [{ retryDelay: "34s" }] } }], at(34)],
  [
    "a plan's limit at OpenAI",
    {},
    { error: { type: "usage_limit_reached", resets_in_seconds: 7200 } },
    at(7200),
  ],
  [
    "a plan's limit at OpenAI, as a time",
    {},
    { error: { resets_at: now / 1000 + 60, resets_in_seconds: 1 } },
    at(60),
  ],
  ["nothing", {}, null, null],
  ["nonsense", { "retry-after": "soon", "x-ratelimit-reset": "later" }, { error: "x" }, null],
  ["a year", { "retry-after": "31536000" }, null, null],
] as const)("%s", (_, headers, body, expected) => {
  expect(findRetryAt({ ...headers }, body, now)).toBe(expected);
});
