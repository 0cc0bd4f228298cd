// What a worker does next: every combination of what it knows.

import { expect, test } from "vitest";
import { decideNextStep, type WorkerView } from "./decide.ts";

const all: readonly WorkerView[] = [true, false].flatMap((isSure) =>
  [null, "lost"].flatMap((lostBecause) =>
    [true, false].flatMap((isDraining) =>
      [0, 1, 2].flatMap((active) =>
        [1, 2].map((jobsMax) => ({
          isSure,
          lostBecause,
          isDraining,
          activeJobs: Math.min(active, jobsMax),
          jobsMax,
        })),
      ),
    ),
  ),
);

test("a worker takes only while it is sure of its lease, has room and is not told to end", () => {
  for (const view of all) {
    const isFree =
      view.isSure &&
      view.lostBecause === null &&
      !view.isDraining &&
      view.activeJobs < view.jobsMax;
    expect(decideNextStep(view).do === "take", JSON.stringify(view)).toBe(isFree);
  }
});

test("it leaves when it drains or is lost, and never before what it works on has ended", () => {
  for (const view of all) {
    const isOver = (view.lostBecause !== null || view.isDraining) && view.activeJobs === 0;
    const step = decideNextStep(view);
    expect(step.do === "leave", JSON.stringify(view)).toBe(isOver);
    if (step.do === "leave") expect(step.why).toBe(view.lostBecause);
  }
});
