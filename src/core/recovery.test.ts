import { describe, expect, test } from "vitest";
import type { CrashState } from "../contracts/crash-state.ts";
import { crashStates, recoveryRows, findRecoveryRow, listMatchingRows } from "./recovery.ts";

function everyDoubt(): readonly CrashState[] {
  let all: Record<string, unknown>[] = [{}];
  for (const [key, values] of Object.entries(crashStates)) {
    all = all.flatMap((doubt) => values.map((value) => ({ ...doubt, [key]: value })));
  }

  return all as CrashState[];
}

test("there are 360 doubts, and each meets exactly one row", () => {
  const all = everyDoubt();
  expect(all).toHaveLength(360);
  expect(all.filter((doubt) => listMatchingRows(doubt).length !== 1)).toEqual([]);
});

test("no row is there for nothing, and each says why", () => {
  const met = new Set(everyDoubt().map((doubt) => findRecoveryRow(doubt)));
  expect(met.size).toBe(recoveryRows.length);
  expect(recoveryRows.every(({ why }) => why.length > 10)).toBe(true);
});

describe("what they mean", () => {
  const doubt: CrashState = {
    kind: "agent",
    stage: "started",
    layer: "dirty",
    done: false,
    proof: false,
    often: false,
  };

  const cases: readonly [string, Partial<CrashState>, string][] = [
    ["half-done work is set aside and played again", {}, "repeat"],
    ["complete artifacts close it", { proof: true }, "close"],
    ["a paid turn with its layer is applied", { stage: "turned", layer: "intact" }, "continue"],
    [
      "a paid turn whose layer is gone is played again",
      { stage: "turned", layer: "absent" },
      "repeat",
    ],
    [
      "a commit that is there is written down",
      { stage: "turned", layer: "absent", done: true },
      "continue",
    ],
    ["applied work is only proved", { stage: "applied", layer: "absent" }, "continue"],
    ["what takes the runner down is asked about", { often: true, stage: "applied" }, "ask"],
    ["an effect found in the world is not made twice", { kind: "run", done: true }, "continue"],
    ["a child run goes on from its own journal", { kind: "flow" }, "continue"],
  ];
  for (const [name, more, remedy] of cases) {
    test(name, () => expect(findRecoveryRow({ ...doubt, ...more }).remedy).toBe(remedy));
  }
});
