import { expect, test } from "vitest";
import { eventNames } from "./event.ts";

// What other tools that read such logs look for. What they call a halt is here a pause or a stop,
// which are distinguished.
const shared =
  "run_started run_completed run_resumed phase_started phase_completed phase_failed phase_skipped step_started step_completed step_failed task_completed task_failed circuit_breaker_opened circuit_breaker_closed";

test("an event that has a name elsewhere bears that name", () => {
  expect(
    shared.split(" ").filter((name) => !(eventNames as readonly string[]).includes(name)),
  ).toEqual([]);
});
