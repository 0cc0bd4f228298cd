import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import type { JsonObject } from "../turn/untrusted-json.ts";
import { wireLimits } from "../turn/turn-limits.ts";
import { openWire } from "./wire.ts";

function open(limits = wireLimits) {
  const from = new PassThrough();
  const to = new PassThrough();
  const updates: JsonObject[] = [];

  const wire = openWire(
    from,
    to,
    { update: (params) => updates.push(params), life: () => undefined },
    limits,
  );

  return { from, to, updates, wire, reader: wire.stream.readable.getReader() };
}
const line = (message: object): string => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`;

test("lines cut anywhere are put together, and updates are handed over before the answer that follows them", async () => {
  const { from, updates, wire, reader } = open();
  const writer = wire.stream.writable.getWriter();
  await writer.write({ jsonrpc: "2.0", id: 1, method: "session/prompt" });
  const text =
    line({ method: "session/update", params: { update: "é" } }) + line({ id: 1, result: {} });
  for (const byte of Buffer.from(text)) from.write(Buffer.from([byte]));
  const { value } = await reader.read();
  expect(value).toMatchObject({ id: 1, result: {} });
  expect(updates).toEqual([{ update: "é" }]);
});

test("an answer nobody waits for, a notification nobody knows and what is no message do not get through", async () => {
  const { from, wire, reader } = open();
  from.write(
    line({ id: 99, result: {} }) +
      line({ method: "whatever" }) +
      "Hello!\n\n{ broken\n[1]\n" +
      line({ id: "q", method: "ask" }),
  );

  expect((await reader.read()).value).toMatchObject({ id: "q" });
  expect(wire.garbage()).toEqual({ lines: 3, bytes: 6 + 8 + 3 });
});

test("the wire ends with the agent's output", async () => {
  const { from, wire, reader } = open();
  from.end();
  await wire.ended;
  expect((await reader.read()).done).toBe(true);
});

test.each([
  ["a line that is too long", { lineBytesMax: 100 }, "x".repeat(101), "line longer"],
  [
    "a line that is too long and ends",
    { lineBytesMax: 100 },
    `${"x".repeat(101)}\n`,
    "line longer",
  ],
  ["too much garbage", { garbageBytesMax: 100 }, "xxxxxxxxx\n".repeat(12), "flooded its output"],
  [
    "too much of everything",
    { allBytesMax: 100 },
    line({ id: 1, method: "m" }).repeat(9),
    "in one turn",
  ],
  [
    "too many requests",
    { requestsMax: 3 },
    line({ id: 1, method: "m" }).repeat(4),
    "more than 3 requests",
  ],
])("%s breaks it", async (_, limit, text, sentence) => {
  const { from, wire } = open({ ...wireLimits, ...limit });
  from.write(text);
  expect(await wire.broken).toContain(sentence);
  expect(from.destroyed).toBe(true);
});
