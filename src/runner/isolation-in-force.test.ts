import { expect, test } from "vitest";
import { detachedProcessGap } from "../workspace/isolation/confinement.ts";
import { combineIsolation } from "./isolation-in-force.ts";

const box = {
  level: "bwrap",
  mechanism: "bubblewrap",
  enforced: ["processes end with the runner"],
  not_enforced: ["reads"],
} as const;
const clone = {
  level: "clone",
  mechanism: "clone",
  enforced: [],
  not_enforced: ["reads", detachedProcessGap],
} as const;
const groups = { inForce: ["nothing of a command outlives it (cgroup v2)"], missing: [] };
const plain = { inForce: [], missing: [detachedProcessGap] };

test("what the box or the limits hold is not told as open, and what neither holds is told once", () => {
  expect(combineIsolation(clone, groups)).toMatchObject({
    enforced: groups.inForce,
    not_enforced: ["reads"],
  });

  expect(combineIsolation(box, plain)).toMatchObject({
    enforced: box.enforced,
    not_enforced: ["reads"],
  });

  expect(combineIsolation(clone, plain).not_enforced).toEqual(["reads", detachedProcessGap]);
});
