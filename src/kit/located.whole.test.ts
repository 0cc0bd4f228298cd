import { expect, test } from "vitest";
import { parseLocated } from "./located.ts";

test("40,000 keys are compared in one pass", () => {
  const text = Array.from({ length: 40_000 }, (_, n) => `k${n}: 1`).join("\n");
  expect(parseLocated("a.yaml", text)).toHaveProperty("value");
});
