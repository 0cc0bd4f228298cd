// What follows from a person's answer is that person's doing, and a step that somebody skipped
// leaves a gap.

import { expect, test } from "vitest";
import type { Draft } from "../contracts/event.ts";
import type { Flow } from "../contracts/flow.ts";
import { begun, type Tape, turnEnded, usage } from "../../test/simulation/support/tape.ts";
import { computeVerdict, gatesGap } from "./verdict.ts";

const ask = { A: "retry", B: "skip", C: "stop" };
const flow: Flow = {
  flow: "tried",
  version: 1,
  phases: [
    {
      id: "1",
      steps: [
        {
          id: "agree",
          human: { question: "Go on?", options: { A: "yes", B: "no" } },
          then: [{ when: { "agree.answer": "B" }, stop: "operator_stopped" }],
        },
        {
          id: "work",
          agent: "worker",
          prompt: "w.md",
          proof: [{ file: "a.md", non_empty: true }],
          otherwise: [{ ask, pause: "phase_failed" }],
        },
        { id: "more", agent: "worker", prompt: "w.md", proof: [{ file: "b.md", non_empty: true }] },
      ],
    },
  ],
};

const settled = (tape: Tape): Tape => {
  while (tape.next.do === "record" && tape.run.status === "running") tape.append(tape.next.event);
  return tape;
};
const answered = (tape: Tape, answer: string): Tape => {
  const [block = ""] = Object.keys(tape.run.blocks);
  if (tape.run.status === "paused") {
    tape.append({
      event: "run_resumed",
      request: `r${tape.entries.length}`,
      from_state: "paused",
      to_state: "running",
    });
  }

  tape.append({
    event: "block_answered",
    request: `a${tape.entries.length}`,
    block,
    answer,
    actor: "operator:ann",
  });

  return settled(tape);
};
const turned = (tape: Tape, end: "passed" | "failed"): Tape => {
  const { next } = tape;
  if (next.do !== "attempt") throw new Error(JSON.stringify(next));
  const { attempt } = next.event;

  const over: Draft =
    end === "passed"
      ? { event: "step_completed", attempt, facts: {} }
      : {
          event: "step_failed",
          attempt,
          facts: {},
          fingerprint: "f",
          reason_code: "proof_missing",
        };
  return settled(tape.append(next.event, turnEnded(attempt, usage(1)), over));
};

test("who says no stops the run, and not the system", () => {
  const tape = answered(settled(begun(flow)), "B");
  expect(tape.entries.at(-1)).toMatchObject({
    event: "run_stopped",
    reason_code: "operator_stopped",
    actor: "operator:ann",
  });
});

test("who stops a run after a failed step is named", () => {
  const tape = answered(turned(answered(settled(begun(flow)), "A"), "failed"), "C");
  expect(tape.entries.at(-1)).toMatchObject({ event: "run_stopped", actor: "operator:ann" });
});

test("a step that a person skips is a gap", () => {
  const tape = turned(
    answered(turned(answered(settled(begun(flow)), "A"), "failed"), "B"),
    "passed",
  );
  expect(tape.entries.find(({ event }) => event === "step_skipped")).toMatchObject({
    actor: "operator:ann",
  });

  expect(computeVerdict(tape.run)).toEqual({
    verdict: "verified_with_gaps",
    gaps: [gatesGap, "step work of 1 was skipped"],
  });
});

test("an optional phase that is skipped is a gap", () => {
  const skip = {
    id: "more",
    human: { question: "Do it?", options: { A: "yes", B: "no" } },
    then: [{ end: "completed", because: "optional_skipped" }],
  };

  const work = {
    id: "work",
    agent: "worker",
    prompt: "w.md",
    proof: [{ file: "a.md", non_empty: true }],
  };

  const optional = {
    flow: "tried",
    version: 1,
    phases: [
      { id: "1", steps: [work] },
      { id: "2", name: "Audit", optional: true, steps: [skip] },
    ],
  } as Flow;
  const tape = answered(turned(settled(begun(optional)), "passed"), "B");
  expect(tape.run).toMatchObject({
    status: "completed",
    verdict: "verified_with_gaps",
    gaps: [gatesGap, "phase 2 (Audit) was skipped"],
  });
});
