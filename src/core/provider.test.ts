// What a provider that would not answer does to a run, and what an agent's question for a person
// does.

import { describe, expect, test } from "vitest";
import type { Draft } from "../contracts/event.ts";
import { begun } from "../../test/simulation/support/tape.ts";
import { began, flow, passed, planned, turned } from "../../test/simulation/support/words.ts";

const attempt = "1@1/work#1";
const work = began("work", 1, "agent");
const session: Draft = { event: "session_opened", attempt, session: "s-1", agent: "a", how: "new" };
const limited: Draft = {
  event: "step_interrupted",
  attempt,
  by: "provider",
  fault: "limit",
  until: "2026-01-01T05:00:00.000Z",
  detail: "429 from the provider.",
  reason_code: "provider_limit_reached",
};
const paused = (reason_code: string): Draft => ({
  event: "run_paused",
  from_state: "running",
  to_state: "paused",
  reason_code,
});
const resumed = (n: number): Draft => ({
  event: "run_resumed",
  request: `r${n}`,
  from_state: "paused",
  to_state: "running",
});

describe("a provider that does not answer", () => {
  test("parks the run, and the pause says until when", () => {
    const tape = begun(flow).append(...planned, work, session, limited);
    expect(tape.run.parked).toEqual({
      fault: "limit",
      until: "2026-01-01T05:00:00.000Z",
      detail: "429 from the provider.",
      times: 1,
    });

    expect(tape.next).toMatchObject({
      event: {
        event: "run_paused",
        reason_code: "provider_limit_reached",
        detail: "429 from the provider. It is lifted at 2026-01-01T05:00:00.000Z",
      },
    });
  });

  test("the attempt keeps its number and its session, and no failure or retry is counted", () => {
    const tape = begun(flow).append(
      ...planned,
      work,
      session,
      limited,
      paused("provider_limit_reached"),
      resumed(1),
    );
    expect(tape.next).toMatchObject({ do: "attempt", event: { attempt, try: 2 } });
    expect(tape.append({ ...work, try: 2 } as Draft).run.open[attempt]?.session).toBe("s-1");
    expect(tape.run.retries).toBe(0);
    expect(tape.run.breaker.same).toBe(0);
  });

  test("how often in a row is counted, and a turn that ends forgets it", () => {
    const again = { ...work, try: 2 } as Draft;
    const tape = begun(flow).append(
      ...planned,
      work,
      limited,
      paused("provider_limit_reached"),
      resumed(1),
      again,
      limited,
    );
    expect(tape.run.parked?.times).toBe(2);
    tape.append(
      paused("provider_limit_reached"),
      resumed(2),
      { ...work, try: 3 } as Draft,
      turned("work", 1),
      passed("work", 1),
    );

    expect(tape.run.parked).toBeUndefined();
  });
});

describe("an agent's question for a person", () => {
  const asking = [
    ...planned,
    work,
    turned("work", 1),
    passed("work", 1, { agent_asks: "Which port?" }),
  ];

  const block = "block:1@1/work?1";

  test("is asked before anything else follows from the step", () =>
    expect(begun(flow).append(...asking).next).toMatchObject({
      event: {
        event: "block_opened",
        block,
        question: "Which port?",
        options: {},
        house: true,
        hold: true,
      },
    }));

  test("any words answer it, even such as mean something to the house, and the step is tried again knowing them", () => {
    const opened: Draft = {
      event: "block_opened",
      block,
      walk: "1",
      step: "work",
      hold: true,
      house: true,
      question: "Which port?",
      options: {},
    };
    const tape = begun(flow).append(...asking, opened, {
      event: "block_answered",
      request: "a1",
      block,
      answer: "stop",
    });
    expect(tape.run.cursors["1"]?.answered).toEqual([
      { step: "work", question: "Which port?", answer: "stop" },
    ]);

    expect(tape.next).toMatchObject({ event: { event: "step_retried", step: "work" } });
    expect(
      tape.append({ event: "step_retried", walk: "1", step: "work", n: 0, reset: true }).next,
    ).toMatchObject({
      do: "attempt",
      event: { attempt: "1@1/work#2" },
    });
  });
});
