// What becomes of a run whose phases fail, or wait for a person: the others first, what comes after
// all of them once, then the pause.

import { describe, expect, test } from "vitest";
import type { Draft } from "../contracts/event.ts";
import type { Flow } from "../contracts/flow.ts";
import { begun, type Tape } from "../../test/simulation/support/tape.ts";

const flow: Flow = {
  flow: "tried",
  version: 1,
  when_phase_fails: [{ finish: "phase_failed" }],
  reopen: { failed_phase: 1 },
  phases: { read: "listing", order: "dependencies", needs: "completed" },
  steps: [
    { id: "work", run: "work" },
    {
      id: "ask",
      human: { question: "Good?", options: { yes: "it is", no: "it is not" }, meanwhile: "go_on" },
      only_if: { "work.odd": true },
      then: [{ when: { "ask.answer": "no" }, end: "failed", because: "rejected" }],
    },
  ],
  after: [
    { id: "whole", steps: [{ id: "sum", run: "sum" }] },
    { id: "report", steps: [{ id: "write", run: "write" }] },
  ],
};
const three = [
  { id: "1", after: [] },
  { id: "2", after: ["1"] },
  { id: "3", after: [] },
];

type Outcome = "passed" | "failed" | "odd";

/**
 * Lives on to the next rest; each attempt comes to what is said of it, all others pass. Gives what
 * happened to phases and run.
 */
function goOn(tape: Tape, outcomes: Readonly<Record<string, Outcome>> = {}): string[] {
  const reported: string[] = [];
  for (let n = 0; n < 500; n++) {
    const { next } = tape;
    if (next.do === "rest") return reported;

    const draft: Draft =
      next.do === "read"
        ? { event: "phases_read", phases: three }
        : "event" in next
          ? next.event
          : unexpected(next.do);
    tape.append(draft);

    if (
      "walk" in draft &&
      /^phase_(started|reopened|skipped|completed|failed)$/.test(draft.event)
    ) {
      reported.push(`${draft.event} ${draft.walk}`);
    }

    if (draft.event === "run_paused" || draft.event === "run_completed") reported.push(draft.event);
    if (next.do !== "attempt") continue;
    const { attempt } = next.event;
    const outcome = outcomes[attempt] ?? "passed";
    if (outcome === "failed") {
      tape.append({
        event: "step_failed",
        attempt,
        facts: {},
        fingerprint: attempt,
        reason_code: "tests_red",
      });
    } else {
      tape.append({
        event: "step_completed",
        attempt,
        facts: outcome === "odd" ? { odd: true } : {},
      });
    }
  }

  throw new Error("it does not rest");
}
function unexpected(what: string): never {
  throw new Error(`decide says ${what}`);
}
const resume = (tape: Tape): Tape =>
  tape.append({
    event: "run_resumed",
    request: `r${tape.entries.length}`,
    from_state: "paused",
    to_state: "running",
  });
const statusOf = (tape: Tape): Record<string, string> =>
  Object.fromEntries(tape.run.phases.map(({ id, status }) => [id, status]));

describe("a phase that fails where the flow says `finish`", () => {
  test("lets the others go first and what comes after all of them once, so that it sees the failure, and then pauses", () => {
    const tape = begun(flow);
    expect(goOn(tape, { "1@1/work#1": "failed" })).toEqual([
      "phase_started 1",
      "phase_failed 1",
      "phase_skipped 2",
      "phase_started 3",
      "phase_completed 3",
      "phase_started after.whole",
      "phase_completed after.whole",
      "phase_started after.report",
      "phase_completed after.report",
      "run_paused",
    ]);

    expect(tape.run).toMatchObject({
      status: "paused",
      reason: "phase_failed",
      detail: "phase 1: tests_red",
    });
  });

  test("is run again by an explicit resume, with what it held up, and then the last steps look once more", () => {
    const tape = begun(flow);
    goOn(tape, { "1@1/work#1": "failed" });
    expect(goOn(resume(tape))).toEqual([
      "phase_reopened 1",
      "phase_completed 1",
      "phase_started 2",
      "phase_completed 2",
      "phase_reopened after.whole",
      "phase_completed after.whole",
      "phase_reopened after.report",
      "phase_completed after.report",
      "run_completed",
    ]);

    expect(tape.refolded()).toEqual(tape.run);
  });

  test("is run again as often as the flow says; then no resume runs anything, and the run never completes", () => {
    const tape = begun(flow);
    goOn(tape, { "1@1/work#1": "failed" });
    expect(goOn(resume(tape), { "1@2/work#1": "failed" })).toEqual([
      "phase_reopened 1",
      "phase_failed 1",
      "phase_skipped 2",
      "phase_reopened after.whole",
      "phase_completed after.whole",
      "phase_reopened after.report",
      "phase_completed after.report",
      "run_paused",
    ]);

    for (let n = 0; n < 3; n++) expect(goOn(resume(tape))).toEqual(["run_paused"]);
    expect(statusOf(tape)).toMatchObject({ "1": "failed", "2": "skipped", "3": "completed" });
  });

  test("and another with it: both are shown in one pause, and one resume runs both again", () => {
    const tape = begun(flow);
    goOn(tape, { "1@1/work#1": "failed", "3@1/work#1": "failed" });
    expect(tape.run.detail).toBe("phase 1: tests_red; phase 3: tests_red");
    expect(goOn(resume(tape)).filter((reported) => reported.startsWith("phase_reopened"))).toEqual([
      "phase_reopened 1",
      "phase_reopened 3",
      "phase_reopened after.whole",
      "phase_reopened after.report",
    ]);

    expect(tape.run.status).toBe("completed");
  });

  test("may be one that comes after all others: those behind it are blocked, and a resume runs it again", () => {
    const tape = begun(flow);
    expect(goOn(tape, { "after.whole@1/sum#1": "failed" }).slice(-3)).toEqual([
      "phase_failed after.whole",
      "phase_skipped after.report",
      "run_paused",
    ]);

    expect(goOn(resume(tape))).toEqual([
      "phase_reopened after.whole",
      "phase_completed after.whole",
      "phase_started after.report",
      "phase_completed after.report",
      "run_completed",
    ]);
  });
});

test("a phase that fails where the flow says `pause` is shown at once", () => {
  const tape = begun({ ...flow, when_phase_fails: [{ pause: "phase_failed" }] });
  expect(goOn(tape, { "1@1/work#1": "failed" })).toEqual([
    "phase_started 1",
    "phase_failed 1",
    "run_paused",
  ]);
});

describe("a phase that waits for a person while the others go on", () => {
  const asked = (): Tape => {
    const tape = begun(flow);
    expect(goOn(tape, { "1@1/work#1": "odd" })).toEqual([
      "phase_started 1",
      "phase_started 3",
      "phase_completed 3",
      "run_paused",
    ]);

    return tape;
  };

  const answered = (tape: Tape, answer: string): Tape =>
    resume(
      tape.append({ event: "block_answered", request: "a", block: "block:1@1/ask#1", answer }),
    );

  test("holds up those that depend on it, and the run pauses before what comes after all of them", () => {
    const tape = asked();
    expect(tape.run).toMatchObject({ status: "paused", reason: "human_block_open" });
    expect(statusOf(tape)).toEqual({
      "1": "open",
      "2": "waiting",
      "3": "completed",
      "after.whole": "waiting",
      "after.report": "waiting",
    });

    expect(goOn(resume(tape))).toEqual(["run_paused"]); // nobody has answered
  });

  test("goes on once it is answered, and so do those that waited for it", () => {
    expect(goOn(answered(asked(), "yes"))).toEqual([
      "phase_completed 1",
      "phase_started 2",
      "phase_completed 2",
      "phase_started after.whole",
      "phase_completed after.whole",
      "phase_started after.report",
      "phase_completed after.report",
      "run_completed",
    ]);
  });

  test("and is rejected: it fails, they are blocked, and what comes after is run once before the pause", () => {
    const tape = asked();
    expect(goOn(answered(tape, "no"))).toEqual([
      "phase_failed 1",
      "phase_skipped 2",
      "phase_started after.whole",
      "phase_completed after.whole",
      "phase_started after.report",
      "phase_completed after.report",
      "run_paused",
    ]);

    expect(tape.run.detail).toBe("phase 1: rejected");
  });
});

test("a pause at the end of a phase does not show what an earlier pause of the same reason was for", () => {
  const again = { pause: "looked_at", again: true };
  const twice: Flow = {
    flow: "tried",
    version: 1,
    phases: [
      { id: "1", steps: [{ id: "work", run: "work", otherwise: [again] }] },
      {
        id: "2",
        steps: [{ id: "sum", run: "sum", then: [{ end: "completed", pause: "looked_at" }] }],
      },
      { id: "3", steps: [{ id: "end", run: "end" }] },
    ],
  } as unknown as Flow;
  const tape = begun(twice);
  goOn(tape, { "1@1/work#1": "failed" });
  expect(tape.run).toMatchObject({
    status: "paused",
    reason: "looked_at",
    detail: "work failed with tests_red",
  });

  goOn(resume(tape));
  expect(tape.run).toMatchObject({ status: "paused", reason: "looked_at", detail: null });
});

test("of many failures a person has seen, those that are not listed are counted", () => {
  const many = Array.from({ length: 12 }, (_, index) => ({ id: String(index + 1), after: [] }));
  const tape = begun({ ...flow, reopen: { failed_phase: 0 }, after: [] });
  tape.append({ event: "phases_read", phases: many });
  const outcomes = Object.fromEntries(many.map(({ id }) => [`${id}@1/work#1`, "failed" as const]));
  goOn(tape, outcomes);
  expect(tape.run.detail).toContain("; and 2 more");
  goOn(resume(tape), outcomes);
  expect(tape.run.detail).toContain("; and 2 more");
});
