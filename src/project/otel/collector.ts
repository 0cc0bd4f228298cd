// collector: the destination of traces, by the OTEL_EXPORTER_OTLP_… variables and the user's config, and one bounded POST to it.
//
// Invariants:
//   C1. Nothing is sent unless the user asked for it: `otel.export`, which no repository can set, or the command that exports.
//   C2. A POST takes a bounded time, follows no redirect, and its outcome names no header.

import { hostname } from "node:os";
import { gzipSync } from "node:zlib";
import type { OtelSettings } from "../../contracts/config.ts";
import type { Attributes } from "../../views/outbound/spans.ts";

type Env = Readonly<Record<string, string | undefined>>;

export type Collector = {
  readonly url: string;
  /** Its URL without possible secrets. */
  readonly origin: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly isGzipped: boolean;
  readonly isGenAi: boolean;
  readonly resource: Attributes;
};
export type Sent =
  | { readonly kind: "sent"; readonly rejected: number }
  /** `refused`: sending it again would change nothing. */
  | { readonly kind: "failed" | "refused"; readonly detail: string };

const usual = "http://localhost:4318";
const timeoutMsUsual = 10_000;
const timeoutMsMax = 60_000;
const answerCharsMax = 64 * 1024;

export function collectorOf(env: Env, settings: OtelSettings = {}, asked?: string): Collector | { readonly problem: string } {
  const said = (name: string): string | undefined =>
    blank(env[`OTEL_EXPORTER_OTLP_TRACES_${name}`]) ?? blank(env[`OTEL_EXPORTER_OTLP_${name}`]);
  const protocol = said("PROTOCOL");
  if (protocol === "grpc") return { problem: "OTEL_EXPORTER_OTLP_PROTOCOL is grpc; traces are sent as http/json, usually to port 4318" };
  const whole = asked === undefined ? blank(env["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"]) : undefined; // as it is; the others are a base
  const address =
    whole ?? `${(asked ?? blank(env["OTEL_EXPORTER_OTLP_ENDPOINT"]) ?? settings.endpoint ?? usual).replace(/\/+$/, "")}/v1/traces`;
  const url = parseUrl(address);
  if (url === null) return { problem: "the collector's address must begin with http:// or https://" };
  const timeout = Number(said("TIMEOUT"));
  return {
    url: url.href,
    origin: url.origin,
    headers: Object.fromEntries(textPairs(said("HEADERS"))),
    timeoutMs: timeout > 0 ? Math.min(timeout, timeoutMsMax) : timeoutMsUsual,
    isGzipped: said("COMPRESSION") === "gzip",
    isGenAi: settings.genai !== "off",
    resource: {
      "service.name": "autopilot",
      "host.name": hostname(),
      ...Object.fromEntries(textPairs(env["OTEL_RESOURCE_ATTRIBUTES"])),
      ...(blank(env["OTEL_SERVICE_NAME"]) === undefined ? {} : { "service.name": env["OTEL_SERVICE_NAME"] ?? "" }),
    },
  };
}

export async function postTraces(collector: Collector, body: object, signal?: AbortSignal): Promise<Sent> {
  const text = JSON.stringify(body);
  const late = AbortSignal.timeout(collector.timeoutMs);
  try {
    const response = await fetch(collector.url, {
      method: "POST",
      redirect: "manual", // C2
      signal: signal === undefined ? late : AbortSignal.any([late, signal]),
      headers: { ...collector.headers, "content-type": "application/json", ...(collector.isGzipped ? { "content-encoding": "gzip" } : {}) },
      body: collector.isGzipped ? new Uint8Array(gzipSync(text)) : text,
    });
    if (response.ok) return { kind: "sent", rejected: rejectedIn((await response.text()).slice(0, answerCharsMax)) };
    await response.body?.cancel();
    const isPassing = [429, 502, 503, 504].includes(response.status);
    return { kind: isPassing ? "failed" : "refused", detail: `HTTP ${response.status}` };
  } catch (error) {
    if (error instanceof Error && (error.name === "TimeoutError" || error.name === "AbortError"))
      return { kind: "failed", detail: "no answer in time" };
    const cause: unknown = error instanceof Error ? error.cause : undefined;
    const code = typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined;
    return { kind: "failed", detail: typeof code === "string" && code !== "ECONNREFUSED" ? code : "cannot be reached" };
  }
}

/** A collector may accept some spans and reject others; it says how many. */
function rejectedIn(text: string): number {
  try {
    const { partialSuccess } = JSON.parse(text) as { readonly partialSuccess?: { readonly rejectedSpans?: string | number } };
    return Number(partialSuccess?.rejectedSpans ?? 0) || 0;
  } catch {
    return 0; // an empty answer means that all were accepted
  }
}

const blank = (text: string | undefined): string | undefined => (text === undefined || text.trim() === "" ? undefined : text.trim());

function parseUrl(text: string): URL | null {
  try {
    const url = new URL(text);
    return url.protocol === "http:" || url.protocol === "https:" ? url : null;
  } catch {
    return null;
  }
}

/** `name=value,name=value`, percent-encoded; anything else is skipped, as the specification says. */
function textPairs(text: string | undefined): readonly (readonly [string, string])[] {
  return (text ?? "").split(",").flatMap((pair) => {
    const index = pair.indexOf("=");
    const name = pair.slice(0, Math.max(0, index)).trim();
    try {
      return name === "" ? [] : [[name, decodeURIComponent(pair.slice(index + 1).trim())] as const];
    } catch {
      return [];
    }
  });
}
