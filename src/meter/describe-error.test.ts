import { expect, test } from "vitest";
import { describeError } from "./describe-error.ts";
import { errorCharsMax } from "./limits.ts";

const key = "sk-real-0123456789";

test("an error is one line: its kind and its message, without the key", () => {
  const error = { type: "authentication_error", message: `no\nsuch key: ${key}` };
  expect(describeError({ type: "error", error }, key)).toBe("authentication_error: no such key: [key]");
  expect(describeError([{ error: { code: 429, status: "RESOURCE_EXHAUSTED", message: "later" } }], key)).toBe("RESOURCE_EXHAUSTED: later");
  expect(describeError("<html>", key, 503)).toBe("HTTP 503");
});

test("a key at the place where the line is cut leaves no part of itself", () => {
  const message = `${"x".repeat(errorCharsMax - 5)}${key}`;
  expect(describeError({ error: { message } }, key)).not.toContain("sk-");
});
