import { expect, test } from "vitest";
import type { RunView } from "../core/state.ts";
import { findLastError } from "./breaker-view.ts";

const withCause = (
  cause: { readonly reason: string; readonly detail: string } | undefined,
  last_error: string | null = "x: y",
): RunView =>
  ({ breaker: { last_error, ...(cause === undefined ? {} : { cause }) } }) as unknown as RunView;

test("the last error is a sentence, whatever was recorded", () => {
  const long = "a very long line ".repeat(100);
  for (const reason of ["agent_failed", "criterion_failed", "rounds_spent"]) {
    for (const detail of ["", "npm test: failed (exit 1)", "It broke.", "two\nlines\n", long]) {
      const text = findLastError(withCause({ reason, detail })) ?? "";
      expect(text).toMatch(/^[A-Z][^\n]*\.$/);
      expect(text).not.toMatch(/\.\.$|: \.$/);
      expect(text.length).toBeLessThan(700);
    }
  }

  expect(
    findLastError(withCause({ reason: "agent_failed", detail: "claude ended with exit 1" })),
  ).toContain("claude ended with exit 1");

  expect(findLastError(withCause(undefined, null))).toBeNull();
});
