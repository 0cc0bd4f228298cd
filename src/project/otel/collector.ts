// collector: resolves where traces are sent, from the OTEL_EXPORTER_OTLP_… variables and the user's
// config, and sends them in one POST.
//
// Invariants:
//   C1. Nothing is sent unless the user asked for it: `otel.export`, which no repository can set,
//       or the command that exports.
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
  /** Whether spans carry the attributes of the GenAI conventions. */
  readonly isGenAi: boolean;
  readonly resource: Attributes;
};
export type PostResult =
  | { readonly kind: "sent"; readonly rejected: number }
  /** `refused`: sending it again would change nothing. */
  | { readonly kind: "failed" | "refused"; readonly detail: string };

const defaultEndpoint = "http://localhost:4318";
const timeoutMsDefault = 10_000;
const timeoutMsMax = 60_000;
const answerCharsMax = 64 * 1024;

/**
 * The collector to send to, or why there is none. `endpoint`: the address given with the command,
 * before every other.
 */
export function resolveCollector(
  env: Env,
  settings: OtelSettings = {},
  endpoint?: string,
): Collector | { readonly problem: string } {
  const variable = (name: string): string | undefined =>
    nonBlank(env[`OTEL_EXPORTER_OTLP_TRACES_${name}`]) ??
    nonBlank(env[`OTEL_EXPORTER_OTLP_${name}`]);
  const protocol = variable("PROTOCOL");
  if (protocol === "grpc") {
    return {
      problem:
        "OTEL_EXPORTER_OTLP_PROTOCOL is grpc; traces are sent as http/json, usually to port 4318",
    };
  }

  // The traces' own endpoint is used as it is; every other one is a base, which the path is added
  // to.
  const tracesEndpoint =
    endpoint === undefined ? nonBlank(env["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"]) : undefined;
  const base =
    endpoint ??
    nonBlank(env["OTEL_EXPORTER_OTLP_ENDPOINT"]) ??
    settings.endpoint ??
    defaultEndpoint;

  const url = parseUrl(tracesEndpoint ?? `${base.replace(/\/+$/, "")}/v1/traces`);
  if (url === null) {
    return { problem: "the collector's address must begin with http:// or https://" };
  }

  const timeout = Number(variable("TIMEOUT"));
  const attributes = Object.fromEntries(parsePairs(env["OTEL_RESOURCE_ATTRIBUTES"]));
  const serviceName =
    nonBlank(env["OTEL_SERVICE_NAME"]) ?? attributes["service.name"] ?? "autopilot";

  return {
    url: url.href,
    origin: url.origin,
    headers: Object.fromEntries(parsePairs(variable("HEADERS"))),
    timeoutMs: timeout > 0 ? Math.min(timeout, timeoutMsMax) : timeoutMsDefault,
    isGzipped: variable("COMPRESSION") === "gzip",
    isGenAi: settings.genai !== "off",
    resource: { "host.name": hostname(), ...attributes, "service.name": serviceName },
  };
}

export async function postTraces(
  collector: Collector,
  body: object,
  signal?: AbortSignal,
): Promise<PostResult> {
  const text = JSON.stringify(body);
  const encoding: Record<string, string> = collector.isGzipped
    ? { "content-encoding": "gzip" }
    : {};

  const timeout = AbortSignal.timeout(collector.timeoutMs);
  try {
    const response = await fetch(collector.url, {
      method: "POST",
      redirect: "manual", // C2
      signal: signal === undefined ? timeout : AbortSignal.any([timeout, signal]),
      headers: { ...collector.headers, "content-type": "application/json", ...encoding },
      body: collector.isGzipped ? new Uint8Array(gzipSync(text)) : text,
    });
    if (response.ok) {
      return {
        kind: "sent",
        rejected: countRejected((await response.text()).slice(0, answerCharsMax)),
      };
    }

    await response.body?.cancel();
    const isTemporary = [429, 502, 503, 504].includes(response.status);
    return { kind: isTemporary ? "failed" : "refused", detail: `HTTP ${response.status}` };
  } catch (error) {
    if (error instanceof Error && (error.name === "TimeoutError" || error.name === "AbortError")) {
      return { kind: "failed", detail: "no answer in time" };
    }

    const cause: unknown = error instanceof Error ? error.cause : undefined;
    const code =
      typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined;
    return {
      kind: "failed",
      detail: typeof code === "string" && code !== "ECONNREFUSED" ? code : "cannot be reached",
    };
  }
}

/** A collector may accept some spans and reject others; it says how many. */
function countRejected(text: string): number {
  try {
    const { partialSuccess } = JSON.parse(text) as {
      readonly partialSuccess?: { readonly rejectedSpans?: string | number };
    };
    return Number(partialSuccess?.rejectedSpans ?? 0) || 0;
  } catch {
    return 0; // an empty answer means that all were accepted
  }
}

const nonBlank = (text: string | undefined): string | undefined =>
  text === undefined || text.trim() === "" ? undefined : text.trim();

function parseUrl(text: string): URL | null {
  try {
    const url = new URL(text);
    return url.protocol === "http:" || url.protocol === "https:" ? url : null;
  } catch {
    return null;
  }
}

/**
 * `name=value,name=value`, percent-encoded; anything else is skipped, as the specification says.
 */
function parsePairs(text: string | undefined): readonly (readonly [string, string])[] {
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
