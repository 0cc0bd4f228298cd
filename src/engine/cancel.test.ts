import { expect, test } from "vitest";
import { Cancel, withSignal } from "./cancel.ts";

test("an execution that is called off says so, and its signal too, whenever it is asked for", () => {
  const early = new Cancel();
  const { signal } = early;
  expect([early.isCancelled, signal.aborted]).toEqual([false, false]);
  early.abort("operator");
  early.abort("shutdown");
  expect([early.isCancelled, signal.aborted, signal.reason]).toEqual([true, true, "operator"]);
  const late = new Cancel();
  late.abort("operator");
  late.abort("shutdown");
  expect([late.signal.aborted, late.signal.reason]).toEqual([true, "operator"]);
});

test("an order bears its signal like any other property, also in a copy", () => {
  const cancel = new Cancel();
  const request = withSignal({ prompt: "p" }, cancel);
  const copy = { ...request };
  expect(request.cancel).toBe(cancel.signal);
  expect(copy.cancel).toBe(cancel.signal);
  expect(Object.keys(request)).toEqual(["prompt", "cancel"]);
  cancel.abort("operator");
  expect(copy.cancel.aborted).toBe(true);
});
