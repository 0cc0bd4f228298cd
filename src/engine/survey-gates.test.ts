import { expect, test } from "vitest";
import type { Gate } from "../contracts/flow.ts";
import { withoutFreshness, withoutCommands } from "./survey-gates.ts";

test("freshness is not asked of what is only found, however deep it is asked", () => {
  const gate: Gate = {
    if: { file: "a", fresh: true },
    all: [{ file: "b", fresh: true, min_lines: 2 }, "named"],
    else: [{ any: "c*", fresh: true }],
  };
  expect(withoutFreshness(gate)).toEqual({
    if: { file: "a" },
    all: [{ file: "b", min_lines: 2 }, "named"],
    else: [{ any: "c*" }],
  });
});

test("to find out where one stands, nothing is executed: commands are left out, and a rule that hangs on one with them", () => {
  expect(withoutCommands({ file: "a", non_empty: true })).toEqual({ file: "a", non_empty: true });
  expect(withoutCommands({ command: "make" })).toBeNull();
  expect(
    withoutCommands({ if: { file: "a" }, all: [{ command: "make" }, { file: "b" }, "named"] }),
  ).toEqual({
    if: { file: "a" },
    all: [{ file: "b" }],
  });

  expect(withoutCommands({ if: { command: "make" }, all: [{ file: "b" }] })).toBeNull();
});
