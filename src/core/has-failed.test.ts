// A run that failed goes on only if a person says so; the answer to what it asks about a failure is
// such a word.

import { expect, test } from "vitest";
import type { Flow } from "../contracts/flow.ts";
import { begun, type Tape, turnEnded, usage } from "../../test/simulation/support/tape.ts";
import { hasFailed } from "./selectors.ts";

const proof = [{ file: "a.md", non_empty: true }];
const work = { id: "work", agent: "worker", prompt: "w.md", proof };
const flow = (step: object): Flow =>
  ({ flow: "tried", version: 1, phases: [{ id: "1", steps: [step] }] }) as unknown as Flow;
const asks = { ...work, otherwise: [{ ask: { A: "retry", C: "stop" }, pause: "phase_failed" }] };

/** Everything goes as far as it can; every turn fails. */
function rested(tape: Tape): Tape {
  while (tape.run.status === "running") {
    const { next } = tape;
    if (next.do === "read") {
      tape.append({ event: "phases_read", phases: ["1", "2"].map((id) => ({ id, after: [] })) });
    } else if (next.do === "record") {
      tape.append(next.event);
    } else if (next.do === "attempt") {
      const { attempt } = next.event;
      const fault = {
        event: "step_failed",
        attempt,
        facts: {},
        fingerprint: "f",
        reason_code: "proof_missing",
      } as const;
      tape.append(next.event, turnEnded(attempt, usage(1)), fault);
    } else {
      throw new Error(JSON.stringify(next));
    }
  }

  return tape;
}
function failed(tape: Tape): Tape {
  expect(rested(tape).run).toMatchObject({ status: "paused", reason: "phase_failed" });
  return tape;
}
const answer = (tape: Tape): Tape =>
  tape.append({
    event: "block_answered",
    request: `a${tape.entries.length}`,
    block: Object.keys(tape.run.blocks)[0] ?? "",
    answer: "A",
    actor: "operator:ann",
  });

test("a phase that failed: the run has", () => {
  expect(hasFailed(failed(begun(flow(work))).run)).toBe(true);
});

test("a step that failed, of which a person is asked: the question holds the run, and once it is answered somebody has said so", () => {
  const tape = failed(begun(flow(asks)));
  expect(hasFailed(tape.run)).toBe(false);
  expect(hasFailed(answer(tape).run)).toBe(false);
  tape.append({ event: "run_resumed", request: "r", from_state: "paused", to_state: "running" });
  expect(tape.run.decided).toBeUndefined();
});

test("an answer to something else says nothing about the failure", () => {
  const gate = {
    id: "gate",
    human: { question: "Is it good?", options: { A: "yes", B: "no" }, meanwhile: "go_on" },
  } as const;

  const tape = rested(
    begun({ flow: "tried", version: 1, phases: { read: "listing" }, steps: [gate, work] }),
  );
  expect(Object.keys(tape.run.blocks)).toHaveLength(2);
  failed(
    answer(tape).append({
      event: "run_resumed",
      request: "r",
      from_state: "paused",
      to_state: "running",
    }),
  );

  expect(Object.keys(tape.run.blocks)).toHaveLength(1);
  expect(hasFailed(tape.run)).toBe(true);
  expect(hasFailed(answer(tape).run)).toBe(true);
});
