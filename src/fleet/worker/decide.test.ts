// What a worker does next: every combination of what it knows.

import { expect, test } from "vitest";
import { decideNextStep, type WorkerView } from "./decide.ts";

const all: readonly WorkerView[] = [true, false].flatMap((isSure) =>
  [null, "lost"].flatMap((lost) =>
    [true, false].flatMap((isDraining) =>
      [0, 1, 2].flatMap((active) =>
        [1, 2].map((jobs) => ({ isSure, lost, isDraining, active: Math.min(active, jobs), jobs })),
      ),
    ),
  ),
);

test("a worker takes only while it is sure of its lease, has room and is not told to end", () => {
  for (const view of all) {
    const isFree = view.isSure && view.lost === null && !view.isDraining && view.active < view.jobs;
    expect(decideNextStep(view).do === "take", JSON.stringify(view)).toBe(isFree);
  }
});

test("it leaves when it drains or is lost, and never before what it works on has ended", () => {
  for (const view of all) {
    const isOver = (view.lost !== null || view.isDraining) && view.active === 0;
    const step = decideNextStep(view);
    expect(step.do === "leave", JSON.stringify(view)).toBe(isOver);
    if (step.do === "leave") expect(step.why).toBe(view.lost);
  }
});
