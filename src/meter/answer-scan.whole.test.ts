// What a provider says of its figures is understood in all four languages, wherever the bytes are
// cut.

import { describe, expect, test } from "vitest";
import { openAnswerScan } from "./answer-scan.ts";
import { openUsageCounter } from "./call-usage.ts";
import { dialects } from "./dialects.ts";
import { openEventScan } from "./event-scan.ts";
import { openJsonScan } from "./json-scan.ts";
import { eventBytesMax } from "./limits.ts";
import { samples } from "./samples.test-support.ts";

function heard(
  api: (typeof samples)[number]["api"],
  kind: "json" | "events",
  chunks: readonly Buffer[],
) {
  const usageCounter = openUsageCounter(0, null);
  usageCounter.send();
  const scan = openAnswerScan(api, kind, usageCounter);
  for (const chunk of chunks) scan.feed(chunk);
  if (kind === "json") usageCounter.finish();
  const { input, output, cached, tokens } = usageCounter.usage();

  return { input, output, cached, tokens, hasEnded: scan.hasEnded(), error: scan.error() };
}

const crlf = (text: string): string => text.replaceAll("\n", "\r\n");

describe.each(samples)("$api", ({ api, events, whole, used, textBytes }) => {
  const expected = { ...used, tokens: used.input + used.output, hasEnded: true, error: null };
  test("a stream cut in two at every byte has the same figures", () => {
    for (const text of [events, crlf(events)]) {
      const bytes = Buffer.from(text);
      for (let index = 0; index <= bytes.length; index++) {
        expect(heard(api, "events", [bytes.subarray(0, index), bytes.subarray(index)])).toEqual(
          expected,
        );
      }
    }
  });

  test("a stream that comes byte by byte has the same figures", () => {
    expect(
      heard(
        api,
        "events",
        [...Buffer.from(events)].map((byte) => Buffer.from([byte])),
      ),
    ).toEqual(expected);
  });

  test("an answer in one piece has the same figures, cut anywhere", () => {
    const bytes = Buffer.from(whole);
    for (let index = 0; index <= bytes.length; index++) {
      expect(heard(api, "json", [bytes.subarray(0, index), bytes.subarray(index)])).toMatchObject({
        ...used,
        error: null,
      });
    }
  });

  test("of a stream exactly the text counts as text, cut anywhere", () => {
    const bytes = Buffer.from(events);
    for (let index = 0; index <= bytes.length; index += 7) {
      const scan = openEventScan({ ...dialects[api], marks: ["usage"], onEvent: () => {} });
      scan.feed(bytes.subarray(0, index));
      scan.feed(bytes.subarray(index));
      expect(scan.textBytes()).toBe(textBytes);
    }
  });
});

describe("errors in the midst of a stream", () => {
  test.each([
    [
      "anthropic",
      'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n',
      "Overloaded",
    ],
    [
      "openai-responses",
      'data: {"type":"response.failed","response":{"error":{"code":"server_error","message":"gone"}}}\n\n',
      "gone",
    ],
    [
      "openai-responses",
      'data: {"type":"error","code":"server_error","message":"gone"}\n\n',
      "gone",
    ],
    ["openai-chat", 'data: {"error":{"message":"gone","type":"server_error"}}\n\n', "gone"],
    ["gemini", 'data: {"error":{"code":503,"message":"gone","status":"UNAVAILABLE"}}\n\n', "gone"],
  ] as const)("%s tells one", (api, text, message) => {
    expect(heard(api, "events", [Buffer.from(text)]).error).toMatchObject({ message });
  });
});

test("data in several lines, comments and other fields are read as the format says", () => {
  const text =
    ': a "comment" {\nid: {"\nevent: x\ndata: {"usage":\ndata: {"prompt_tokens":3,\ndata: "completion_tokens":4}}\n\n';
  expect(heard("openai-chat", "events", [Buffer.from(text)])).toMatchObject({
    input: 3,
    output: 4,
  });
});

test("figures inside a choice count, as Moonshot sends them", () => {
  const text =
    'data: {"choices":[{"delta":{},"finish_reason":"stop","usage":{"prompt_tokens":3,"completion_tokens":4,"cached_tokens":2}}]}\n\n';
  expect(heard("openai-chat", "events", [Buffer.from(text)])).toMatchObject({
    input: 3,
    output: 4,
    cached: 2,
  });
});

test("an event that breaks off does not spoil the next", () => {
  const text =
    'data: {"choices":[{"delta":{"content":"abc\n\ndata: {"usage":{"prompt_tokens":3,"completion_tokens":4}}\n\n';
  expect(heard("openai-chat", "events", [Buffer.from(text)])).toMatchObject({
    input: 3,
    output: 4,
  });
});

test("nothing is kept of a value without end", () => {
  const scan = openJsonScan({
    values: [["usage"]],
    texts: [],
    onValue: () => expect.unreachable(),
  });
  scan.feed(Buffer.from('{"usage":{"a":"'));
  for (let index = 0; index < 100; index++) scan.feed(Buffer.alloc(10_000, "x"));
  scan.feed(Buffer.from('"}}'));
  expect(scan.bytes()).toBe(1_000_018);
});

test("an object a thousand deep leaves the way back in order", () => {
  const found: string[] = [];
  const scan = openJsonScan({
    values: [["model"]],
    texts: [],
    onValue: (_, text) => found.push(text),
  });
  scan.feed(Buffer.from(`{"a":${'{"model":'.repeat(1000)}1${"}".repeat(1000)},"model":"m"}`));
  expect(found).toEqual(['"m"']);
});

test("an event without end is not kept for ever, and counts as text while it grows", () => {
  const heard: unknown[] = [];
  const scan = openEventScan({
    texts: ["text"],
    marks: ["usage"],
    isSumSoFar: false,
    onEvent: (event) => heard.push(event),
  });

  const piece = Buffer.alloc(1024 * 1024, "x");
  scan.feed(Buffer.from('data: {"text":"'));

  for (let fed = 0; fed <= 2 * eventBytesMax; fed += piece.length) {
    scan.feed(piece);
    expect(scan.textBytes()).toBeGreaterThan(fed);
  }

  scan.feed(Buffer.from('"}\n\ndata: {"usage":{"a":1}}\n\n'));
  expect(heard).toEqual([{ usage: { a: 1 } }]);
});
