import { expect, test } from "vitest";
import { eventNames } from "../contracts/event.ts";
import { isGrant, isRefusedGrant } from "./grants.ts";

test("the events that grant authority are these and no others", () => {
  expect(eventNames.filter((event) => isGrant({ event })).sort()).toEqual(
    [
      "block_answered",
      "limit_raised",
      "oracles_approved",
      "policy_changed",
      "preview_acknowledged",
      "pull_request_intended",
      "pull_request_taken_up",
      "run_adopted",
      "run_forked",
      "run_resumed",
      "run_started",
      "tests_held",
    ].sort(),
  );

  expect([
    isGrant({ event: "control_requested", control: "stop" }),
    isGrant({ event: "control_requested", control: "pause" }),
  ]).toEqual([true, false]);
});

test.each([
  ["agent:claude", true],
  ["agent:operator:me", true],
  ["operator:me", false],
  ["operator:agent:me", false],
  ["system", false],
  [undefined, false],
] as const)("an answer by %s is refused: %s", (actor, refused) => {
  expect(
    isRefusedGrant({ event: "block_answered", ...(actor === undefined ? {} : { actor }) }),
  ).toBe(refused);
});
