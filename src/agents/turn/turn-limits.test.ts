import { expect, test } from "vitest";
import { sweepTimeoutMs } from "../process/end-tree.ts";
import { turnLimits } from "./turn-limits.ts";

// pause --now and stop have two seconds. How long a machine takes is not judged here; how long an
// agent is waited for is.
test("an agent that will not go is waited for less than a second, all graces together", () => {
  const { cancelGraceMs, turnTermGraceMs: termGraceMs, drainMs } = turnLimits;
  expect(cancelGraceMs + termGraceMs + drainMs).toBeLessThan(1_000);
  expect(cancelGraceMs + termGraceMs + drainMs + sweepTimeoutMs).toBeLessThan(2_000);
});
