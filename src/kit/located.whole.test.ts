import { expect, test } from "vitest";
import { expectLinear } from "../../test/support/linear.ts";
import { parseLocated } from "./located.ts";

test("10,000 keys are compared in one pass", async () => {
  const read = (keys: number): void => {
    const text = Array.from({ length: keys }, (_, n) => `k${n}: 1`).join("\n");
    expect(parseLocated("a.yaml", text)).toHaveProperty("value");
  };
  await expectLinear(10_000, read);
});
