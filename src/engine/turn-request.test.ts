import { expect, test } from "vitest";
import type { Step } from "../contracts/flow.ts";
import type { Outcome } from "../contracts/outcome.ts";
import { findSessionToContinue } from "./turn-request.ts";

const step: Step = { id: "judge", agent: "judge", prompt: "judge.md", continues: "blind" };
const blind: Outcome = {
  kind: "passed",
  facts: { session: "s1" },
  says: {},
  reason: null,
  detail: null,
  checks: [],
};
const broke: Outcome = { ...blind, kind: "failed", facts: {}, reason: "agent_failed" };

test("a step that continues another goes on in its session, and begins its own where there is none", () => {
  expect(findSessionToContinue({ seen: { blind }, streak: {} }, step)).toBe("s1");
  expect(
    findSessionToContinue({ seen: { blind: { ...blind, facts: {} } }, streak: {} }, step),
  ).toBeNull();

  expect(findSessionToContinue({ seen: {}, streak: {} }, step)).toBeNull();
  expect(
    findSessionToContinue(
      { seen: { blind }, streak: {} },
      { id: "judge", agent: "judge", prompt: "judge.md" },
    ),
  ).toBeNull();
});

test("an agent that broke over the session begins a new one at its next try; one that failed otherwise goes on in it", () => {
  expect(
    findSessionToContinue({ seen: { blind, judge: broke }, streak: { judge: 1 } }, step),
  ).toBeNull();

  expect(
    findSessionToContinue(
      { seen: { blind, judge: { ...broke, reason: "return_invalid" } }, streak: { judge: 1 } },
      step,
    ),
  ).toBe("s1");

  // An earlier round that broke says nothing about this one.
  expect(findSessionToContinue({ seen: { blind, judge: broke }, streak: { judge: 0 } }, step)).toBe(
    "s1",
  );
});
