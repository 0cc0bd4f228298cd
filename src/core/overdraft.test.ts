// After a turn that used more than a limit allows nothing goes on until that limit is raised: in
// every dimension, of the run and of a phase.

import { describe, expect, test } from "vitest";
import type { Dimension, Usage } from "../contracts/budget.ts";
import type { Draft } from "../contracts/event.ts";
import type { Flow } from "../contracts/flow.ts";
import {
  begun,
  opened,
  surveyed,
  type Tape,
  turnEnded,
  usage,
} from "../../test/simulation/support/tape.ts";
import type { ShortLimit } from "./state.ts";

const flow: Flow = {
  flow: "tried",
  version: 1,
  phases: [
    {
      id: "1",
      steps: [
        { id: "work", agent: "worker", prompt: "w.md", otherwise: [{ go: "prove" }] },
        { id: "prove", check: ["project"] },
      ],
    },
  ],
};

const over: Readonly<Record<Exclude<Dimension, "minutes">, Usage>> = {
  tokens: usage(301_000),
  calls: { ...usage(10), calls: 90 },
  usd: { ...usage(10), usd: 7 },
};
const limits: Readonly<Record<keyof typeof over, number>> = { tokens: 10_000, calls: 5, usd: 1 };

/** A run whose turn used this and came to an end one way or the other. */
function turned(tape: Tape, used: Usage, end: "passed" | "failed"): Tape {
  tape.append({ event: "phase_started", walk: "1" });
  const { next } = tape;
  if (next.do !== "attempt") throw new Error(JSON.stringify(next));
  const { attempt } = next.event;
  tape.append(next.event);
  tape.append(turnEnded(attempt, used));

  return end === "passed"
    ? tape.append({ event: "step_completed", attempt, facts: { promised: true } })
    : tape.append({
        event: "step_failed",
        attempt,
        facts: {},
        fingerprint: "f",
        reason_code: "agent_failed",
      });
}

const settled = (tape: Tape): Tape => {
  while (tape.next.do === "record") tape.append(tape.next.event);
  return tape;
};
const raised = ({ scope, dimension, to }: ShortLimit): Draft => ({
  event: "limit_raised",
  request: `raise ${dimension}`,
  scope,
  dimension,
  to,
});
const resumed = (tape: Tape): Tape =>
  tape.append(
    {
      event: "run_resumed",
      request: `r${tape.entries.length}`,
      from_state: "paused",
      to_state: "running",
    },
    opened(tape.run.opening + 1),
    surveyed,
  );

describe.each(["run", "phase"] as const)("a limit of the %s", (scope) => {
  describe.each(["tokens", "calls", "usd", "minutes"] as const)("in %s", (dimension) => {
    // Each entry of a tape is a second of work.
    const limit = dimension === "minutes" ? { run: 0.095, phase: 0.03 }[scope] : limits[dimension];
    test.each(["passed", "failed"] as const)("a turn that %s", (end) => {
      const tape = begun(flow, { [scope]: { [dimension]: limit } });
      settled(turned(tape, dimension === "minutes" ? usage(10) : over[dimension], end));
      expect(tape.run).toMatchObject({
        status: "paused",
        reason: scope === "run" ? "budget_threshold_reached" : "phase_cap_reached",
        short: [{ scope, dimension, limit }],
      });

      expect(tape.run.detail).toContain(`of ${limit}`);

      settled(resumed(tape));
      expect(tape.run.status).toBe("paused"); // a resume alone is no more budget

      for (const short of tape.run.short ?? []) tape.append(raised(short));
      settled(resumed(tape));
      expect(tape.next).toMatchObject({ do: "attempt", event: { step: "prove" } });
    });
  });
});

test("exactly what was allowed is no overdraft", () => {
  const tape = turned(begun(flow, { run: { tokens: 10_000, calls: 1 } }), usage(10_000), "passed");
  expect(tape.next).toMatchObject({ do: "attempt", event: { step: "prove" } });
});

test("of two phases that exceeded a limit side by side, both wait until it is raised enough for each", () => {
  const steps = Array.isArray(flow.phases) ? (flow.phases[0]?.steps ?? []) : [];
  const parallel = {
    flow: "tried",
    version: 1,
    phases: { read: "list", parallel: 2 },
    steps,
  } as unknown as Flow;
  const tape = begun(parallel, { phase: { tokens: 10_000 } });
  tape.append({ event: "phases_read", phases: ["1", "2"].map((id) => ({ id, after: [] })) });

  const attempts = [0, 1].map(() => {
    while (tape.next.do === "record") tape.append(tape.next.event);
    const { next } = tape;
    if (next.do !== "attempt") throw new Error(JSON.stringify(next));
    tape.append(next.event);

    return next.event.attempt;
  });
  const [first = "", second = ""] = attempts;
  for (const [attempt, tokens] of [
    [first, 50_000],
    [second, 20_000],
  ] as const) {
    tape.append(turnEnded(attempt, usage(tokens)), {
      event: "step_completed",
      attempt,
      facts: { promised: true },
    });
  }

  settled(tape);
  expect(tape.run).toMatchObject({ status: "paused", reason: "phase_cap_reached" });
  tape.append(raised({ scope: "phase", dimension: "tokens", limit: 10_000, to: 30_000 }));
  settled(resumed(tape));
  expect(tape.run).toMatchObject({ status: "paused", reason: "phase_cap_reached" }); // enough for the second phase alone
  expect(tape.run.detail).toContain("50000 of 30000");
});
