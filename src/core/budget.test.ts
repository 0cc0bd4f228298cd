import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Flow } from "../contracts/flow.ts";
import { begun, opened, type Tape, turnEnded, usage } from "../../test/simulation/support/tape.ts";
import {
  reportedCharge,
  elapsedShare,
  minutesLeft,
  estimateNeed,
  retriesLeft,
  findShortfall,
  tokensLeft,
} from "./budget.ts";

const work = { id: "work", agent: "worker", prompt: "w.md", retry: 9 };
const look = { id: "look", agent: "looker", prompt: "l.md", estimate: 30_000 };
const flow: Flow = { flow: "tried", version: 1, phases: [{ id: "1", steps: [work, look] }] };
const at = (run: Record<string, number>, phase: Record<string, number> = {}): Tape =>
  begun(flow, { run, phase }).append({ event: "phase_started", walk: "1" });
const began = (tape: Tape): string => {
  const { next } = tape;
  if (next.do !== "attempt") throw new Error(JSON.stringify(next));
  tape.append(next.event);

  return next.event.attempt;
};
const turned = (tape: Tape, attempt: string, tokens: number): Tape =>
  tape.append(turnEnded(attempt, usage(tokens)), {
    event: "step_failed",
    attempt,
    facts: {},
    progress: true,
    fingerprint: `${tokens}`,
    reason_code: "proof_missing",
  });
const retried = (tape: Tape): Tape =>
  tape.next.do === "record" ? tape.append(tape.next.event) : tape;

describe("what the next turn needs", () => {
  test("the estimate while nothing is known, at most what is left", () => {
    expect(estimateNeed(at({ tokens: 100_000 }).run, "1", work).tokens).toBe(15_000);
    expect(estimateNeed(at({ tokens: 100_000 }).run, "1", look).tokens).toBe(30_000);
    expect(estimateNeed(at({ tokens: 4_000 }).run, "1", work).tokens).toBe(4_000);
    expect(estimateNeed(at({ tokens: 100_000 }, { tokens: 700 }).run, "1", work).tokens).toBe(700);
  });

  test("the largest turn of the role as soon as there was one", () => {
    const tape = at({ tokens: 100_000 });
    turned(tape, began(tape), 2_000);
    retried(tape);
    turned(tape, began(tape), 900);
    expect(estimateNeed(tape.run, "1", work).tokens).toBe(2_000);
    expect(estimateNeed(tape.run, "1", look).tokens).toBe(30_000);
  });
});

describe("whether it begins", () => {
  test("spent and needed together fit exactly: it does; a token less: it pauses and says why", () => {
    const fits = at({ tokens: 4_000 });
    turned(fits, began(fits), 2_000);
    expect(retried(fits).next.do).toBe("attempt");
    const short = at({ tokens: 3_999 });
    turned(short, began(short), 2_000);
    expect(retried(short).next).toMatchObject({
      do: "record",
      event: { event: "run_paused", reason_code: "budget_threshold_reached" },
    });
  });

  test("a spent budget begins nothing, however little would be needed", () => {
    const tape = at({ tokens: 2_000 });
    turned(tape, began(tape), 2_000);
    expect(tokensLeft(tape.run, "1")).toBe(0);
    expect(findShortfall(tape.run, "1", usage(0))).toMatchObject({
      scope: "run",
      dimension: "tokens",
    });
  });

  test("what an open attempt may still use is reserved until its turn ends", () => {
    const tape = at({ tokens: 20_000 });
    const attempt = began(tape);
    expect(tokensLeft(tape.run, "1")).toBe(5_000);
    turned(tape, attempt, 100);
    expect(tokensLeft(tape.run, "1")).toBe(19_900);
  });

  test("calls and minutes are limits like tokens, of the phase too", () => {
    const calls = at({}, { calls: 1 });
    turned(calls, began(calls), 10);
    expect(retried(calls).next).toMatchObject({
      event: { event: "circuit_breaker_opened", reason_code: "phase_cap_reached" },
    });

    const minutes = at({ minutes: 0.05 }); // Each entry of the tape takes a second.
    expect(minutes.next).toMatchObject({ event: { reason_code: "budget_threshold_reached" } });
    expect(minutesLeft(minutes.run, "1")).toBe(0);
  });

  test("a raised limit lets it go on", () => {
    const tape = at({ calls: 1 });
    turned(tape, began(tape), 10);
    retried(tape).append({
      event: "limit_raised",
      request: "r",
      scope: "run",
      dimension: "calls",
      to: 2,
    });

    expect(tape.next.do).toBe("attempt");
  });

  test("a turn that a crash cut short is played again only if that too can be paid", () => {
    const rich = at({ tokens: 60_000 });
    const poor = at({ tokens: 15_000 });
    for (const tape of [rich, poor]) {
      began(tape);
      tape.append({
        event: "run_opened",
        opening: 2,
        owner: { pid: 1, host: "" },
        product: "",
        isolation: { level: "none", mechanism: "", enforced: [], not_enforced: [] },
      });
    }

    expect(rich.next.do).toBe("settle");
    expect(poor.next).toMatchObject({
      do: "record",
      event: { event: "run_paused", reason_code: "budget_threshold_reached" },
    });
  });

  test("retries are taken as long as there are any", () => {
    const tape = at({ retries: 1 });
    turned(tape, began(tape), 10);
    expect(retriesLeft(tape.run)).toBe(1);
    expect(retried(tape).next.do).toBe("attempt");
    turned(tape, began(tape), 10);
    expect(tape.next).toMatchObject({
      event: { event: "run_paused", reason_code: "retry_limit_reached" },
    });
  });
});

describe("what a turn is charged", () => {
  test("what was reported, where it can be believed", () => {
    expect(
      reportedCharge(
        { tokens: 1_500, input: 1_200, output: 300, calls: 2 },
        { expectedUsage: usage(9), minutes: 0.5 },
      ),
    ).toEqual({
      tokens: 1_500,
      input: 1_200,
      output: 300,
      calls: 2,
      minutes: 0.5,
      source: "reported",
    });
  });

  test("no less than what it said to us makes, whatever it reports of itself; a meter is believed", () => {
    const said = 440_000;
    expect(
      reportedCharge(
        { tokens: 1, calls: 1 },
        {
          expectedUsage: usage(9),
          minutes: 0.5,
          source: "reported",
          share: 1,
          receivedBytes: said,
        },
      ),
    ).toEqual({
      tokens: 27_500,
      calls: 1,
      minutes: 0.5,
      source: "estimated",
    });

    expect(
      reportedCharge(
        { tokens: 110_000, calls: 1 },
        {
          expectedUsage: usage(9),
          minutes: 0.5,
          source: "reported",
          share: 1,
          receivedBytes: said,
        },
      ),
    ).toMatchObject({
      tokens: 110_000,
      source: "reported",
    });

    expect(
      reportedCharge(
        { tokens: 1, calls: 1 },
        { expectedUsage: usage(9), minutes: 0.5, source: "metered", share: 1, receivedBytes: said },
      ),
    ).toMatchObject({ tokens: 1, source: "metered" });
  });

  test("the estimate it was let in with, for anything else", () => {
    const odd = fc.constantFrom(Number.NaN, -1, Infinity, -Infinity, 1e300);
    fc.assert(
      fc.property(odd, fc.constantFrom("tokens", "calls", "usd", "input"), (value, field) => {
        expect(
          reportedCharge(
            { tokens: 10, calls: 1, [field]: value },
            { expectedUsage: usage(4_000), minutes: 1 },
          ),
        ).toEqual({
          tokens: 4_000,
          calls: 1,
          minutes: 1,
          source: "estimated",
        });
      }),
    );

    expect(reportedCharge(null, { expectedUsage: null, minutes: 0 })).toEqual({
      tokens: 15_000,
      calls: 1,
      minutes: 0,
      source: "estimated",
    });

    expect(
      reportedCharge({ tokens: 0, calls: 0 }, { expectedUsage: usage(70), minutes: 0 }).tokens,
    ).toBe(70);
  });

  test("an estimate is marked in the ledger", () => {
    const tape = at({ tokens: 100_000 });
    const attempt = began(tape);
    tape.append(
      turnEnded(attempt, reportedCharge(null, { expectedUsage: usage(500), minutes: 0 })),
    );
    expect(tape.run.ledger.run).toMatchObject({ tokens: 500, estimated: 500 });
    expect(tape.run.ledger.phase["1"]).toMatchObject({ tokens: 500, calls: 1 });
  });
});

describe("a turn that was cut short and not metered", () => {
  const expectedUsage = {
    tokens: 30_000,
    calls: 4,
    minutes: 0,
    usd: 1,
    source: "estimated" as const,
  };
  test("is charged for the share of its time that had passed, and never nothing", () => {
    expect(elapsedShare(5, expectedUsage, 20)).toBe(0.25);
    expect(elapsedShare(5, { ...expectedUsage, minutes: 10 }, 20)).toBe(0.5);
    expect(elapsedShare(50, expectedUsage, 20)).toBe(1);
    expect(
      reportedCharge(null, { expectedUsage, minutes: 5, source: "reported", share: 0.25 }),
    ).toEqual({
      tokens: 7_500,
      calls: 1,
      minutes: 5,
      usd: 0.25,
      source: "estimated",
    });

    expect(
      reportedCharge(null, { expectedUsage, minutes: 0, source: "reported", share: 0 }).tokens,
    ).toBe(1);
  });

  test("what a meter estimated inside a turn is counted as estimated", () => {
    const tape = at({ tokens: 100_000 });
    const attempt = began(tape);
    tape.append(
      turnEnded(attempt, { tokens: 900, calls: 2, minutes: 0, estimated: 300, source: "metered" }),
    );

    expect(tape.run.ledger.run).toMatchObject({ tokens: 900, estimated: 300 });
  });
});

test("time in which a run is paused is no work: not the run's, not its phase's, however long somebody thinks", () => {
  const tape = at({ minutes: 1 });
  const before = tape.run.ledger.run.minutes;
  tape.append({
    event: "run_paused",
    reason_code: "human_block_open",
    from_state: "running",
    to_state: "paused",
  }); // a second of work each

  const [run, phase] = [tape.run.ledger.run.minutes, tape.run.ledger.phase["1"]?.minutes];
  expect(run).toBeGreaterThan(before);

  for (let n = 0; n < 100; n++) {
    tape.append({
      event: "limit_raised",
      request: `r${n}`,
      scope: "run",
      dimension: "calls",
      to: 500 + n,
    });
  }

  tape.append({ event: "run_resumed", request: "r", from_state: "paused", to_state: "running" });
  expect(tape.run.ledger.run.minutes).toBe(run);
  expect(tape.run.ledger.phase["1"]?.minutes).toBe(phase);
  tape.append(opened(2));
  expect(tape.run.ledger.run.minutes).toBeGreaterThan(run);
});
