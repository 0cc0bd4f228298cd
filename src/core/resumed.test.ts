import { describe, expect, test } from "vitest";
import type { Flow } from "../contracts/flow.ts";
import type { Resumed } from "../contracts/resumed.ts";
import {
  check,
  opened,
  runDrafted,
  started,
  surveyed,
  Tape,
  turnEnded,
  usage,
} from "../../test/simulation/support/tape.ts";

const flow: Flow = {
  flow: "walked",
  version: 1,
  limits: { run: { tokens: 1_000_000, retries: 10 } },
  counts: {
    fix: {
      at_most: 2,
      per: "phase",
      retry: true,
      spent: { end: "failed", because: "criterion_failed" },
    },
  },
  phases: { read: "some", needs: "completed" },
  steps: [
    { id: "look", run: "look" },
    { id: "work", agent: "worker", prompt: "w.md" },
    {
      id: "checks",
      check: ["criteria"],
      otherwise: [{ go: "fix", count: "fix" }],
      then: [{ end: "completed" }],
    },
    { id: "fix", agent: "worker", prompt: "w.md", then: [{ go: "checks" }] },
  ],
};

const resumes = (changes: Partial<Resumed> = {}): Resumed => ({
  run: "run-2026-02-09-143052",
  path: "state",
  status: "paused",
  tokens: 450_000,
  minutes: 180,
  retries: 3,
  breaker: { is_open: false, no_progress: 1, same: 2, last_error: "x" },
  phases: [
    {
      id: "2",
      step: "work",
      facts: { look: { checkpoint: "abc" } },
      counts: { fix: 1 },
      tokens: 85_000,
      checks: [check("c")],
    },
  ],
  ...changes,
});

function begin(from: Resumed): Tape {
  const draft = { ...runDrafted(flow, { run: { tokens: 1_000_000, retries: 10 } }), resumes: from };
  return new Tape().append(draft, started, opened(), surveyed).append({
    event: "phases_read",
    phases: [
      { id: "1", after: [], skip: "already_completed" },
      ...["2", "3"].map((id) => ({ id, after: [] })),
    ],
  });
}

describe("a run that goes on with another tool's", () => {
  test("begins with what that one had used, and with its counters", () => {
    const { run } = begin(resumes());
    expect(run.ledger.run).toMatchObject({ tokens: 450_000 });
    expect(run.ledger.run.minutes).toBeGreaterThanOrEqual(180);
    expect(run.retries).toBe(3);
    expect(run.breaker).toMatchObject({
      state: "closed",
      no_progress: 1,
      same: 2,
      last_error: "x",
    });
  });

  test("enters its phase at the step it stood at, with the counts and tokens of that phase, and begins the others at their beginning", () => {
    const tape = begin(resumes());
    tape.append({ event: "phase_started", walk: "2" });
    expect(tape.run.cursors["2"]).toMatchObject({
      taken: { fix: 1 },
      last: { look: { facts: { checkpoint: "abc" } } },
    });

    expect(tape.run.ledger.phase["2"]?.tokens).toBe(85_000);
    expect(tape.next).toMatchObject({
      do: "attempt",
      event: { step: "work", attempt: "2@1/work#1" },
    });

    if (tape.next.do !== "attempt") throw new Error("it should begin");
    tape.append(tape.next.event, turnEnded("2@1/work#1", usage(5)), {
      event: "step_completed",
      attempt: "2@1/work#1",
      facts: {},
      progress: true,
    });

    expect(tape.next).toMatchObject({ do: "attempt", event: { step: "checks" } });
    tape.append({
      event: "step_started",
      walk: "2",
      step: "checks",
      attempt: "2@1/checks#1",
      kind: "check",
      try: 1,
    });

    tape.append({ event: "step_failed", attempt: "2@1/checks#1", facts: {}, fingerprint: "f" });
    expect(tape.next).toMatchObject({
      do: "record",
      event: { event: "route_taken", to: "fix", count: "fix" },
    }); // the second of two

    tape.append({
      event: "route_taken",
      walk: "2",
      step: "checks",
      to: "fix",
      count: "fix",
      per: "phase",
      retry: true,
    });

    expect(tape.run.cursors["2"]?.taken).toEqual({ fix: 2 });
    expect(tape.run.retries).toBe(4);
    expect(
      begin(resumes({ phases: [] })).append({ event: "phase_started", walk: "3" }).next,
    ).toMatchObject({ event: { step: "look" } });
  });

  test("a step that the flow does not have begins the phase anew", () => {
    const tape = begin(
      resumes({ phases: [{ id: "2", step: "sing", counts: {}, tokens: 0 }] }),
    ).append({
      event: "phase_started",
      walk: "2",
    });
    expect(tape.next).toMatchObject({ event: { step: "look" } });
  });

  test("an open breaker is half open from the start, and one attempt decides", () => {
    const tape = begin(
      resumes({ breaker: { is_open: true, no_progress: 3, same: 0, last_error: null } }),
    );
    expect(tape.run.breaker).toMatchObject({ state: "half_open", no_progress: 0, opened: 1 });
    tape.append({ event: "phase_started", walk: "2" });
    if (tape.next.do !== "attempt") throw new Error("it should begin");
    const { attempt } = tape.next.event;
    tape.append(tape.next.event, turnEnded(attempt, usage(1)), {
      event: "step_completed",
      attempt,
      facts: {},
      progress: true,
    });

    expect(tape.next).toMatchObject({ do: "record", event: { event: "circuit_breaker_closed" } });
  });

  test("what it had used counts towards the limits", () => {
    const tape = begin(resumes({ tokens: 2_000_000 })).append({
      event: "phase_started",
      walk: "2",
    });
    expect(tape.next).toMatchObject({ do: "record", event: { event: "run_paused" } });
  });
});

test("a breaker that opens for what another tool counted names the failure as that tool did", () => {
  const tape = begin(
    resumes({ breaker: { is_open: false, no_progress: 0, same: 50, last_error: "tests are red" } }),
  );
  for (let n = 0; n < 10 && tape.next.do === "record"; n++) tape.append(tape.next.event);
  expect(tape.run).toMatchObject({ status: "paused", reason: "breaker_open" });
  expect(tape.run.detail).toBe("the same failure 50 times in a row: tests are red");
});
