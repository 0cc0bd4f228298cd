import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { collectError, describeError } from "./describe-error.ts";
import { errorBytesMax, errorCharsMax } from "./limits.ts";

const key = "sk-real-0123456789";

test("an error is one line: its kind and its message, without the key", () => {
  const error = { type: "authentication_error", message: `no\nsuch key: ${key}` };
  expect(describeError({ type: "error", error }, key)).toBe(
    "authentication_error: no such key: [key]",
  );

  expect(
    describeError([{ error: { code: 429, status: "RESOURCE_EXHAUSTED", message: "later" } }], key),
  ).toBe("RESOURCE_EXHAUSTED: later");

  expect(describeError("<html>", key, 503)).toBe("HTTP 503");
});

test("a key at the place where the line is cut leaves no part of itself", () => {
  const message = `${"x".repeat(errorCharsMax - 5)}${key}`;
  expect(describeError({ error: { message } }, key)).not.toContain("sk-");
});

test("a key at the place where a long error is cut leaves no part of itself", async () => {
  const chunks = [
    Buffer.from(`${"x".repeat(errorBytesMax - 10)}${key.slice(0, 10)}`),
    Buffer.from(key.slice(10)),
  ];
  const incoming = Object.assign(Readable.from(chunks), {
    headers: {},
  }) as unknown as IncomingMessage;
  expect((await collectError(incoming, key)).text).toBe("x".repeat(errorBytesMax - 10));
});
