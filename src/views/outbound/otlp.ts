// otlp: spans as OTLP/JSON, with ids that follow from the run's own.

import { names } from "./otel-names.ts";
import { type Attributes, runKey, type Span } from "./spans.ts";

/** The first bytes of a SHA-256, in hex. */
export type HashOf = (text: string, bytes: number) => string;
/** The run that the spans are of, and what its ids are made with. */
export type Origin = {
  readonly run: string;
  readonly hash: HashOf;
  readonly resource: Attributes;
  readonly version: string;
  /** The caller's TRACEPARENT: the run is linked with it, and keeps its own trace. */
  readonly caller?: { readonly traceId: string; readonly spanId: string } | null;
};

export const getTraceId = ({ run, hash }: Pick<Origin, "run" | "hash">): string => hash(`autopilot trace ${run}`, 16);
export const getSpanId = ({ run, hash }: Pick<Origin, "run" | "hash">, key: string): string => hash(`autopilot span ${run} ${key}`, 8);

/** The W3C header for a child process, so that its spans join this trace. */
export const buildTraceparent = (origin: Pick<Origin, "run" | "hash">, key: string): string =>
  `00-${getTraceId(origin)}-${getSpanId(origin, key)}-01`;

/** The ids of a `TRACEPARENT`; null if it is none. */
export function parseTraceparent(text: string | undefined): { readonly traceId: string; readonly spanId: string } | null {
  const [, traceId = "", spanId = ""] = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}/.exec(text ?? "") ?? [];
  return /[1-9a-f]/.test(traceId) && /[1-9a-f]/.test(spanId) ? { traceId, spanId } : null;
}

const kinds = { internal: 1, client: 3 } as const;

/** The body of a POST to `/v1/traces`. */
export function otlpBody(spans: readonly Span[], origin: Origin): object {
  const traceId = getTraceId(origin);
  return {
    resourceSpans: [
      {
        resource: { attributes: encodeAttributes(origin.resource) },
        scopeSpans: [
          {
            scope: { name: "autopilot", version: origin.version },
            spans: spans.map((span) => ({
              traceId,
              spanId: getSpanId(origin, span.key),
              ...(span.parent === null ? {} : { parentSpanId: getSpanId(origin, span.parent) }),
              name: span.name,
              kind: kinds[span.kind],
              startTimeUnixNano: nanos(span.startMs),
              endTimeUnixNano: nanos(span.endMs),
              attributes: encodeAttributes(span.error === null ? span.attributes : { ...span.attributes, [names.errorType]: span.error }),
              ...(span.key === runKey && hasCaller(origin) ? { links: [origin.caller] } : {}),
              status: span.error === null ? {} : { code: 2, message: span.error },
            })),
          },
        ],
      },
    ],
  };
}

const hasCaller = (origin: Origin): boolean => origin.caller !== undefined && origin.caller !== null;

const nanos = (ms: number): string => `${Math.max(0, Math.round(ms))}000000`;

const encodeAttributes = (attributes: Attributes): readonly object[] =>
  Object.entries(attributes).map(([key, value]) => ({ key, value: encodeValue(value) }));

const encodeValue = (value: string | number | boolean): object => {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
};
