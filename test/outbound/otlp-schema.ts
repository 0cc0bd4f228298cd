// otlp-schema: what a collector takes as OTLP/JSON traces, field by field, after
// opentelemetry-proto 1.x (trace.proto, common.proto) and the rules of its JSON mapping: ids in
// lower-case hex, 64-bit numbers as decimal text, enums as numbers, no unknown key.

import * as v from "valibot";

const Decimal = v.pipe(v.string(), v.regex(/^\d{1,20}$/));
const TraceId = v.pipe(v.string(), v.regex(/^(?!0+$)[0-9a-f]{32}$/));
const SpanId = v.pipe(v.string(), v.regex(/^(?!0+$)[0-9a-f]{16}$/));
const AnyValue = v.union([
  v.strictObject({ stringValue: v.string() }),
  v.strictObject({ boolValue: v.boolean() }),
  v.strictObject({ intValue: v.pipe(v.string(), v.regex(/^-?\d{1,19}$/)) }),
  v.strictObject({ doubleValue: v.number() }),
]);
const Attributes = v.pipe(
  v.array(v.strictObject({ key: v.pipe(v.string(), v.minLength(1)), value: AnyValue })),
  v.check((list) => new Set(list.map(({ key }) => key)).size === list.length, "keys are unique"),
);
const Span = v.pipe(
  v.strictObject({
    traceId: TraceId,
    spanId: SpanId,
    parentSpanId: v.optional(SpanId),
    name: v.pipe(v.string(), v.minLength(1)),
    kind: v.picklist([1, 2, 3, 4, 5]),
    startTimeUnixNano: Decimal,
    endTimeUnixNano: Decimal,
    attributes: Attributes,
    links: v.optional(v.array(v.strictObject({ traceId: TraceId, spanId: SpanId }))),
    status: v.strictObject({
      code: v.optional(v.picklist([0, 1, 2])),
      message: v.optional(v.string()),
    }),
  }),
  v.check(
    ({ startTimeUnixNano: start, endTimeUnixNano: end }) => BigInt(start) <= BigInt(end),
    "a span ends after it began",
  ),
);
export type Span = v.InferOutput<typeof Span>;

export const TracesBody = v.strictObject({
  resourceSpans: v.array(
    v.strictObject({
      resource: v.strictObject({ attributes: Attributes }),
      scopeSpans: v.array(
        v.strictObject({
          scope: v.strictObject({ name: v.string(), version: v.string() }),
          spans: v.array(Span),
        }),
      ),
    }),
  ),
});

export const spansIn = (body: string): readonly Span[] =>
  v
    .parse(TracesBody, JSON.parse(body))
    .resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));

export const attributesOf = ({
  attributes,
}: Pick<Span, "attributes">): Readonly<Record<string, unknown>> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
