import { describe, expect, test } from "vitest";
import type { Draft } from "../contracts/event.ts";
import { begun, opened, runDrafted } from "../../test/simulation/support/tape.ts";
import {
  flow,
  phase,
  began,
  turned,
  applied,
  passed,
  planned,
} from "../../test/simulation/support/words.ts";

describe("an event that does not fit is corruption, and names the rule", () => {
  const cases: readonly [string, readonly Draft[], string][] = [
    ["two attempts at one cursor", [phase, began("plan", 1, "run"), began("plan", 1, "run")], "F2"],
    ["an ordinal out of turn", [phase, began("plan", 2, "run")], "F1"],
    ["a step of another kind", [phase, began("plan", 1, "agent")], "F1"],
    ["a step that is not there", [phase, began("nowhere", 1, "run")], "F1"],
    ["an end without a beginning", [phase, passed("plan", 1)], "F1"],
    [
      "an agent that passes without a turn",
      [...planned, began("work", 1, "agent"), passed("work", 1)],
      "F1",
    ],
    ["changes before a turn", [...planned, began("work", 1, "agent"), applied("work", 1)], "F1"],
    [
      "two turns of one attempt",
      [...planned, began("work", 1, "agent"), turned("work", 1), turned("work", 1)],
      "F1",
    ],
    ["a phase begun twice", [phase, phase], "F1"],
    ["a phase that is not there", [{ event: "phase_started", walk: "9" }], "F1"],
    [
      "one request twice",
      [
        { event: "control_requested", request: "r", control: "pause", now: false },
        { event: "control_requested", request: "r", control: "pause", now: false },
      ],
      "F1",
    ],
    [
      "an answer to no question",
      [{ event: "block_answered", request: "r", block: "block:x", answer: "A" }],
      "F1",
    ],
    [
      "a completion past an open phase",
      [
        phase,
        {
          event: "run_completed",
          from_state: "running",
          to_state: "completed",
          verdict: "verified",
          gaps: [],
        },
      ],
      "F1",
    ],
    ["an opening that is not newer", [opened(1)], "F1"],
    ["a second draft", [runDrafted(flow)], "F1"],
  ];
  for (const [name, drafts, rule] of cases) {
    test(name, () => expect(() => begun(flow).append(...drafts)).toThrow(rule));
  }
});
