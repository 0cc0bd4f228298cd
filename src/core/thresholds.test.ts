// The eleven thresholds that hold a run back, each from both sides: the last that is let through,
// and the first that is not.

import { describe, expect, test } from "vitest";
import type { Draft } from "../contracts/event.ts";
import type { Flow } from "../contracts/flow.ts";
import {
  begun,
  runDrafted,
  started,
  opened,
  surveyed,
  Tape,
  usage,
} from "../../test/simulation/support/tape.ts";
import { whyResumeBlocked } from "./breaker.ts";

/**
 * Work that is inspected by a judge: fixed where the judge is not content, planned anew where
 * fixing is used up, else given up.
 */
const flow: Flow = {
  flow: "tried",
  version: 1,
  options: {
    fixes: { type: "count", default: 3 },
    plans: { type: "count", default: 1 },
    good: { type: "number", default: 7 },
  },
  counts: {
    fix: {
      at_most: "option.fixes",
      per: "phase",
      retry: true,
      spent: { go: "plan", count: "anew" },
    },
    anew: {
      at_most: "option.plans",
      per: "phase",
      retry: true,
      spent: { end: "failed", because: "used_up" },
    },
  },
  limits: {
    run: { tokens: 5_000_000, minutes: 1_440, retries: 10 },
    phase: { tokens: 500_000, minutes: 120 },
  },
  phases: [
    {
      id: "1",
      steps: [
        { id: "plan", run: "plan" },
        { id: "work", agent: "worker", prompt: "w.md", retry: 20 },
        {
          id: "judge",
          agent: "judge",
          prompt: "j.md",
          returns: "judge",
          then: [
            { when: { "judge.says.score": { below: "option.good" } }, go: "fix", count: "fix" },
            { end: "completed" },
          ],
        },
        { id: "fix", agent: "worker", prompt: "m.md", then: [{ go: "judge" }] },
      ],
    },
  ],
};

type End = {
  readonly fails?: string;
  readonly progress?: boolean | null;
  readonly tokens?: number;
  readonly score?: number;
};

/** Plays attempts, each by its end, until one more would begin, or the run rests. */
function play(tape: Tape, ends: readonly End[]): Tape {
  const left = [...ends];
  for (let n = 0; n < 300; n++) {
    const { next } = tape;
    if (next.do === "record") {
      tape.append(next.event);
      continue;
    }

    if (next.do !== "attempt" || (left.length === 0 && next.event.kind === "agent")) return tape;
    const { attempt, kind } = next.event;
    tape.append(next.event);

    if (kind !== "agent") {
      tape.append({ event: "step_completed", attempt, facts: {} });
      continue;
    }

    const { fails, progress = true, tokens = 1, score = 9 } = left.shift() ?? {};
    const silent = { said: "", promised: false, announced_more: false, confidence: null };
    tape.append({
      event: "turn_ended",
      attempt,
      agent: "a",
      stop: "end",
      says: { score },
      usage: usage(tokens),
      ...silent,
    });

    const common = { attempt, facts: {}, ...(progress === null ? {} : { progress }) };
    if (fails === undefined) {
      tape.append({ event: "step_completed", ...common });
    } else {
      tape.append({
        event: "step_failed",
        ...common,
        fingerprint: fails,
        reason_code: "proof_missing",
      });
    }
  }

  throw new Error("it does not rest");
}
const limited = (run: Record<string, number> = {}, phase: Record<string, number> = {}): Tape =>
  begun(flow, { run, phase });
const times = (n: number, end: End): End[] =>
  Array.from({ length: n }, (_, index) => ({ fails: `error ${index}`, ...end }));
/** Each attempt the worker's, failing in its own way, each a line of a second and more. */
const busy = (n: number): End[] => times(n, {});
const goesOn = (tape: Tape): boolean => tape.run.status === "running" && tape.next.do === "attempt";
const resumed = (tape: Tape): Tape =>
  tape.append({
    event: "run_resumed",
    request: `r${tape.entries.length}`,
    from_state: "paused",
    to_state: "running",
  });
const minutesOf = (iso: string | null): number => Date.parse(iso ?? "") / 60_000;

type Row = {
  readonly name: string;
  readonly last: () => Tape;
  readonly first: () => Tape;
  readonly then: (tape: Tape) => void;
};

const paused = (reason: string) => (tape: Tape) =>
  expect(tape.run).toMatchObject({ status: "paused", reason });
const broken = (because: string) => (tape: Tape) => {
  expect(tape.run).toMatchObject({
    status: "paused",
    reason: "breaker_open",
    breaker: { state: "open", because },
  });
};
const idle = { progress: false };
const same = { fails: "the same" };
/** The plan, then a worker's turn of two thousand tokens; the next needs as many. */
const turned = { fails: "x", tokens: 2_000 };

const rows: readonly Row[] = [
  {
    name: "no_progress_threshold 3",
    last: () => play(limited(), times(2, idle)),
    first: () => play(limited(), times(3, idle)),
    then: broken("no_progress"),
  },
  {
    name: "same_error_threshold 5",
    last: () => play(limited(), times(4, same)),
    first: () => play(limited(), times(5, same)),
    then: broken("same_error"),
  },
  {
    name: "output_degradation_pct 70: a score of 7 of 10 is good enough, anything below is fixed",
    last: () => play(limited(), [{}, { score: 7 }]),
    first: () => play(limited(), [{}, { score: 6.9 }]),
    then: (tape) => expect(tape.next).toMatchObject({ do: "attempt", event: { step: "fix" } }),
  },
  {
    name: "max_debug_attempts_per_phase 3: the fourth is none, it is planned anew",
    last: () => play(limited(), [{}, ...[1, 2, 3].flatMap(() => [{ score: 1 }, {}])]),
    first: () =>
      play(limited(), [{}, ...[1, 2, 3].flatMap(() => [{ score: 1 }, {}]), { score: 1 }]),
    then: (tape) =>
      expect(tape.run.cursors["1"]).toMatchObject({
        taken: { fix: 3, anew: 1 },
        ended: { plan: 2 },
      }),
  },
  {
    name: "max_replan_attempts_per_phase 1: after the second plan the phase fails",
    last: () =>
      play(limited(), [{}, ...[1, 2, 3].flatMap(() => [{ score: 1 }, {}]), { score: 1 }, {}]),
    first: () =>
      play(limited(), [
        {},
        ...[1, 2, 3].flatMap(() => [{ score: 1 }, {}]),
        { score: 1 },
        {},
        { score: 1 },
      ]),
    then: (tape) =>
      expect(tape.run.phases[0]).toMatchObject({ status: "failed", because: "used_up" }),
  },
  {
    name: "max_total_retries_per_run 10",
    last: () => play(limited(), busy(10)),
    first: () => play(limited(), busy(11)),
    then: paused("retry_limit_reached"),
  },
  {
    name: "cost_cap_tokens_per_phase: what fits exactly is let through, a token less halts the phase and opens the breaker",
    last: () => play(limited({}, { tokens: 4_000 }), [turned]),
    first: () => play(limited({}, { tokens: 3_999 }), [turned]),
    then: (tape) => {
      paused("phase_cap_reached")(tape);
      expect(tape.run.breaker).toMatchObject({ state: "open", because: "phase_cap" });
      expect(tape.run.detail).toContain("tokens of this phase");
    },
  },
  {
    name: "wall_clock_timeout_minutes_per_phase: time left, or none",
    last: () => play(limited({}, { minutes: 10 }), busy(3)),
    first: () => play(limited({}, { minutes: 0.1 }), busy(3)),
    then: (tape) => {
      paused("phase_cap_reached")(tape);
      expect(tape.run.breaker).toMatchObject({ state: "open", because: "phase_cap" });
      expect(tape.run.detail).toContain("minutes of this phase");
    },
  },
  {
    name: "cost_cap_tokens_total: what fits exactly is let through, a token less ends the run",
    last: () => play(limited({ tokens: 4_000 }), [turned]),
    first: () => play(limited({ tokens: 3_999 }), [turned]),
    then: (tape) => {
      paused("run_cap_reached")(tape);
      expect(tape.run.breaker.state).toBe("closed");
    },
  },
  {
    name: "wall_clock_timeout_minutes_total: time left, or none",
    last: () => play(limited({ minutes: 10 }), busy(3)),
    first: () => play(limited({ minutes: 0.2 }), busy(5)),
    then: paused("run_cap_reached"),
  },
];

describe("the last that is let through, and the first that is not", () => {
  test.each(rows)("$name", ({ last, first, then }) => {
    const before = last();
    expect(goesOn(before) || before.run.status === "completed", before.run.reason ?? "").toBe(true);
    then(first());
  });

  test("cooldown_minutes 5: a millisecond before it may not be resumed, then it may", () => {
    const { run, entries } = play(limited(), times(3, idle));
    const openedAt = entries.find(({ event }) => event === "circuit_breaker_opened");
    const until = Date.parse(run.breaker.cooldown_until ?? "");
    expect(Math.round(minutesOf(run.breaker.cooldown_until) - minutesOf(openedAt?.ts ?? ""))).toBe(
      5,
    );

    expect(whyResumeBlocked(run, new Date(until - 1).toISOString(), false)).toMatchObject({
      reason: "breaker_open",
    });

    expect(whyResumeBlocked(run, new Date(until).toISOString(), false)).toBeNull();
    expect(whyResumeBlocked(run, new Date(until - 1).toISOString(), true)).toBeNull();
  });

  test.each([
    ["no_progress_threshold", idle, 7, "no_progress"],
    ["same_error_threshold", same, 7, "same_error"],
  ] as const)("%s holds as it is set", (name, end, value, because) => {
    const generous = { [name]: value, retries: 100, no_progress_max: 50, same_error_max: 50 };
    const set = Object.fromEntries(
      Object.entries({ ...generous, [name.replace("_threshold", "_max")]: value }),
    );
    expect(goesOn(play(limited(set), times(value - 1, end)))).toBe(true);
    broken(because)(play(limited(set), times(value, end)));
  });
});

describe("a phase that used up its cap", () => {
  const capped = (): Tape => play(limited({}, { tokens: 3_999 }), [turned]);
  const raise: Draft = {
    event: "limit_raised",
    request: "raise",
    scope: "phase",
    dimension: "tokens",
    to: 9_000,
  };

  test("may not be resumed before its cooldown, unless it may use more", () => {
    const tape = capped();
    expect(whyResumeBlocked(tape.run, tape.run.updatedAt, false)).toMatchObject({
      reason: "phase_cap_reached",
    });

    tape.append(raise);
    expect(whyResumeBlocked(tape.run, tape.run.updatedAt, false)).toBeNull();
  });

  test("resumed with more goes half open: one attempt, and what passes closes it", () => {
    const tape = resumed(capped().append(raise));
    expect(tape.run.breaker.state).toBe("half_open");
    play(tape, [{ tokens: 2_000 }]);
    expect(tape.run.breaker).toMatchObject({ state: "closed", opened: 0 });
    expect(tape.run.breaker.detail).toBeUndefined();
    expect(goesOn(tape)).toBe(true);
  });

  test("resumed without more is halted again, and cools down twice as long", () => {
    const tape = capped();
    const firstMinutes = minutesOf(tape.run.breaker.cooldown_until) - minutesOf(tape.run.updatedAt);
    play(resumed(tape), []);
    paused("phase_cap_reached")(tape);
    expect(tape.run.breaker.opened).toBe(2);
    expect(
      Math.round(
        (minutesOf(tape.run.breaker.cooldown_until) - minutesOf(tape.run.updatedAt)) / firstMinutes,
      ),
    ).toBe(2);
  });

  test("also where a turn was cut short by what was left of it", () => {
    const tape = limited({}, { tokens: 3_999 });
    for (const draft of [{ event: "phase_started", walk: "1" } as const]) tape.append(draft);
    play(tape, []);
    const { next } = tape;
    if (next.do !== "attempt") throw new Error("it should begin");
    const { attempt } = next.event;
    tape.append(next.event, {
      event: "step_interrupted",
      attempt,
      by: "budget",
      usage: usage(3_900),
      reason_code: "budget_threshold_reached",
    });

    play(tape, []);
    paused("phase_cap_reached")(tape);
    expect(tape.run.detail).toBe(
      "tokens of this phase: a turn was cut short, with 99 of 3999 left",
    );
  });
});

describe("the whole run", () => {
  const given = (limits: Record<string, number>, run: Record<string, number>): Tape => {
    const draft = runDrafted(flow, { run }) as Extract<Draft, { event: "run_drafted" }>;
    return new Tape().append(
      { ...draft, budget: { ...draft.budget, limits } },
      started,
      opened(),
      surveyed,
    );
  };

  const ends = (tape: Tape): string | null => play(tape, [turned]).run.reason;

  test("that used up a cap of its flow or of the config is ended; one that used up a budget of its own waits for more", () => {
    expect(ends(given({ tokens: 5_000_000 }, { tokens: 3_999 }))).toBe("run_cap_reached"); // the config lowered the flow's
    expect(ends(given({ tokens: 3_999 }, { tokens: 3_999 }))).toBe("budget_threshold_reached"); // given for this run
    expect(ends(given({ tokens: 10_000 }, { tokens: 3_999 }))).toBe("run_cap_reached"); // given, and lowered by the config
  });

  test("goes on where its cap is raised", () => {
    const tape = play(limited({ tokens: 3_999 }), [turned]);
    tape.append({
      event: "limit_raised",
      request: "raise",
      scope: "run",
      dimension: "tokens",
      to: 9_000,
    });

    expect(goesOn(play(resumed(tape), []))).toBe(true);
  });
});

describe("what counts as standing still", () => {
  test("an attempt that counts neither way leaves the count as it is", () => {
    const neutral = { progress: null };
    expect(play(limited(), [...times(2, idle), neutral]).run.breaker.no_progress).toBe(2);
    broken("no_progress")(
      play(limited(), [{ fails: "a", ...idle }, { fails: "b", ...neutral }, ...times(2, idle)]),
    );
  });

  test("and closes a half-open breaker where it passed", () => {
    const tape = resumed(play(limited(), times(3, idle)));
    expect(play(tape, [{ progress: null }]).run.breaker.state).toBe("closed");
  });

  test("progress begins the count anew", () => {
    expect(goesOn(play(limited(), [...times(2, idle), { fails: "y" }, ...times(2, idle)]))).toBe(
      true,
    );
  });
});
