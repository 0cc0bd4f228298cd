import { describe, expect, test } from "vitest";
import {
  findHighDeferRate,
  findRubberStamp,
  findUnnecessaryDeferral,
  findStateWarnings,
} from "./warnings.ts";
import { phase, stateOf } from "../../../insight/roadmap-records.test-support.ts";

describe("warnings", () => {
  test("three equal scores in a row may have been given without looking; two, or three apart, not", () => {
    expect(findRubberStamp([8, 8])).toBeNull();
    expect(findRubberStamp([8, 7, 8, 8])).toBeNull();
    expect(findRubberStamp([7, 8, null, 8, 8])).toMatchObject({ code: "rubber_stamp" });
  });

  test.each([
    [2, 2, true],
    [1, 2, false],
    [0, 0, false],
  ])("%d of %d auto tasks passed: unnecessary %j", (autoPassed, autoTotal, isReported) =>
    expect(findUnnecessaryDeferral({ phase: "1", autoPassed, autoTotal }) !== null).toBe(
      isReported,
    ),
  );

  test.each([
    [1, 1, false],
    [1, 2, false],
    [2, 3, true],
    [2, 2, true],
  ])("%d of %d deferred: too many %j", (deferred, processed, isReported) =>
    expect(findHighDeferRate(deferred, processed) !== null).toBe(isReported),
  );

  test("a state gives rise to all of them", () => {
    const why = {
      checkpoint_task_id: "h",
      task_description: "look",
      auto_tasks_passed: 1,
      auto_tasks_total: 1,
    };

    const state = stateOf({
      1: phase({ human_verify_justification: why }),
      2: phase({}),
      3: phase({}),
    });
    state._meta = { ...state._meta, human_deferred_count: 2, total_phases_processed: 3 };
    expect(findStateWarnings(state).map(({ code }) => code)).toEqual([
      "rubber_stamp",
      "unnecessary_deferral",
      "high_defer_rate",
    ]);
  });
});
