// A dirty checkout fails preflight before anything is paid for.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventsOf } from "../support/autopilot.ts";
import { scratch } from "../support/scratch-repository.ts";
import { projectOf, turnsFor, walk } from "./roadmaps.ts";

test("uncommitted changes fail the phase at once, named, and no turn is bought", async () => {
  const folder = scratch({ files: { ...projectOf([{ id: "1" }]), "mine.txt": "mine\n" } });
  writeFileSync(join(folder, "mine.txt"), "changed\n");
  const { code, json } = await walk(folder, ["1"], turnsFor(["1"]));
  expect({ code, result: json.result, reason: json.reason_code }).toEqual({
    code: 1,
    result: "FAIL",
    reason: "phase_failed",
  });

  expect(json.message).toContain("checkout_dirty");
  expect(eventsOf(folder, "step_failed")).toMatchObject([
    { reason_code: "checkout_dirty", detail: expect.stringContaining("mine.txt") as string },
  ]);

  expect(eventsOf(folder, "turn_ended")).toEqual([]);
});
