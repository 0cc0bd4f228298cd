// otlp: writes spans as OTLP/JSON. Their ids follow from the run's id, so that sending a run twice
// sends the same ids.

import { attributeNames } from "./otel-names.ts";
import { type Attributes, runSpanKey, type Span } from "./spans.ts";

/** The first bytes of a SHA-256, in hex. */
export type HashPrefix = (text: string, bytes: number) => string;
/** The run that the spans belong to, and what their ids are made from. */
export type TraceOrigin = {
  readonly run: string;
  readonly hash: HashPrefix;
  readonly resource: Attributes;
  readonly version: string;
  /** The caller's TRACEPARENT: the run is linked with it, and keeps its own trace. */
  readonly caller?: { readonly traceId: string; readonly spanId: string } | null;
};

export const getTraceId = ({ run, hash }: Pick<TraceOrigin, "run" | "hash">): string =>
  hash(`autopilot trace ${run}`, 16);
export const getSpanId = ({ run, hash }: Pick<TraceOrigin, "run" | "hash">, key: string): string =>
  hash(`autopilot span ${run} ${key}`, 8);

/** The W3C header for a child process, so that its spans join this trace. */
export const buildTraceparent = (origin: Pick<TraceOrigin, "run" | "hash">, key: string): string =>
  `00-${getTraceId(origin)}-${getSpanId(origin, key)}-01`;

/**
 * The ids of a `TRACEPARENT` such as `00-<32 hex digits>-<16 hex digits>-01`; null if the text
 * isn't one. An id of zeros is invalid.
 */
export function parseTraceparent(
  text: string | undefined,
): { readonly traceId: string; readonly spanId: string } | null {
  const [, traceId = "", spanId = ""] =
    /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}/.exec(text ?? "") ?? [];
  return /[1-9a-f]/.test(traceId) && /[1-9a-f]/.test(spanId) ? { traceId, spanId } : null;
}

/** The numbers that OTLP uses. */
const spanKinds = { internal: 1, client: 3 } as const;

/** The body of a POST to `/v1/traces`. */
export function buildOtlpBody(spans: readonly Span[], origin: TraceOrigin): object {
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
              kind: spanKinds[span.kind],
              startTimeUnixNano: toNanoseconds(span.startMs),
              endTimeUnixNano: toNanoseconds(span.endMs),
              attributes: encodeAttributes(
                span.error === null
                  ? span.attributes
                  : { ...span.attributes, [attributeNames.errorType]: span.error },
              ),
              ...(span.key === runSpanKey && hasCaller(origin) ? { links: [origin.caller] } : {}),
              status: span.error === null ? {} : { code: 2, message: span.error },
            })),
          },
        ],
      },
    ],
  };
}

const hasCaller = (origin: TraceOrigin): boolean =>
  origin.caller !== undefined && origin.caller !== null;

const toNanoseconds = (ms: number): string => `${Math.max(0, Math.round(ms))}000000`;

const encodeAttributes = (attributes: Attributes): readonly object[] =>
  Object.entries(attributes).map(([key, value]) => ({ key, value: encodeValue(value) }));

const encodeValue = (value: string | number | boolean): object => {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
};
