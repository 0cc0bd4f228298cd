import { expect, test } from "vitest";
import type { RunView } from "../../core/state.ts";
import { pauseDetail } from "./pause-detail.ts";

const unsure = (more: object): RunView =>
  ({
    reason: "confidence_drop_requires_handoff",
    detail: null,
    cursors: {
      "1": {
        last: { execute: { says: { confidence: 0.3 } }, review: { says: {} }, pick: { says: {} } },
      },
    },
    drafted: { options: { confidence_floor: 0.6 }, objective: { risk_level: "medium" } },
    ...more,
  }) as unknown as RunView;

test("doubt is told with its figures: how sure the agent was, and how sure it had to be", () => {
  expect(pauseDetail(unsure({}))).toBe(
    "the agent is too unsure for this risk level: confidence of execute 0.3; risk level medium needs 0.6",
  );
});

test("what was recorded comes first, and without figures the reason says it all", () => {
  expect(pauseDetail(unsure({ detail: "the judge broke down" }))).toBe("the judge broke down");
  expect(pauseDetail(unsure({ cursors: {} }))).toBeNull();
  expect(pauseDetail(unsure({ reason: "operator_paused" }))).toBeNull();
});
