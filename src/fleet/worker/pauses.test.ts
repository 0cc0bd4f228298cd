// How long a worker leaves alone what it had to give back.

import { expect, test } from "vitest";
import type { OrderEnd } from "../../ports/dispatch.ts";
import { OrderPauses } from "./pauses.ts";

const trouble: OrderEnd = {
  kind: "again",
  afterMs: 5_000,
  because: "the hub is another one",
  isTrouble: true,
};

test("an order that a worker could not do anything with is left alone for twice as long each time, five minutes at most", () => {
  const pauses = new OrderPauses();
  const seconds = [];
  let nowMs = 0;

  for (let time = 0; time < 9; time++) {
    pauses.note("a", trouble, nowMs);
    const begunMs = nowMs;
    while (pauses.listPaused(nowMs).includes("a")) nowMs += 1_000;
    seconds.push((nowMs - begunMs) / 1_000);
  }

  expect(seconds).toEqual([5, 10, 20, 40, 80, 160, 300, 300, 300]);
});

test("each order has a pause of its own, and one that went well begins anew", () => {
  const pauses = new OrderPauses();
  for (const id of ["a", "a", "b"]) pauses.note(id, trouble, 0);
  expect([pauses.listPaused(0), pauses.listPaused(7_000), pauses.listPaused(10_000)]).toEqual([
    ["a", "b"],
    ["a"],
    [],
  ]);

  pauses.note("a", { kind: "again", afterMs: 0, because: "handed back" }, 0);
  expect(pauses.listPaused(0)).toEqual(["b"]);
  pauses.note("a", trouble, 0);
  expect(pauses.listPaused(6_000)).toEqual([]);
});

test("only so many are remembered: the one noted longest ago is forgotten", () => {
  const pauses = new OrderPauses();
  for (let order = 0; order < 1_001; order++) pauses.note(`${order}`, trouble, 0);
  const known = pauses.listPaused(0);
  expect([known.length, known[0], known.at(-1)]).toEqual([1_000, "1", "1000"]);
});
